"""Scripts that complete commands in a shell."""
