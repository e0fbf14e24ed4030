"""Golden tests: numbers that papers and other tools have published, each with its source."""
