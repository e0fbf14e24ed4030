"""The result of a check of a policy: what it lacks for one table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.commands.policy.repair import toml_key
from sievert.formatting import count, printable, wrap
from sievert.policy.document import SAY_WHY
from sievert.report.texts import Texts
from sievert.result import DescribedResult
from sievert.version import __version__

WIDTH = 100
MOST_NAMED = 30  # columns of a kind
# The kinds of gaps in the order in which they are shown, each with the text above them.
KINDS = {
    "columns_without_role": "policy_check.columns_without_role",
    "unknown_columns": "policy_check.unknown_columns",
    "refused_settings": "policy_check.refused_settings",
    "unknown_measures": "policy_check.unknown_measures",
    "misplaced_limits": "policy_check.misplaced_limits",
    "impossible_limits": "policy_check.impossible_limits",
    "undecidable_limits": "policy_check.undecidable_limits",
    "harmless_side": "policy_check.harmless_side",
    "people_unstated": "policy_check.people_unstated",
    "undecided": "policy_check.undecided",
    "suppressed_unlimited": "policy_check.suppressed_unlimited",
    "no_limits": "policy_check.no_limits",
}


@dataclass(frozen=True, kw_only=True)
class PolicyGap:
    """One thing that a policy lacks: what, in which table of the file, and what to write there."""

    what: str
    where: str
    name: str  # of a column or a measure; empty where it is the policy itself
    text: str  # a remark
    suggestion: str  # a remark, or what to write into the policy
    why: str = ""  # what a column without a role looks like: a remark
    likely: str = ""  # the role that it may have: a list of [roles]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {key: entry for key, entry in vars(self).items() if key not in ("why", "likely")}


@dataclass(frozen=True, repr=False)
class PolicyCheck(DescribedResult):
    """The gaps of a policy for one table; none, if the policy can judge it as it stands."""

    table: Mapping[str, Any]  # its name, rows and columns
    policy: str  # the name of its file
    gaps: tuple[PolicyGap, ...]  # what is lacking
    fixed: bool = False  # whether comments were written into the file

    @property
    def passed(self) -> bool:
        """Whether the policy lacks nothing for this table; its limits may still be breached."""
        return not self.gaps

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "policy": {"file": self.policy, "complete": self.passed, "fixed": self.fixed},
            "gaps": [gap.to_dict() for gap in self.gaps],
        }

    def _lines(self, texts: Texts) -> Iterator[str]:
        table = self.table
        name = printable(table["name"])
        number = texts.number_of
        size = f"{number(table['rows'], 'record')}, {number(table['columns'], 'column')}"
        yield texts("policy_check.title", policy=printable(self.policy), table=name, size=size)
        if self.passed:
            yield texts("policy_check.complete")
        for what, heading in KINDS.items():
            gaps = [gap for gap in self.gaps if gap.what == what]
            if gaps:
                yield from ("", texts(heading))
            if what == "columns_without_role":
                yield from self._bare_columns(gaps, texts)
                continue
            for text, hint in dict.fromkeys((gap.text, gap.suggestion) for gap in gaps):
                yield from wrap(texts.remark(text), WIDTH, "  ", "    ")
                if hint:
                    words = texts("policy_check.try", suggestion=texts.remark(hint))
                    yield from wrap(words, WIDTH, "    ", "      ")
        yield from self._block_to_copy(texts)
        if self.fixed:
            yield from ("", texts("policy_check.fixed"))
        yield from ("", *wrap(texts("policy_check.upgrade"), WIDTH, "", ""))

    def _bare_columns(self, gaps: Sequence[PolicyGap], texts: Texts) -> Iterator[str]:
        """Columns without a role, by what they look like."""
        for why in dict.fromkeys(gap.why for gap in gaps):
            names = [gap.name for gap in gaps if gap.why == why]
            shown = texts.join(
                [
                    *names[:MOST_NAMED],
                    *(
                        []
                        if len(names) <= MOST_NAMED
                        else [texts("policy_check.more", number=count(len(names) - MOST_NAMED))]
                    ),
                ]
            )
            yield from wrap(f"{printable(shown)}: {texts.remark(why)}", WIDTH, "  ", "    ")

    def _block_to_copy(self, texts: Texts) -> Iterator[str]:
        """Likely roles as comments, and a table of the columns that have none: reasons are lacking.

        Nothing that is copied gives a role.
        """
        gaps = [gap for gap in self.gaps if gap.what == "columns_without_role"]
        if gaps:
            yield from ("", *wrap(texts("policy_check.copy"), WIDTH, "", ""), "")
        for role in dict.fromkeys(gap.likely for gap in gaps if gap.likely):
            names = [toml_key(gap.name) for gap in gaps if gap.likely == role]
            more = len(names[MOST_NAMED:])
            shown = f"{role} = [{', '.join(names[:MOST_NAMED])}]"
            shown += f" + {texts('policy_check.more', number=count(more))}" if more else ""
            yield from wrap(shown, WIDTH, "  # ", "  #   ")
        others = [gap for gap in gaps if not gap.likely]
        if others:
            yield "  [roles.ignored]"
            yield from (f'  {toml_key(gap.name)} = "{SAY_WHY}"' for gap in others[:MOST_NAMED])
        more = len(others[MOST_NAMED:])
        if more:
            yield f"  # {texts('policy_check.more', number=count(more))}"
