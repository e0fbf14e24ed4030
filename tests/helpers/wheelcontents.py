"""What may be in a wheel: the package and its records, and neither tests nor data.

python tests/helpers/wheelcontents.py WHEEL
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath

ENDINGS = {".py", ".pyi", ".typed", ".toml", ".j2", ".css", ".js"}
RECORDS = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
LARGEST = 1 << 18  # bytes of a file
SUSPICIOUS = re.compile(r"(^|/)((tests?|data|examples|__pycache__)/|test_|conftest)")


def faults(wheel: Path) -> list[str]:
    """Everything that should not be there, and everything that should and is not."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        version = wheel.name.split("-")[1]
        records = f"sievert-{version}.dist-info/"
        metadata = archive.read(f"{records}METADATA").decode()
    ours = {name for name in sizes if name.startswith("sievert/")}
    wrong = [f"{name}: outside the package" for name in sizes.keys() - ours if records not in name]
    wrong += [
        f"{name}: not a file of code, texts or pages"
        for name in ours
        if PurePosixPath(name).suffix not in ENDINGS
    ]
    wrong += [f"{name}: tests or data" for name in sizes if SUSPICIOUS.search(name)]
    wrong += [f"{name}: {size:,} bytes" for name, size in sizes.items() if size > LARGEST]
    there = {name.removeprefix(records) for name in sizes.keys() - ours}
    wrong += [f"{name}: not as it should be" for name in sorted(there ^ RECORDS)]
    wrong += [] if "sievert/py.typed" in ours else ["py.typed is missing"]
    wrong += [] if f"\nVersion: {version}\n" in metadata else ["another version in METADATA"]
    return wrong


def main(path: str) -> int:
    """List what a wheel has, and what is wrong with it; 1 if something is."""
    wheel = Path(path)
    with zipfile.ZipFile(wheel) as archive:
        folders = Counter(str(PurePosixPath(name).parent) for name in archive.namelist())
    for folder, number in sorted(folders.items()):
        print(f"{number:5} {folder}")
    wrong = faults(wheel)
    print(
        "\n".join(wrong) or f"{wheel.name}: {sum(folders.values())} files, neither tests nor data"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
