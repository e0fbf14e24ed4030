"""Sievert ledger: what was released about whom, and what a new release adds to it."""
