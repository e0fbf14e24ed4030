"""Attacks on a release: what an intruder can find, record by record."""
