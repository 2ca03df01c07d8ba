"""The online family: Pegasos and NORMA, one sample or a few at a time."""
