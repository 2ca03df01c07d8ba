"""The online family: Pegasos and NORMA, one sample or a mini-batch at a time."""
