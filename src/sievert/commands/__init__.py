"""The commands: one folder each, with its API, its run and its result."""
