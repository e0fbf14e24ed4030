"""The chapter of `sievert compare`."""
