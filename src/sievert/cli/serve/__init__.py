"""Answers to requests of other programs."""
