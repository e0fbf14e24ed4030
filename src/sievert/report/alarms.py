"""The attacks on a synthetic table that saw something, by name."""

from sievert.formatting import printable
from sievert.report.parts import Data, ReportPart

MOST_NAMED = 3  # inferred columns in a sentence


def alarm_names(part: ReportPart, table: Data, alarms: list[str]) -> list[str]:
    """Name the attacks that saw something; of many inferred columns only count them."""
    names = [part.say(f"name_{alarm}") for alarm in alarms if "." not in alarm]
    secrets = [alarm for alarm in alarms if "." in alarm]
    if len(secrets) > MOST_NAMED:
        every = len(table["attacks"]["inference"])
        return [*names, part.say("inferred_columns", number=len(secrets), all=every)]
    return [*names, *(attack_name(part, alarm) for alarm in secrets)]


def attack_name(part: ReportPart, name: str) -> str:
    """Name one attack, with the secret that it infers."""
    attack, _, secret = name.partition(".")
    if not secret:
        return part.say(f"name_{attack}")
    return part.say("name_of_secret", attack=part.say(f"name_{attack}"), secret=printable(secret))
