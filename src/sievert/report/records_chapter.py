"""Values and records that carry the risk, and the population behind them.

Estimates of the population stand beside the name of their model.
"""

from collections.abc import Iterator, Mapping

from sievert.charts import Bar
from sievert.formatting import count, digits, make_unique, printable
from sievert.report.explanation import (
    ExplainedRecords,
    PopulationChapter,
    SudaChapter,
    TotalFlags,
    ValuesChapter,
)
from sievert.report.explanation_view import (
    MOST_ROWS,
    MOST_SECRETS,
    ExplanationView,
    PictureKeys,
    captioned_bars,
    screened,
)
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph
from sievert.report.parts import NumberText

EACH = 3  # values of a column in the picture
MOST_LISTED = 60
# Models of how many people are unique in the population: the number, and the name.
MODELS = {
    "population_uniques_zayatz": "model_zayatz",
    "population_uniques_pitman": "model_pitman",
    "population_uniques_snb": "model_snb",
    "population_uniques_dankar": "model_dankar",
}
CAREFUL = "population_uniques_dankar"  # the model whose answer is the careful one
EXPECTED = "expected_reidentifications"
EXACT_GAINS = ("k_anonymity", "discrimination_rate", "itpr_unnormalized")
RISKS = {  # other numbers of the population, with their names
    "unique_match": "risk_unique_match",
    "unique_match_known": "risk_unique_match_known",
    "prosecutor": "risk_prosecutor",
    "journalist": "risk_journalist",
    "marketer": "risk_marketer",
    "truta_minimal": "risk_truta_minimal",
    "truta_maximal": "risk_truta_maximal",
    "global_risk": "risk_global_risk",
    "household_risk": "risk_household_risk",
}
WEIGHTED = {"global_risk": "weights_global_risk", "household_risk": "weights_household_risk"}
GAINS = ("gain_alone", "gain_below", "gain_k", "gain_rate", "gain_itpr_unnormalized")
POPULATION = PictureKeys(
    title="population_chart", below="population_below", caption="population_caption"
)
VALUES = PictureKeys(title="values_chart", below="values_below", caption="values_caption")
IF_COUNTED = ("journalist", "marketer")  # else as for somebody who knows who is in the table
DIFFERS = {
    "blanks": "differs_by_blanks",
    "case": "differs_by_case",
    "case and blanks": "differs_by_case_and_blanks",
    "one letter": "differs_by_one_letter",
    "Unicode form": "differs_by_unicode_form",
}
FEW_VALUES = 2  # that single a record out
FEWEST_SHARE = 20  # a value that more than one in this many people have is not rare
MOST_LEVELS = 3  # values of a column by their part of the scores
FIRST_RECORDS = 5  # on a terminal
FAR_APART = 1.5  # times: estimates that differ by more are given as a range


def chapters(view: ExplanationView) -> Iterator[Chapter]:
    """The population, values, slips, records and minimal uniques."""
    values = view.read(ExplainedRecords).values
    about_values: tuple[Block, ...] = ()
    if values is not None:
        about_values = (*_values(view, values), *_rare(view, values), *_alike(view, values))
    yield from population_chapter(view)
    if about_values:
        yield view.chapter("values_title", "values", about_values)
    about_records = tuple(_records(view))
    if about_records:
        title = view.say("records_title")
        yield Chapter(title=title, anchor=view.anchor("records"), blocks=about_records, screen=True)
    uniques = tuple(_suda(view))
    if uniques:
        title = _records_title(view) or view.say("suda_title")
        yield Chapter(title=title, anchor=view.anchor("suda"), blocks=uniques)


