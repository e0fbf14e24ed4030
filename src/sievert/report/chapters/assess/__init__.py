"""The chapter of `sievert assess`."""
