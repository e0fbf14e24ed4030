"""Tables of a comparison: releases as columns, each number a row that leads to its definition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sievert.commands.compare.result import Assessed
from sievert.commands.compare.view import ComparisonView
from sievert.formatting import count, percent, significant
from sievert.losses import BY_ID
from sievert.losses.loss import Loss
from sievert.measures.measure import Value
from sievert.report.numbers import bits_text, clean, side_by_side
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import NumberText, NumberWriter

ABREAST = 5  # releases beside each other
# The measures of finding a person, and of learning a secret, with the words of their rows.
OF_RECORDS = {
    "k_anonymity": "row_k_anonymity",
    "unique_records": "row_unique_records",
    "average_risk": "row_average_risk",
    "discrimination_rate": "row_discrimination_rate",
    "classes": "row_classes",
    "itpr": "row_itpr",
    "itpr_unnormalized": "row_itpr_unnormalized",
}
OF_SECRET = {
    "l_diversity": "row_l_diversity",
    "t_closeness": "row_t_closeness",
    "max_confidence": "row_max_confidence",
    "mutual_information": "row_mutual_information",
    "discrimination_rate": "row_discrimination_rate",
    "itpr": "row_itpr",
    "itpr_unnormalized": "row_itpr_unnormalized",
}
# Which way the number of a row is risky, or the release less useful; not of every row.
DIRECTIONS = {
    "row_identity": "direction_identity",
    "row_identity_share": "direction_identity_share",
    "row_told": "direction_told",
    "row_lost": "direction_lost",
    "row_kept": "direction_kept",
    "row_suppressed": "direction_suppressed",
    "row_cells_suppressed": "direction_cells_suppressed",
    "row_not_released": "direction_not_released",
    "row_k_anonymity": "direction_k_anonymity",
    "row_unique_records": "direction_unique_records",
    "row_average_risk": "direction_average_risk",
    "row_discrimination_rate": "direction_discrimination_rate",
    "row_classes": "direction_classes",
    "row_itpr": "direction_itpr",
    "row_itpr_unnormalized": "direction_itpr_unnormalized",
    "row_l_diversity": "direction_l_diversity",
    "row_t_closeness": "direction_t_closeness",
    "row_max_confidence": "direction_max_confidence",
    "row_mutual_information": "direction_mutual_information",
}
WORSE = {"high": "direction_lost_high", "low": "direction_lost_low"}  # of losses
# Losses by their short names.
LOSSES = {
    "discernability": "loss_discernability",
    "average_class_size": "loss_average_class_size",
    "generalization_loss": "loss_generalization_loss",
    "precision": "loss_precision",
    "non_uniform_entropy": "loss_non_uniform_entropy",
    "normalized_certainty_penalty": "loss_normalized_certainty_penalty",
    "expected_distortion": "loss_expected_distortion",
    "probabilistic_information_loss": "loss_probabilistic_information_loss",
    "covariance_discrepancy": "loss_covariance_discrepancy",
    "correlation_discrepancy": "loss_correlation_discrepancy",
    "eigenvalue_discrepancy": "loss_eigenvalue_discrepancy",
    "gaussian_information": "loss_gaussian_information",
    "hellinger_margins": "loss_hellinger_margins",
    "hellinger_pairs": "loss_hellinger_pairs",
    "pmse": "loss_pmse",
    "prediction": "loss_prediction",
    "model_loss": "loss_model_loss",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of all tables, the original first: its definition, its words, its cells."""

    definition: str
    title: str
    direction: str = ""  # which way is risky or less useful, in words
    cells: Sequence[object]


def named_row(view: ComparisonView, definition: str, words: str, cells: Sequence[object]) -> Row:
    """A row whose `words` are the key of a text."""
    direction = DIRECTIONS.get(words)
    return Row(
        definition=definition,
        title=view.say(words),
        direction="" if direction is None else view.say(direction),
        cells=cells,
    )


def grids(
    view: ComparisonView, caption: str, rows: Sequence[Row], *, folded: bool = False
) -> Iterator[Grid]:
    """The rows as tables of a few releases each."""
    before = [view.say("original")] if any(row.cells[0] for row in rows) else []
    for abreast, title in side_by_side(view, caption, len(view.releases), ABREAST):
        labels = [r.label for r in view.releases[abreast]]
        head = [view.say("head_number"), view.say("head_direction"), *before, *labels]
        body = (
            (
                Link(row.title, f"def-{row.definition}"),
                row.direction,
                *(row.cells[:1] if before else ()),
                *row.cells[1:][abreast],
            )
            for row in rows
        )
        yield make_grid(title, head, body, range(2, len(head)), folded=folded)


