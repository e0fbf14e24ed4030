"""How many bytes a sketch may have."""

from sievert.errors import require

SIZE = 1 << 18  # bytes of a sketch, at most
LEAST_SIZE = 1 << 13


def check_size(size: int) -> None:
    """Refuse a `size` that is too small for an interval to mean anything, or too large."""
    require(
        LEAST_SIZE <= size <= SIZE,
        f"--size must be from {LEAST_SIZE:,} to {SIZE:,} bytes",
        hint="without it: 262,144",
    )
