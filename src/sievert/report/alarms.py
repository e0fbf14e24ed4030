"""The attacks on a synthetic table that saw something, by name."""

from collections.abc import Sequence

from sievert.formatting import printable
from sievert.report.parts import ReportPart

MOST_NAMED = 3  # inferred columns in a sentence


def alarm_names(part: ReportPart, alarms: Sequence[str], inferred: int) -> list[str]:
    """Name the attacks that saw something; where many `inferred` columns did, only count them."""
    names = [attack_name(part, alarm) for alarm in alarms if "." not in alarm]
    secrets = [alarm for alarm in alarms if "." in alarm]
    if len(secrets) > MOST_NAMED:
        return [*names, part.say("inferred_columns", number=len(secrets), all=inferred)]
    return [*names, *(attack_name(part, alarm) for alarm in secrets)]


def attack_name(part: ReportPart, name: str) -> str:
    """Name one attack, with the secret that it infers."""
    attack, _, secret = name.partition(".")
    words = part.say(f"name_{attack}")
    if not secret:
        return words
    return part.say("name_of_secret", attack=words, secret=printable(secret))
