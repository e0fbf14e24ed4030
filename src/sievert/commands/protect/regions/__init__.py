"""Regions: a table of combinations split into boxes of hierarchy labels that meet a whole policy."""
