"""A table opened read-only: files, frames, databases; isolation and checksums."""