def exact(view: ComparisonView, secret: str) -> Iterator[Row]:
    """What lies behind the numbers of a secret."""
    told = [view.before(secret), *(r.release.disclosed.attribute[secret] for r in view.releases)]
    loss = [r.release.disclosed.loss[secret].whole for r in view.releases]
    numbers: tuple[tuple[str, str, list[float | None]], ...] = (
        ("beyond_chance", "row_chance", [b.whole.chance for b in told]),
        ("beyond_chance", "row_p_value", [b.whole.p_value for b in told]),
        ("beyond_chance", "row_rows_per_cell", [b.whole.rows_per_cell for b in told]),
        ("beyond_chance", "row_miller_madow", [b.whole.miller_madow for b in told]),
        ("t_closeness", "row_t_closeness", [b.t_closeness for b in told]),
        ("attribute_disclosure", "row_floor", [b.floor for b in told]),
        ("information_loss", "row_lost_value", [None, *(e.value for e in loss)]),
        ("information_loss", "row_lost_p_value", [None, *(e.p_value for e in loss)]),
    )
    for definition, words, (before, *each) in numbers:
        whole = "" if before is None else view.writer.number(clean(before))
        cells = [view.writer.number(clean(number)) for number in each]
        yield named_row(view, definition, words, [whole, *cells])


def by_column(view: ComparisonView) -> Iterator[Grid]:
    """What each column alone tells of its original."""
    writer = view.writer
    rows = []
    disclosures = [r.release.disclosed.identity.columns for r in view.releases]
    for column in disclosures[0]:
        each = [columns.get(column) for columns in disclosures]
        whole = bits_text(writer, next((bits.maximum for bits in each if bits), None))
        cells = [bits_text(writer, bits.value) if bits else "" for bits in each]
        rows.append(
            Row(
                definition="identity_disclosure",
                title=writer.name(column),
                direction=view.say("direction_high"),
                cells=[whole, *cells],
            )
        )
    if len(rows) > 1:
        yield from grids(view, view.say("columns_caption"), rows, folded=True)


def secret_by_column(view: ComparisonView, secret: str) -> Iterator[Grid]:
    """What each column alone tells of a secret, and what of that was lost, corrected for chance."""
    columns = view.before(secret).columns
    if len(columns) < 2:
        return
    rows = [_told_by(view, secret, column) for column in columns]
    rows += [_lost_of(view, secret, column) for column in columns]
    caption = view.say("secret_columns_caption", secret=view.writer.name(secret))
    yield from grids(view, caption, rows, folded=True)


def _told_by(view: ComparisonView, secret: str, column: str) -> Row:
    """What a column tells of a secret."""
    each = [r.release.disclosed.attribute[secret].columns.get(column) for r in view.releases]
    first = bits_text(view.writer, view.before(secret).columns[column].value)
    return Row(
        definition="attribute_disclosure",
        title=view.say("column_told", column=view.writer.name(column)),
        direction=view.say("direction_told"),
        cells=[first, *("" if e is None else bits_text(view.writer, e.value) for e in each)],
    )


def _lost_of(view: ComparisonView, secret: str, column: str) -> Row:
    """What was lost of what a column told of a secret."""
    each = [r.release.disclosed.loss[secret].columns.get(column) for r in view.releases]
    return Row(
        definition="information_loss",
        title=view.say("column_lost", column=view.writer.name(column)),
        direction=view.say("direction_lost"),
        cells=["", *("" if e is None else view.lost(e) for e in each)],
    )


# -- each table on its own ------------------------------------------------------------------------


def smallest_class(writer: NumberWriter, assessed: Assessed) -> NumberText:
    """The size of a table's smallest class."""
    k = assessed.reidentification.get("k_anonymity")
    return writer.count(None if k is None else k.value)


