"""Beliefs about a release in two tables joined by a group, such as Anatomy makes."""
