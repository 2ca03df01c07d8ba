"""Risks that are no sum over samples, or whose outputs have structure: one cutting-plane solver."""
