"""The machine-specific code: one module per machine, each with the same names. Imports nothing else of ours."""
