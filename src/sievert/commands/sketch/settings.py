"""The options of `sketch`, and what may not be combined."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from sievert.counts.sketch.sizes import SIZE, check_size
from sievert.errors import require
from sievert.settings.checks import check_whole
from sievert.settings.command import PageCommand
from sievert.settings.groups import (
    Missing,
    Names,
    OutputSettings,
    Place,
    ReadingSettings,
    RoleSettings,
)
from sievert.settings.option import option, redeclared
from sievert.settings.policy_source import PolicySource
from sievert.settings.readers import KEY_SETS, PATH, TABLE, TABLES


@dataclass(frozen=True, kw_only=True)
class SketchSettings(PageCommand):
    """Estimate how exposed people are from a small sketch of a huge table, or of several tables.

    Of a table, make a sketch: a sample of its classes, in one pass. Of sketches, show what they say
    together: sievert sketch A.sketch B.sketch -o C.sketch merges them.
    """

    reference: ClassVar[
        str
    ] = """Sample the classes of a table by their hashes, and estimate how exposed its people are.

    A sketch is small, is made in one pass, and can be merged with those of other tables that have
    the same columns: the bytes are those of the sketch of all of them together.

    >>> table = {"zip": ["1", "1", "2", "3"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> found = sketch(table, ["zip"], ["disease"])
    >>> found.keys[0].exact, found.keys[0].estimates.below[2].value
    (True, 0.5)
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "The table, as for assess, or a sketch.",
        in_python="The table: a path, a frame, a dict of lists. Or a file of sketches, or a list "
        "of such files, which are merged.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    others: Sequence[str] = option(
        "More sketches, which are merged with the first.",
        default=(),
        reader=TABLES,
        side="command line",
        place=True,
        reads=True,
    )
    key_sets: Iterable[str | Iterable[str]] | None = option(
        "In place of -q: a set of columns that an outsider could know together: age,zip. May be "
        "repeated; each has a sketch of its own, all made in one pass.",
        in_python="In place of `quasi`: several sets of columns, with a sketch each, made in one "
        "pass.",
        default=None,
        heading="Roles",
        flags=("--key-set",),
        reader=KEY_SETS,
    )
    subsets: int | None = option(
        "A sketch of every set of up to so many columns of -q.",
        in_python="The most columns of a set: every set of quasi-identifiers of at most this size "
        "has a sketch.",
        default=None,
        heading="Roles",
    )
    salt: bytes | Place | None = option(
        "A file of at least 16 secret bytes, the same for all tables that are to be merged: "
        "without it, whoever has the sketch can look for known people in it.",
        in_python="Secret bytes, or a file of them, without which nobody can tell which class a "
        "hash is of.",
        default=None,
        heading="Output",
        reader=PATH,
        reads=True,
    )
    size: int = option("Bytes of each sketch, at most.", default=SIZE, heading="Output")
    out: Place | None = option(
        "Write the sketches to this file, to merge and to look at later.",
        in_python="Write the sketches to this file.",
        default=None,
        heading="Output",
        flags=("--out", "-o"),
        reader=PATH,
        writes=True,
    )
    quasi: Names = redeclared(
        RoleSettings, "quasi", in_python="The columns of the key: one name, or several."
    )
    sensitive: Names = redeclared(
        RoleSettings,
        "sensitive",
        in_python="Secrets, which are counted within the classes of the key.",
    )
    identifier: Names = redeclared(
        RoleSettings, "identifier", in_python="Columns that are never looked at."
    )
    person: str | None = redeclared(
        RoleSettings,
        "person",
        in_python="Not defined here: rows are counted, and people with several rows are refused.",
    )
    policy: PolicySource = redeclared(
        RoleSettings,
        "policy",
        in_python="A `Policy`, a TOML file, or its content as a dict: its roles, where none are "
        "given.",
    )
    hierarchies: Mapping[str, Any] | None = redeclared(
        RoleSettings, "hierarchies", side="command line"
    )
    missing: Missing = redeclared(
        ReadingSettings,
        "missing",
        in_python='Always "value": a missing value is a value of its own here.',
    )
    show_values: bool = redeclared(OutputSettings, "show_values", side="command line")

    @property
    def tables(self) -> list[Any]:
        """The table, or the files of sketches."""
        return list(self.data) if isinstance(self.data, list | tuple) else [self.data]

    @property
    def says_columns(self) -> bool:
        """Tell whether some option says what the columns are."""
        given = (
            self.quasi,
            self.sensitive,
            self.identifier,
            self.key_sets,
            self.subsets,
            self.person,
            self.policy,
        )
        return any(value is not None for value in given)

    @property
    def is_announced(self) -> bool:
        """Tell that the file that was written is named on stderr."""
        return True

    def check_roles(self) -> None:
        """Refuse values to show, and options of the roles that only other commands read."""
        require(not self.show_values, "--show-values goes with explain and attacks")
        super().check_roles()
        require(not self.hierarchies, "--hierarchy goes with assess, explain and compare")

    def as_typed(self) -> Self:
        """Merge all sketches that are named."""
        if not self.others:
            return self
        return replace(self, data=[self.data, *self.others], others=())

    def check_work(self) -> None:
        """Refuse combinations of options, however they were given."""
        check_size(self.size)
        require(
            self.missing == "value",
            "a missing value is a value of its own here",
            hint="--missing value",
        )
        require(
            self.key_sets is None or (self.quasi is None and self.subsets is None),
            "key sets take the place of quasi-identifiers and their subsets",
            hint="--key-set or -q, not both",
        )
        if self.subsets is not None:
            check_whole("--subsets", self.subsets, 1)
