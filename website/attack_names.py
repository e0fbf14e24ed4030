"""The names of the attacks on synthetic data, written from their declarations."""

from __future__ import annotations

from pathlib import Path

from sievert.commands.synthetic.attacks.attacks import ATTACKS

MODULE = Path(__file__).parents[1] / "src/sievert/formatting/attack_names.py"
HEAD = '''"""The attacks on synthetic data, for limits of a policy; by `make generate`.

They are declared in `commands.synthetic.attacks.attacks`; a policy is read without loading them.
"""

SYNTHETIC_ATTACKS = (
'''


def module() -> str:
    """The text of the module."""
    names = "".join(f'    "{name}",\n' for attack in ATTACKS for name in attack.ids)
    return f"{HEAD}{names})\n"


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
