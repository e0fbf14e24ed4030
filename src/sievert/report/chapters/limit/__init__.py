"""The chapter of `sievert limit`."""
