"""The commands: one folder each, with its API, its run, its result and its terminal output."""
