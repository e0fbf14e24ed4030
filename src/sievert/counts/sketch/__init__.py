"""Sketches: the classes with the smallest hashes, the same from every engine."""
