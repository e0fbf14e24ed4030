"""Benchmarks of sievert; ``python -m bench`` runs them."""
