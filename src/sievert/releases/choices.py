"""The choices that a release offers: what becomes of suppressed records, models, alphabets.

The types are read by options of commands, before anything heavy is imported.
"""

from typing import Literal, get_args

SuppressedRows = Literal["keep", "drop", "auto"]  # what becomes of suppressed records in a release
ModelName = Literal["1", "2", "3", "4", "funnel", "identity", "identity-reverse"]
AlphabetKind = Literal["auto", "joint", "columns", "merged"]
DistortionName = Literal["hamming", "squared", "absolute"]

SUPPRESSED_ROWS: tuple[SuppressedRows, ...] = get_args(SuppressedRows)
KEEP, DROP, AUTO = SUPPRESSED_ROWS
DISTORTIONS: tuple[DistortionName, ...] = get_args(DistortionName)
ALPHABETS: tuple[AlphabetKind, ...] = get_args(AlphabetKind)
MODELS = tuple(
    int(name) if name.isdecimal() else name.replace("-", " ") for name in get_args(ModelName)
)  # as the library calls them
MOST = 1000  # combinations of one joint alphabet