def population_chapter(view: ExplanationView) -> Iterator[Chapter]:
    """The people behind the table, where anything was said of them, and totals of few people."""
    about = view.read(PopulationChapter)
    described = about.size is not None or any(name in about.estimates for name in WEIGHTED)
    blocks = (
        *(_population(view, about) if described else ()),
        *([_totals(view, about.totals)] if about.totals else ()),
    )
    if blocks:
        title = _population_title(view) or view.say("population_title")
        yield Chapter(
            title=title,
            anchor=view.anchor("population"),
            blocks=blocks,
            screen=described,
            further=True,
        )


def _population_title(view: ExplanationView) -> str:
    """Say how many would be unique in the whole population; a range where models differ."""
    about = view.read(PopulationChapter)
    if CAREFUL not in about.estimates:
        return ""
    each = (_estimate(view, name) for name in MODELS)
    models = sorted((e for e in each if e.number is not None), key=lambda e: e.number or 0.0)
    if not models:
        return ""
    low, high = (models[end].number or 0.0 for end in (0, -1))
    size = count(about.size or 0)
    if high > FAR_APART * low or _estimate(view, CAREFUL).number is None:
        return view.say("population_range", low=models[0], high=models[-1], size=size)
    return view.say("population_alone", share=models[-1], size=size)  # the careful answer


def population_sentences(view: ExplanationView) -> Iterator[str]:
    """The estimates for the population, where it was described."""
    estimates = view.read(PopulationChapter).estimates
    share = view.writer.share
    title = _population_title(view)
    if title:
        yield f"{title}."
    for name, key in WEIGHTED.items():
        if name in estimates:
            risk = estimates[name]
            places = {"share": share(risk.value), "highest": share(risk.highest)}
            if name == "global_risk":
                expected = estimates[EXPECTED].value
                places["expected"] = view.writer.number(expected)
            yield view.say(key, **places)


def _records_title(view: ExplanationView) -> str:
    """Say how many people one or two of their values single out."""
    suda = view.read(ExplainedRecords).suda
    sizes = {} if suda is None else suda.records_by_size
    few = sum(people for size, people in sizes.items() if int(size) <= FEW_VALUES)
    if not few or len(view.quasi) < FEW_VALUES:
        return ""
    return view.say("records_one" if few == 1 else "records_few", number=view.writer.count(few))


# -- the population -------------------------------------------------------------------------------


def _estimate(view: ExplanationView, name: str) -> NumberText:
    return view.writer.share(view.read(PopulationChapter).estimates[name].value)


def _population(view: ExplanationView, about: PopulationChapter) -> Iterator[Block]:
    estimates = about.estimates
    if about.size is not None:
        share = view.writer.number(100 * (about.fraction or 0.0))
        yield Paragraph(view.say("population_size", size=count(about.size), share=share))
    models = {view.say(key): name for name, key in MODELS.items() if name in estimates}
    rows: list[tuple[object, ...]] = [
        (Link(model, "def-population_models"), _with_error(view, name))
        for model, name in models.items()
    ]
    omitted = () if "truta_maximal" in estimates else IF_COUNTED
    rows += [
        (view.say(key), _with_error(view, name))
        for name, key in RISKS.items()
        if name in estimates and name not in omitted
    ]
    if EXPECTED in estimates:
        expected = view.writer.number(estimates[EXPECTED].value)
        rows.append((view.say("risk_expected"), view.say("expected", number=expected)))
    grid = view.grid("population_table", ("number", "estimate"), rows)
    texts = {model: _estimate(view, name) for model, name in models.items()}
    marks = [(Bar(row=model, number=text.number), text) for model, text in texts.items()]
    picture = captioned_bars(view, POPULATION, marks, grid, axis="population_axis")
    yield from screened(picture, MOST_LISTED)
    yield Paragraph(view.say("population_reading"), "reading")
    if "global_risk" in estimates and estimates["global_risk"].method == "approx":
        yield Paragraph(view.say("weights_approximate"), "note")
    if about.alpha is not None:
        alpha = digits(f"{about.alpha:g}")
        yield Paragraph(view.say("population_wildcards", alpha=alpha), "note")


