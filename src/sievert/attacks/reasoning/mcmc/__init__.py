"""Markov chain Monte Carlo: several chains, and how far their means may be trusted."""
