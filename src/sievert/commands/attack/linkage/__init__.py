"""Linkage of a release to its original: how many released records are found by their distance.

Numbers are the decimals they are printed as, distances fractions of whole numbers, and only equal
distances tie. Where these whole numbers fit a double, doubles compute them without rounding. Where
they do not, doubles choose the candidates, by a bound on their error, and Python's integers decide.

Identical records are searched once. Originals stand in a tree whose nodes know the least and the
largest number and the codes below them: what cannot be nearest is left out unseen.
"""

from sievert.commands.attack.linkage.record_linkage import Linkage, distances, link
from sievert.numerics.special_functions import wilson

__all__ = ["Linkage", "link", "distances", "wilson"]
