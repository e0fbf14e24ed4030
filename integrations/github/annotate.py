"""The findings of a SARIF file as annotations of GitHub: annotate.py SARIF POLICY."""

import json
import sys
from pathlib import Path

ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}


def escape(text: str, more: str = "") -> str:
    """A text of a workflow command; in its properties, colons and commas too."""
    escapes = {**ESCAPES, **{c: f"%{ord(c):02X}" for c in more}}
    return "".join(escapes.get(c, c) for c in text)


def main(sarif: str, policy: str) -> None:
    """Print one command per finding."""
    (run,) = json.loads(Path(sarif).read_text(encoding="utf-8"))["runs"]
    for finding in run["results"]:
        place = finding["locations"][0]
        where = place.get("physicalLocation", {}).get("region", {})
        properties = {
            "file": policy,
            **({"line": str(where["startLine"])} if where else {}),
            "title": place["logicalLocations"][0]["fullyQualifiedName"],
        }
        listed = ",".join(f"{name}={escape(text, ':,')}" for name, text in properties.items())
        print(f"::error {listed}::{escape(finding['message']['text'])}")


if __name__ == "__main__":
    main(*sys.argv[1:])
