"""Machines: what a backend must offer (backend.py), and the CPU's (cpu.py and its C++)."""
