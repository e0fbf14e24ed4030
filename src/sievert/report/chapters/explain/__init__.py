"""The chapter of `sievert explain`."""
