"""The command line: options, outputs, messages, progress."""
