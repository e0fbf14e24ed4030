"""Regions: combinations split into boxes of hierarchy labels that meet a whole policy."""
