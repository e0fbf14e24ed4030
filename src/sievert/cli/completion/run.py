"""Scripts that complete commands, options, choices and files in a shell."""

from collections.abc import Callable, Iterator

from sievert.cli.completion.settings import CompletionSettings
from sievert.cli.help.run import summary
from sievert.cli.messages import say
from sievert.cli.parser import COMMANDS, next_words, parameters_of
from sievert.settings.checks import check_known
from sievert.settings.option import Parameter

BASH = """# Completion of sievert in bash
_sievert() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} line
  local words= options= files=
  local command=${COMP_WORDS[1]}
  [[ $cur == = ]] && cur=
  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
  [[ $command == policy ]] && ((COMP_CWORD > 2)) && command="policy ${COMP_WORDS[2]}"
  ((COMP_CWORD == 1)) && command=
  ((COMP_CWORD == 2)) && [[ $command == policy ]] && prev=
  case "$command $prev" in
%s
    *) case "$command" in
%s
    esac ;;
  esac
  [[ $cur == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ $files && $cur != -* ]] && while IFS= read -r line; do COMPREPLY+=("$line"); done \\
    < <(compgen -f -- "$cur")
  return 0
}
complete -o filenames -F _sievert sievert
"""
ZSH = """#compdef sievert
_sievert() {
  if ((CURRENT == 2)); then
    local -a commands=(
%s
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words; ((CURRENT--))
  if [[ $command == policy ]]; then
    if ((CURRENT == 2)); then _values command %s; return; fi
    command="policy $words[2]"
    shift words; ((CURRENT--))
  fi
  case $command in
%s
  esac
}
_sievert "$@"
"""


def run(settings: CompletionSettings) -> int:
    """Print the script of a shell."""
    scripts: dict[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    check_known("SHELL:", settings.shell, tuple(scripts))
    say(scripts[settings.shell]())
    return 0


def _known() -> Iterator[tuple[str, list[Parameter]]]:
    """Every command with what can be completed of it."""
    return ((command, [p for p in parameters_of(command) if not p.hidden]) for command in COMMANDS)


def _choices(command: str, parameter: Parameter) -> str:
    """The values of a parameter, as far as they can be listed."""
    if command == "measures" and parameter.positional:
        from sievert.commands.measures.catalogue import ENTRIES

        return " ".join(entry.id for entry in ENTRIES)
    return " ".join(next_words() if command == "help" else parameter.choices)


def _bash() -> str:
    after = []
    plain = [f'      "") words="{" ".join(next_words())}" options="--help --version" ;;']
    plain.append(f'      policy) words="{" ".join(next_words("policy"))}" options="--help" ;;')
    for command, known in _known():
        options = ["--help"]
        words = ""
        files = ""
        for parameter in known:
            values = _choices(command, parameter)
            file = "files=1" if parameter.file else ""
            if parameter.positional:
                words = values
                files = file
                continue
            options += parameter.names
            if parameter.kind is not bool:
                places = "|".join(f'"{command} {name}"' for name in parameter.names)
                after.append(f'    {places}) words="{values}" {file} ;;')
        listed = f'words="{words}" options="{" ".join(options)}" {files}'
        plain.append(f'      "{command}") {listed} ;;')
    return BASH % ("\n".join(after), "\n".join(plain))


def _quoted(text: str) -> str:
    """A text in single quotes, without what _arguments would take for its own."""
    for sign in "\\:[]":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("'", "'\\''")


def _zsh() -> str:
    cases = []
    for command, known in _known():
        specs = ["'--help[Show this page.]'"]
        for parameter in known:
            values = _choices(command, parameter)
            action = f"({values})" if values else "_files" if parameter.file else " "
            if parameter.positional:
                specs.append(f"'*:{parameter.names[0]}:{action}'")
                continue
            several = "*" if parameter.several else ""
            value = "" if parameter.kind is bool else f":{parameter.names[0].lstrip('-')}:{action}"
            specs += [
                f"'{several}{name}[{_quoted(parameter.help)}]{value}'" for name in parameter.names
            ]
        body = " \\\n      ".join(specs)
        cases.append(f"    '{command}') _arguments {body} ;;")
    commands = "\n".join(f"      '{name}:{_quoted(summary(name))}'" for name in next_words())
    return ZSH % (commands, " ".join(next_words("policy")), "\n".join(cases))


def _fish() -> str:
    start = "complete -c sievert"
    lines = ["# Completion of sievert in fish", f"{start} -f"]
    lines += [
        f"{start} -n __fish_use_subcommand -a {name} -d '{_fish_text(summary(name))}'"
        for name in next_words()
    ]
    inner = " ".join(next_words("policy"))
    lines.append(
        f"{start} -n '__fish_seen_subcommand_from policy; "
        f"and not __fish_seen_subcommand_from {inner}' -a '{inner}'"
    )
    for command, known in _known():
        where = f"{start} -n '__fish_seen_subcommand_from {command.split()[-1]}'"
        for parameter in known:
            values = _choices(command, parameter)
            listed = f" -a '{values}'" if values else ""
            if parameter.positional:
                lines.append(f"{where}{' -F' if parameter.file else ''}{listed}")
                continue
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in parameter.names
            )
            value = "" if parameter.kind is bool else " -rF" if parameter.file else " -x"
            lines.append(f"{where} {names}{value}{listed} -d '{_fish_text(parameter.help)}'")
    return "\n".join(lines) + "\n"


def _fish_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
