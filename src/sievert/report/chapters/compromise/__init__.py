"""The chapter of `sievert compromise`."""
