"""Approximate compromise: how near an intruder comes to a confidential number."""
