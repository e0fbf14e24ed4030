"""The parser of the command line: commands, options and their values."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sievert.errors import UsageError, require
from sievert.formatting import nearest, printable
from sievert.settings.command import Command
from sievert.settings.option import STDIN, Parameter, parameters


@dataclass(frozen=True, kw_only=True)
class CommandPlace:
    """The place of the settings and of the work of a command."""

    folder: str  # a package of sievert, with the modules `settings` and `run`
    settings: str  # the class
    run: str = "run"  # the function


def _command(name: str) -> CommandPlace:
    """The place of a command with a folder of its own."""
    return CommandPlace(folder=f"commands.{name}", settings=f"{name.capitalize()}Settings")


def _ledger(word: str) -> CommandPlace:
    return CommandPlace(
        folder="commands.ledger", settings=f"Ledger{word.capitalize()}Settings", run=f"run_{word}"
    )


COMMANDS: dict[str, CommandPlace] = {
    "assess": _command("assess"),
    "attack": _command("attack"),
    "compare": _command("compare"),
    "compromise": _command("compromise"),
    "limit": _command("limit"),
    "protect": _command("protect"),
    "hierarchies": _command("hierarchies"),
    "explain": _command("explain"),
    "sketch": _command("sketch"),
    "synthetic": _command("synthetic"),
    "ledger add": _ledger("add"),
    "ledger check": _ledger("check"),
    "ledger show": _ledger("show"),
    "count": CommandPlace(folder="commands.state", settings="CountSettings", run="run_count"),
    "merge": CommandPlace(folder="commands.state", settings="MergeSettings", run="run_merge"),
    "update": CommandPlace(folder="commands.state", settings="UpdateSettings", run="run_update"),
    "columns": _command("columns"),
    "report": CommandPlace(folder="commands.report", settings="ReportPageSettings"),
    "paper": CommandPlace(folder="papers", settings="PaperSettings"),
    "measures": _command("measures"),
    "policy check": CommandPlace(folder="commands.policy", settings="PolicyCheckSettings"),
    "doctor": _command("doctor"),
    "serve": CommandPlace(folder="cli.serve", settings="ServeSettings"),
    "workbench": CommandPlace(folder="cli.workbench", settings="WorkbenchSettings"),
    "run": CommandPlace(folder="cli.workbench", settings="RunSettings", run="run_session"),
    "help": CommandPlace(folder="cli.help", settings="HelpSettings"),
    "completion": CommandPlace(folder="cli.completion", settings="CompletionSettings"),
}
# The command of options that people look for in another command.
OWNERS = {
    **dict.fromkeys(
        ("--weight", "--fraction", "--household", "--population", "--population-size"), "assess"
    ),
    **dict.fromkeys(("--original", "--register", "--group", "--sensitive-table"), "attack"),
    **dict.fromkeys(("--trajectory", "--key-set", "--attacks"), "assess"),
    **dict.fromkeys(("--shuffles", "--predict"), "compare"),
    **dict.fromkeys(("--at", "--distortion"), "limit"),
    "--epsilon": "compromise",
    **dict.fromkeys(("--control", "--split"), "synthetic"),
    **dict.fromkeys(("--add", "--remove", "--compact"), "update"),
    "--subtract": "merge",
    "--salt": "sketch",
}
SUMMARIES = {
    "policy": "Check a policy against a table.",
    "ledger": "What was released about whom, and what a new release adds to it.",
}  # for words that begin several commands
OPTION = re.compile(r"-(?!$|\.?\d)")  # how an option begins; - is a name, and -1 is a number
LISTS = {"--quasi", "-q", "--qi", "--sensitive", "-s", "--sa", "--identifier", "-i", "--key-set"}


def settings_of(command: str) -> type[Command]:
    """Import the settings of a command."""
    place = COMMANDS[command]
    module = import_module(f"sievert.{place.folder}.settings")
    settings: type[Command] = getattr(module, place.settings)
    return settings


def work_of(command: str) -> Callable[..., Any]:
    """Import the function that does the work of a command."""
    place = COMMANDS[command]
    work: Callable[..., Any] = getattr(import_module(f"sievert.{place.folder}.run"), place.run)
    return work


def parameters_of(command: str) -> tuple[Parameter, ...]:
    """List the arguments and options of a command."""
    return parameters(settings_of(command))


def next_words(chain: str = "") -> list[str]:
    """List the words that may follow the first words of a command."""
    start = f"{chain} " if chain else ""
    words = (name[len(start) :].split()[0] for name in COMMANDS if name.startswith(start))
    return list(dict.fromkeys(words))


def split_command(tokens: Iterable[str]) -> tuple[str, list[str]]:
    """Split tokens into the command that the first words name, if any, and the other tokens."""
    chain = ""
    rest = list(tokens)
    while words := next_words(chain):
        if not rest or rest[0] in ("--help", "-h"):
            break
        if rest[0] not in words:
            hint = nearest(rest[0], words) or ", ".join(words)
            raise UsageError(f"no command is called {rest[0]!r}", hint=hint)
        chain = f"{chain} {rest.pop(0)}".strip()
    return chain, rest


def join_lists(arguments: Iterable[str]) -> list[str]:
    """Join names in the arguments that a blank after a comma has separated.

    >>> join_lists(["assess", "data.csv", "-q", "age,", "zip", "-s", "disease"])
    ['assess', 'data.csv', '-q', 'age,zip', '-s', 'disease']
    """
    joined: list[str] = []
    for token in arguments:
        parted = len(joined) > 1 and (joined[-1].endswith(",") or token.startswith(","))
        if parted and joined[-2] in LISTS and not token.startswith("-"):
            joined[-1] += token
        else:
            joined.append(token)
    return joined


def read(arguments: Iterable[str]) -> tuple[str, list[Any], dict[Parameter, Any]]:
    """Read a line without mistakes; return its command, its arguments and its options."""
    command, tokens = split_command(join_lists(arguments))
    return command, *parse(parameters_of(command), command, tokens)


def spell(start: str, places: Iterable[str], values: Mapping[Parameter, Any] | None = None) -> str:
    """Write arguments and options as a shell takes them: the inverse of reading them."""
    tokens = [
        *start.split(),
        *(
            "-" if place == STDIN else f"./{place}" if OPTION.match(place) else place
            for place in map(str, places)
        ),
    ]
    for parameter, value in (values or {}).items():
        name = min(parameter.names, key=len)
        for text in map(str, value if parameter.several else [value]):
            if parameter.kind is bool:
                tokens.append(name if value else f"{name}=false")
            else:
                tokens += [f"{name}={text}"] if OPTION.match(text) else [name, text]
    return shlex.join(map(printable, tokens))


def parse(
    known: Iterable[Parameter], command: str, tokens: list[str]
) -> tuple[list[Any], dict[Parameter, Any]]:
    """Read the tokens; return the values of the arguments in their order, and of the options."""
    options = {name: p for p in known if not p.positional for name in p.names}
    values: dict[Parameter, Any] = {}
    rest = list(tokens)
    texts = []
    while rest:
        token = rest.pop(0)
        if token == "--":
            texts += rest
            break
        if not OPTION.match(token):
            texts.append(token)
            continue
        name, sign, text = token.partition("=")
        if token[1] != "-" and name not in options:  # -qage
            name = token[:2]
            sign = "="
            text = token[2:]
        option = options.get(name.replace("_", "-"))
        if option is None:
            name = token.partition("=")[0]
            close = nearest(name, options)
            hint = f"{close}, or sievert {command} --help" if close else None
            owner = f"sievert {OWNERS[name]} {name}" if name in OWNERS else None
            raise UsageError(f"no option of {command} is called {name!r}", hint=owner or hint)
        if not sign and option.kind is bool:
            text = "true"
        elif not sign:
            require(rest and not OPTION.match(rest[0]), f"{command}: {name} needs a value")
            text = rest.pop(0)
        value = option.read(text, name)
        require(option.several or option not in values, f"{name} is given more than once")
        values[option] = [*values.get(option, ()), value] if option.several else value
    places = [p for p in known if p.positional]
    return _places(places, command, texts, listed="-q" in options), values


def _places(known: list[Parameter], command: str, texts: list[str], *, listed: bool) -> list[Any]:
    """Read the values of the arguments; with `listed`, names may have blanks after commas."""
    if len(texts) > len(known) and not (known and known[-1].several):
        require(not listed, "names are separated by commas", hint="-q age,zip")
        raise UsageError(f"{command}: an argument too many")
    for parameter in known[len(texts) :]:
        require(not parameter.required, f"{command}: {parameter.names[0]} is missing")
    known = known + known[-1:] * (len(texts) - len(known))
    return [p.read(text, p.names[0]) for p, text in zip(known, texts, strict=False)]
