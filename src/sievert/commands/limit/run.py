"""One limit: a table is read, the best channel is found, and records are drawn from it."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.commands.limit.finite import LimitOutcome, LimitTable, read_original, solve_finite
from sievert.commands.limit.gaussian import solve_gaussian
from sievert.commands.limit.result import AlphabetResult, LimitChoices, Limited
from sievert.commands.limit.settings import USUAL_AT, LimitSettings
from sievert.counts.questions import Questions
from sievert.counts.release_order import order_key
from sievert.counts.row_pairing import write_row_numbers
from sievert.errors import ExhaustedError
from sievert.formatting.remarks import Remark, figure
from sievert.pairing.pairing_file import OriginalFile, pairing_details
from sievert.releases.choices import DISTORTIONS
from sievert.releases.files import (
    FileColumn,
    order_by_hash,
    release_kind,
    write_release,
)
from sievert.request.requested import Reading, requested_roles
from sievert.request.table_description import describe_input
from sievert.session import Steps, no_progress
from sievert.settings.groups import reader_options
from sievert.sources.table import Table

UNSTATED = Remark("no_constraint", number=figure(USUAL_AT))


def run(settings: LimitSettings, watch: Steps = no_progress) -> Limited:
    """Find the best channel that `settings` ask for; `watch` is told of every step."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    settings.check_work()
    kind = "csv" if settings.out is None else release_kind(settings.out)
    how = requested.read_as_stated({**reader_options(settings)})
    reading = Reading(watch, verify=settings.verify, **how)
    hierarchies = settings.hierarchies or {}
    inputs = [settings.data, settings.policy, *hierarchies.values(), settings.distortion]
    settings.check_outputs()
    pairing = None if settings.out is None else files.pairing_beside(Path(settings.out))
    force = settings.force
    with (
        files.write_whole(pairing, sources=inputs, force=force) as pairing_file,
        files.write_whole(settings.out, sources=inputs, force=force) as target,
        files.write_whole(settings.matrix, sources=inputs, force=force) as beside,
        reading(
            settings.data, outputs=[path for path in (target, pairing_file) if path is not None]
        ) as (table, questions),
    ):
        original = read_original(table.name, questions, requested, settings, reading.clock)
        description = describe_input(table, questions)
        outcome = (solve_gaussian if settings.gaussian else solve_finite)(original)
        if target is not None and pairing_file is not None:
            reading.clock("writing the release", questions)
            release = DrawnRelease(
                table=table, questions=questions, original=original, outcome=outcome
            )
            release.write(target, kind, pairing_file)
        if beside is not None:
            write_matrix(beside, outcome.parts)
    return Limited(
        table=description,
        roles=original.roles,
        alphabet=outcome.alphabet,
        parts=tuple(outcome.parts),
        whole=outcome.whole,
        settings=_stated(settings),
        shown=settings.show_values,
        normality=outcome.normality,
        warnings=(*original.notes, *([UNSTATED] if settings.at is None else ())),
        unassessed=original.unassessed,
        **reading.clock.stop(),
    )


def _stated(settings: LimitSettings) -> LimitChoices:
    """Say in the result which model was solved, and for what."""
    named = settings.distortion in DISTORTIONS
    return LimitChoices(
        model=settings.solved_model,
        at=tuple(settings.constraints),
        distortion=str(settings.distortion) if named else "matrix",  # the name of no file
        hierarchies=tuple(sorted(settings.hierarchies or {})),
        alphabet=settings.alphabet,
        most=settings.most,
        occurring=settings.occurring,
        reduced=settings.reduced,
        gaussian=settings.gaussian,
        points=settings.points,
        gap=settings.gap,
        seconds=settings.seconds,
        seed=settings.seed,
        released=settings.out is not None,
    )


@dataclass(frozen=True, kw_only=True)
class DrawnRelease:
    """Records that were drawn from the best channel, beside the columns that stay."""

    table: Table
    questions: Questions
    original: LimitTable
    outcome: LimitOutcome

    def write(self, target: Path, kind: str, pairing_file: Path) -> None:
        """Write the release, and the private file that pairs its rows with the table's."""
        settings = self.original.settings
        columns = [
            self._column(name, engine_type) for name, engine_type in self.original.kinds.items()
        ]
        as_input: dict[str, Any] = {}
        if self.table.kind == "csv":
            as_input = {"delimiter": self.table.delimiter or ",", "header": self.table.header}
        with files.name_output(Path(str(settings.out))):
            order = order_by_hash(columns, order_key(settings.seed))
            columns = [column.only(order) for column in columns]
            write_release(target, kind, columns, self.questions, **as_input)
            details = pairing_details(target, OriginalFile(settings.data, self.table), len(order))
            write_row_numbers(self.questions.engine, order + 1, pairing_file, details)

    def _column(self, name: str, engine_type: str) -> FileColumn:
        """Give a column of the release in the order of the table."""
        drawn = self.outcome.drawn.get(name)
        if drawn is not None:
            return drawn
        original = self.original
        return FileColumn(name, original.people.texts(name), original.codes(name), engine_type)


def write_matrix(target: Path, parts: Iterable[AlphabetResult]) -> None:
    """Write the channels as CSV: one line per value and released value that it may become.

    The columns are those of the values, the same of the released ones, and the probability.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    for part in parts:
        if part.texts is None or part.channel is None:
            continue
        writer.writerow([*part.columns, *(f"released {n}" for n in part.columns), "probability"])
        values, labels = part.texts
        for i, j in np.argwhere(part.channel > 0).tolist():
            texts = ["" if t is None else t for t in (*values[i], *labels[j])]
            writer.writerow([*texts, repr(float(part.channel[i, j]))])
    try:
        target.write_text(file.getvalue(), encoding="utf-8")
    except OSError as error:
        raise ExhaustedError(f"the matrix cannot be written: {error.strerror}") from None
