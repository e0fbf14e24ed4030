"""`python -m website [OUT]`: build the site into a folder, build/site unless named."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from website.folder import SiteError
from website.site import build

ROOT = Path(__file__).parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Build the site; 0 when it is there, 2 with one line a mistake when it is not."""
    parser = argparse.ArgumentParser(prog="python -m website", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "site")
    out = parser.parse_args(arguments).out
    try:
        pages = build(ROOT, out)
    except SiteError as error:
        sys.stderr.write(f"website: {error}\n")
        return 2
    sys.stdout.write(f"{pages} pages: {out / 'index.html'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
