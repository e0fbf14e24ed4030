"""Beliefs about a release whose values were generalised."""