def _with_error(view: ExplanationView, name: str) -> str:
    """Write an estimate with its error, its highest value, or the model that it comes from."""
    text = _estimate(view, name)
    estimate = view.read(PopulationChapter).estimates[name]
    if text.number is None:
        if not estimate.reason:
            return str(text)
        return view.say("with_reason", number=text, reason=view.texts.remark(estimate.reason))
    if estimate.standard_error is not None:
        error = view.writer.number(100 * estimate.standard_error)
        return view.say("with_error", number=text, error=error)
    if estimate.highest is not None:
        places = {"number": text, "highest": view.writer.share(estimate.highest)}
        if estimate.missing_as_value is None:
            return view.say("with_highest", **places)
        as_value = view.writer.share(estimate.missing_as_value)
        return view.say("with_as_value", as_value=as_value, **places)
    if estimate.taken is not None:
        return view.say("with_model", number=text, model=printable(estimate.taken))
    return str(text)


def _totals(view: ExplanationView, totals: Mapping[str, TotalFlags]) -> Grid:
    """Classes in which one or two people make up most of a total."""
    rows = (
        (
            view.writer.name(secret),
            view.writer.number(flags.classes),
            view.writer.number(flags.dominated),
            view.writer.number(flags.estimable),
        )
        for secret, flags in totals.items()
    )
    return view.grid("totals_table", ("secret", "classes", "dominated", "estimable"), rows)


# -- values and records ---------------------------------------------------------------------------


def _values(view: ExplanationView, values: ValuesChapter) -> Iterator[Block]:
    writer = view.writer
    secrets = view.secrets[:MOST_SECRETS]
    listed = [
        (number, value)
        for about in values.columns
        for number, value in enumerate(about.riskiest, 1)
    ]
    if not listed:
        return
    labels = make_unique(view.value_in_column(risky.value) for _, risky in listed)
    rates = [writer.share(risky.discrimination_rate) for _, risky in listed]
    rows = [
        (
            label,
            writer.count(risky.value.records),
            writer.count(risky.unique_count),
            rate,
            *(writer.share(risky.inference.get(secret)) for secret in secrets),
        )
        for label, (_, risky), rate in zip(labels, listed, rates, strict=True)
    ]
    marks = [
        (Bar(row=label, number=rate.number), rate)
        for label, (number, _), rate in zip(labels, listed, rates, strict=True)
        if number <= EACH and rate.number is not None
    ]
    head = ("value", "records", "alone")
    shown = rows[:MOST_LISTED]
    grid = view.grid("values_table", head, shown, folded=True, more=view.rate_heads())
    yield Paragraph(view.say("values_found"), "reading")
    yield from _few(view, values)
    yield captioned_bars(view, VALUES, marks[: 2 * MOST_ROWS], grid, axis="rate_axis", number=EACH)
    left = view.rows_first(MOST_LISTED, len(rows))
    if left:
        yield Paragraph(left, "note")


def _few(view: ExplanationView, values: ValuesChapter) -> Iterator[Grid]:
    """Count the values of each column that few people have."""
    rows = [
        (
            view.column_names[about.column],
            view.writer.count(few.values),
            view.writer.count(few.records),
            view.writer.count(few.unique_count),
            view.writer.share(few.discrimination_rate),
        )
        for about in values.columns
        for few in about.fewest
        if few.records * FEWEST_SHARE <= view.records
    ]
    if rows:
        head = ("column", "values", "records_each", "alone", "rate")
        yield view.grid("few_table", head, rows, folded=True)


def _rare(view: ExplanationView, values: ValuesChapter) -> Iterator[Block]:
    """Rare values, and what leaving their records out would change."""
    rows = [
        (
            view.value_in_column(rare.value),
            view.writer.count(rare.value.records),
            view.writer.count(rare.unique_count),
            view.writer.count(rare.gain.unique_count),
            view.writer.count(rare.gain.records_below_5),
            *(view.writer.number(rare.gain.numbers[measure]) for measure in EXACT_GAINS),
        )
        for rare in values.rare
    ]
    if rows:
        head = ("value", "records", "alone", *GAINS)
        yield view.grid("rare_table", head, rows)
        yield Paragraph(view.say("rare_reading"), "reading")


