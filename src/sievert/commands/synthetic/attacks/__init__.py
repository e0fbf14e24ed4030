"""Attacks on tables that are not paired with the original, each against a control group."""
