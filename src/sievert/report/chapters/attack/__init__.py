"""The chapter of `sievert attack`."""