def _alike(view: ExplanationView, values: ValuesChapter) -> Iterator[Block]:
    """Rare values that differ little from a frequent one."""
    rows = [
        (
            view.value_in_column(alike.value),
            view.writer.count(alike.value.records),
            view.say(DIFFERS[alike.differs_by]),
            view.value_of(alike.like),
            view.writer.count(alike.like.records),
            view.writer.count(alike.gain.unique_count),
        )
        for alike in values.lookalikes
    ]
    if rows:
        keys = ("value", "records", "differs_by", "like", "like_records", "gain_alone")
        key = "alike_one" if len(rows) == 1 else "alike"
        yield Paragraph(view.say(key, number=count(len(rows))))
        yield view.grid("alike_table", keys, rows, (1, 4, 5))
    if rows and not any(alike.value.text is not None for alike in values.lookalikes):
        yield Paragraph(view.say("alike_unnamed"), "note")


def _suda(view: ExplanationView) -> Iterator[Block]:
    suda = view.read(ExplainedRecords).suda
    writer = view.writer
    if suda is None:
        yield Paragraph(view.say("suda_missing"), "note")
        return
    parts = suda.columns
    if parts is None:
        yield Paragraph(view.say("suda_none"))
        return
    yield Paragraph(view.say("suda_found", number=writer.count(suda.records_with_msu)))
    sizes = (
        (size, writer.count(people), writer.share(suda.size_shares[size]))
        for size, people in suda.records_by_size.items()
    )
    yield view.grid("suda_sizes", ("suda_size", "people", "suda_part"), sizes, range(3))
    columns = (
        (view.column_names.get(c, writer.name(c)), writer.share(part), _levels(view, suda, c))
        for c, part in sorted(parts.items(), key=lambda each: -each[1])
    )
    yield view.grid("suda_columns", ("column", "suda_part", "suda_levels"), columns, (1,))
    yield Paragraph(view.say("suda_reading"), "reading")


def _levels(view: ExplanationView, suda: SudaChapter, column: str) -> str:
    """The values of a column that contribute most to the scores."""
    return "; ".join(
        view.say(
            "suda_level",
            value=view.value_of(level.value),
            share=view.writer.share(level.share),
            records=view.writer.count(level.value.records),
        )
        for level in suda.levels.get(column, ())[:MOST_LEVELS]
    )


def _records(view: ExplanationView) -> Iterator[Block]:
    records = view.read(ExplainedRecords).records
    writer = view.writer
    if records is None or not records.riskiest:
        yield Paragraph(view.say("records_none"), "note")
        return
    matched = ("frequency",) if records.weighted else ()
    rows = [
        (
            writer.count(record.record),
            writer.count(record.class_size),
            *([writer.number(record.frequency)] if records.weighted else ()),
            writer.number(record.suda_score),
            writer.number(record.msus),
            writer.number(record.smallest_msu),
            writer.names(_most_telling(record.columns)),
        )
        for record in records.riskiest
    ]
    head = ("row", "like_it", *matched, "suda_score", "suda_sets", "suda_size", "mostly_by")
    numbers = range(len(head) - 1)
    yield view.grid("records_title", head, rows[:FIRST_RECORDS], numbers)
    if len(rows) > FIRST_RECORDS:
        yield view.grid("records_table", head, rows, numbers, folded=True)


def _most_telling(shares: Mapping[str, float]) -> list[str]:
    """The two columns that contribute most to the score of a record."""
    return [c for c in sorted(shares, key=lambda c: -shares[c])[:2] if shares[c] > 0]