def own(view: ComparisonView) -> Iterator[Block]:
    """The measures of every table on its own, the original first."""
    writer = view.writer
    comparison = view.comparison
    tables = [comparison.original.assessment, *(r.assessment for r in comparison.releases)]
    identity = [table.reidentification for table in tables]
    rows = [
        named_row(view, m, words, [_identity_measure(writer, m, t) for t in identity])
        for m, words in OF_RECORDS.items()
    ]
    yield from grids(view, view.say("own_caption"), rows)
    for secret in view.secrets:
        learnt = [t.inference.get(secret, {}) for t in tables]
        rows = [
            named_row(view, m, words, [_exact(writer, m, t.get(m)) for t in learnt])
            for m, words in OF_SECRET.items()
        ]
        yield from grids(view, view.say("own_secret", secret=writer.name(secret)), rows)
    yield Paragraph(view.say("own_reading"), "reading")


def _exact(writer: NumberWriter, measure: str, value: Value | None) -> str:
    number = None if value is None else value.value
    if number is None:
        return str(writer.undefined())
    if isinstance(number, int):
        return count(number)
    return significant(number) if measure == "mutual_information" else percent(number)


def _identity_measure(writer: NumberWriter, measure: str, values: Mapping[str, Value]) -> str:
    """A measure of finding a person; of those who are unique their number."""
    if measure == "unique_records" and measure in values:
        return str(writer.count(values[measure].details.get("records")))
    return _exact(writer, measure, values.get(measure))


# -- other losses ---------------------------------------------------------------------------------


def losses(view: ComparisonView) -> Iterator[Chapter]:
    """One row per loss, and whether it ranks the releases as bits do."""
    writer = view.writer
    rows = []
    for name in view.comparison.releases[0].losses:
        each = [_value_of(release.losses.get(name)) for release in view.comparison.releases]
        if name in BY_ID and any(value is not None for value in each):
            cells = ["", *(writer.number(clean(value)) for value in each)]
            rows.append(
                Row(
                    definition=name,
                    title=view.say(LOSSES[name]),
                    direction=view.say(WORSE[BY_ID[name].worse]),
                    cells=cells,
                )
            )
    if not rows:
        return
    blocks: list[Block] = list(grids(view, view.say("losses_caption"), rows))
    ranks = [(row, view.comparison.rank_correlation.get(row.definition) or {}) for row in rows]
    if any(by for _, by in ranks):
        body = (
            (
                Link(row.title, f"def-{row.definition}"),
                *map(writer.number, map(by.get, view.secrets)),
            )
            for row, by in ranks
        )
        names = map(writer.name, view.secrets)
        blocks.append(view.grid("ranks_caption", ["head_number"], body, folded=True, more=names))
    blocks += _losses_by_column(view, rows)
    reasons = dict.fromkeys(_undefined(view))
    blocks += [BulletList(tuple(reasons))] if reasons else []
    blocks.append(Paragraph(view.say("losses_reading"), "reading"))
    yield view.chapter("losses_title", "losses", blocks)


def _value_of(loss: Loss | None) -> float | None:
    return None if loss is None else loss.value


def _undefined(view: ComparisonView) -> Iterator[str]:
    """Why a loss is not defined for a release."""
    for release in view.comparison.releases:
        for name, loss in release.losses.items():
            if name in BY_ID and loss.value is None and loss.reason:
                reason = view.texts.remark(loss.reason)
                yield view.say("loss_undefined", loss=view.say(LOSSES[name]), reason=reason)


def _losses_by_column(view: ComparisonView, losses: Sequence[Row]) -> Iterator[Grid]:
    """Losses that each column has a number of its own for."""
    rows = []
    for loss in losses:
        losses_of = [r.losses.get(loss.definition) for r in view.comparison.releases]
        each = [{} if known is None else known.columns for known in losses_of]
        for column in dict.fromkeys(c for columns in each for c in columns):
            numbers = [_own_loss(columns.get(column)) for columns in each]
            if any(x is not None for x in numbers):
                cells = ["" if x is None else view.writer.number(clean(x)) for x in numbers]
                title = view.say("column_loss", loss=loss.title, column=view.writer.name(column))
                rows.append(
                    Row(
                        definition=loss.definition,
                        title=title,
                        direction=loss.direction,
                        cells=["", *cells],
                    )
                )
    if rows:
        yield from grids(view, view.say("losses_columns_caption"), rows, folded=True)


def _own_loss(entry: object) -> float | None:
    """The number of one column, which may stand beside others."""
    value = entry.get("value") if isinstance(entry, Mapping) else entry
    return float(value) if isinstance(value, int | float) else None
