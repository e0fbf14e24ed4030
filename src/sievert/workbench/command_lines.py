"""The choices as command lines: what is run, printed, copied and replayed."""

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from sievert.errors import UsageError
from sievert.report.texts import Texts
from sievert.workbench.choices import Choices
from sievert.workbench.step import Argv
from sievert.workbench.working_policy import named_policy

PRIVATE = "workbench:"  # begins the name of a file in the private directory
_PLACE = re.compile(rf"(?:^|(?<==)){PRIVATE}")
_DIGEST = re.compile(rf"(?:^|(?<==)){PRIVATE}(?:[0-9a-f]{{12}}/)?")
READING = ("delimiter", "encoding", "suppressed", "missing")
FLAGS = ("no_header", "keep_suppressed")
OPTION = re.compile(r"-(?!$|\.?\d)")  # how an option begins; -9 is a code
EVERYWHERE = {
    *("--delimiter", "--encoding", "--suppressed", "--missing", "--no-header", "--keep-suppressed"),
    *("--type", "--na", "--policy", "-q", "-s", "-i", "--person"),
    "--hierarchy",
}
OPTIONS = {  # that a session may give to a command, besides
    "assess": {"--planned"},
    "columns": {"--show-values"},
    "protect": {
        *("--how", "--levels", "--suppress", "--loss", "--column-weight", "--frontier", "-o"),
    },
    "synthetic": {"--control"},
    "report": {"--html", "--share", "--mask-names", "--title", "--language"},
}
FIELDS = {  # as the pages call what an option of a message is
    "delimiter": "load.delimiter",
    "encoding": "load.encoding",
    "no-header": "load.no_header",
    "type": "load.types",
    "na": "load.missing_values",
    "keep-suppressed": "load.keep_suppressed",
    "person": "roles.person",
    "hierarchy": "protect.hierarchy",
    "suppress": "protect.budget",
}
FIELD_OPTION = re.compile(rf"--({'|'.join(FIELDS)})(?![\w-])")


def reading_arguments(choices: Choices, *, missing: bool = True) -> Argv:
    """How the table is read; `missing` values are a matter of commands that measure."""
    single = {name: choices.text("load", name) for name in READING if missing or name != "missing"}
    return (
        *(token for name, value in single.items() for token in repeated(f"--{name}", [value])),
        *(f"--{flag.replace('_', '-')}" for flag in FLAGS if choices.text("load", flag)),
        *repeated(
            "--type", (f"{c}={kind}" for c, kind in choices.mapping("load", "types").items())
        ),
        *repeated("--na", choices.texts("load", "na")),
    )


def repeated(option: str, values: Iterable[str]) -> Argv:
    """An option before each of some values; an empty one is not given."""
    return tuple(token for value in values if value for token in (option, value))


def role_arguments(choices: Choices) -> Argv:
    """The roles of the columns: of the policy, if there is one, else as options."""
    policy = named_policy(choices)
    if policy is not None:
        return ("--policy", policy)
    roles = {"-q": "quasi", "-s": "sensitive", "-i": "identifier"}
    lists = {o: ",".join(map(_quoted, choices.texts("roles", role))) for o, role in roles.items()}
    return (
        *(token for option, columns in lists.items() for token in repeated(option, [columns])),
        *repeated("--person", [choices.text("roles", "person")]),
    )


def check_arguments(argv: Argv) -> None:
    """Refuse a command line with an option that no choice leads to: a name may not be one."""
    command, *tokens = argv
    if tokens[-2:-1] == ["--json"] and tokens[-1].startswith(PRIVATE) and ".." not in tokens[-1]:
        tokens = tokens[:-2]  # what a report is made of
    allowed = EVERYWHERE | OPTIONS.get(command, set())
    if any(OPTION.match(token) and token not in allowed for token in tokens):
        raise UsageError("the session has a name that begins like an option", hint="./ before it")


def table_arguments(choices: Choices) -> Argv:
    """The table, who is who among its columns, and how it is read."""
    return (choices.table, *role_arguments(choices), *reading_arguments(choices))


def _quoted(column: str) -> str:
    """A name in a list of names."""
    awkward = "," in column or '"' in column or column != column.strip()
    return '"' + column.replace('"', '""') + '"' if awkward else column


def real_arguments(argv: Argv, folder: Path) -> list[str]:
    """The arguments for a process: private files by their paths."""
    return [_PLACE.sub(lambda _: f"{folder}/", token) for token in argv]


def displayed_words(argv: Argv) -> list[str]:
    """The command line as somebody would type it, token by token, quoted for a shell."""
    return [shlex.quote(_DIGEST.sub("", token)) for token in ("sievert", *argv)]


def pieces(argv: Argv) -> Iterator[str]:
    """What is not to be broken on a page: an option with its value."""
    tokens = displayed_words(argv)
    while tokens:
        token = tokens.pop(0)
        if token.startswith("-") and tokens and not tokens[0].startswith("-"):
            token = f"{token} {tokens.pop(0)}"
        yield token


def with_field_names(text: str, texts: Texts) -> str:
    """The same text; who reads it on a page has fields, and no options to type."""
    return FIELD_OPTION.sub(
        lambda option: texts("workbench.field", name=texts(f"workbench.{FIELDS[option[1]]}")), text
    )
