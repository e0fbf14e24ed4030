"""The options of `serve`."""

from dataclasses import dataclass

from sievert.settings.command import TextCommand
from sievert.settings.groups import EngineSettings, ReadingSettings, RoleSettings
from sievert.settings.option import option


@dataclass(frozen=True, kw_only=True)
class ServeSettings(EngineSettings, ReadingSettings, RoleSettings, TextCommand):
    """Answer requests of other programs, one line of JSON each, until there are no more.

    {"command": "assess", "data": "release.csv"} gives {"code": 0, "ok": true, "result": ...}. The
    commands are assess, compare, explain, measures and policy. Policy, roles and ways to read are
    those given here; a request names tables only, which are files that you may read. Nothing is
    written and no network is used.
    """

    stdio: bool = option(
        "Read requests from standard input, and write answers to standard output. There is no "
        "other way.",
        default=False,
        heading="Parameters",
    )
    exact: bool = option(
        "Answer with exact, internal numbers; without it only with what is shareable.",
        default=False,
        heading="Parameters",
    )
    mask_names: bool = option(
        "Hide the names of columns in answers too.", default=False, heading="Parameters"
    )
    debug: bool = option(
        "Show where in the program an error came up, before the first request.",
        default=False,
        heading="Parameters",
    )
