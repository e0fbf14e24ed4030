"""How many bytes a sketch may have."""

from sievert.errors import require

SIZE = 1 << 18  # bytes of a sketch, at most
LEAST_SIZE = 1 << 13


def check_size(size: int) -> None:
    """Raise an error for a size that is too small for useful intervals, or too large."""
    require(
        LEAST_SIZE <= size <= SIZE,
        f"--size must be from {LEAST_SIZE:,} to {SIZE:,} bytes",
        hint="without it: 262,144",
    )
