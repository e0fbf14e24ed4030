"""The chapter of releases that are held together: who is found, and what is learnt beyond one."""

from collections.abc import Iterator

from sievert.commands.ledger.result import JointRisk, LedgerCheck
from sievert.report.limits import numbers_chapter
from sievert.report.numbers import NOISE
from sievert.report.page import Block, Chapter, Grid, Paragraph
from sievert.report.parts import ReportPart


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The numbers with their limits, the releases, the secrets, and what an attacker knows."""
    check = part.read(LedgerCheck)
    chapters = [
        numbers_chapter(part, check.reidentification, check.inference, part.say("together")),
        _chapter(part, "releases_title", "releases", _releases(part, check)),
    ]
    if check.learnt:
        reading = Paragraph(part.say("secrets_reading"), "reading")
        blocks = (_learnt(part, check), _values_left(part, check), reading)
        chapters.append(_chapter(part, "secrets_title", "secrets", *blocks))
    model = (Paragraph(part.say(key)) for key in ("model", "absent", "constant"))
    chapters.append(_chapter(part, "model_title", "model", *model))
    return tuple(chapters)


def _chapter(part: ReportPart, title: str, place: str, *blocks: Block) -> Chapter:
    return Chapter(title=part.say(title), anchor=part.anchor(place), blocks=blocks, screen=True)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Say who is unique in all releases together, and what they give away of each secret."""
    check = part.read(LedgerCheck)
    risk = check.joint_risk
    writer = part.writer
    values = {
        "number": writer.count(len(check.releases)),
        "people": writer.count(risk.people),
        "unique": writer.count(risk.unique),
        "k_anonymity": writer.count(risk.k_anonymity),
        "only": writer.count(risk.unique_only_together),
        "k": risk.k,
        "below": writer.count(risk.below or 0),
    }
    why = " ".join(part.say(key, **values) for key in _reasons(risk))
    head = part.say("unique" if risk.unique else "nobody_unique", **values)
    return [(head, why), *_secret_points(part, check)]


def _reasons(risk: JointRisk) -> Iterator[str]:
    """The keys of the sentences on who looks alike in all releases."""
    if risk.unique:
        yield "unique_alone"
    yield "smallest"
    if risk.k is not None and risk.below:
        yield "below"


def _secret_points(part: ReportPart, check: LedgerCheck) -> Iterator[tuple[str, str]]:
    """Name the secret that the releases give away most, and the one with fewest values left."""
    secrets = check.learnt
    if not secrets:
        return
    name = max(secrets, key=lambda s: secrets[s].best_guess.gain)
    guess = secrets[name].best_guess
    bits = secrets[name].bits
    key = "guessed" if max(guess.gain, bits.gain) > NOISE else "not_guessed"
    yield (
        part.say(key, secret=part.writer.name(name)),
        part.say(
            "guesses",
            secret=part.writer.name(name),
            joint=part.writer.share(guess.joint),
            alone=part.writer.share(guess.alone),
            release=part.writer.file(guess.best_release),
            bits=part.writer.number(bits.gain if bits.gain > NOISE else 0),
        ),
    )
    name = max(secrets, key=lambda s: secrets[s].values_left.disclosed)
    left = secrets[name].values_left
    if left.disclosed:
        numbers = {
            "disclosed": part.writer.count(left.disclosed),
            "only_together": part.writer.count(left.only_together),
        }
        yield (
            part.say("disclosed", secret=part.writer.name(name), **numbers),
            part.say("disclosed_why", **numbers),
        )


def _releases(part: ReportPart, check: LedgerCheck) -> Grid:
    count = part.writer.count
    rows: list[tuple[object, ...]] = [
        (
            part.writer.file(release.name),
            part.say("new") if release.new else release.date,
            count(release.people),
            count(release.shared),
            count(release.classes),
            count(release.k_anonymity),
            count(release.unique),
        )
        for release in check.releases
    ]
    risk = check.joint_risk
    rows.append(
        (
            part.say("together"),
            "",
            count(risk.people),
            "",
            count(risk.classes),
            count(risk.k_anonymity),
            count(risk.unique),
        )
    )
    heads = (
        *("head_release", "head_date", "head_people", "head_shared", "head_classes", "head_k"),
        "head_unique",
    )
    return part.grid("releases_table", heads, rows, range(2, 7))


def _learnt(part: ReportPart, check: LedgerCheck) -> Grid:
    writer = part.writer
    rows = [
        (
            writer.name(secret),
            writer.number(learnt.bits.joint),
            writer.number(learnt.bits.alone),
            writer.share(learnt.best_guess.joint),
            writer.share(learnt.best_guess.alone),
            writer.file(learnt.best_guess.best_release),
        )
        for secret, learnt in check.learnt.items()
    ]
    heads = (
        *("head_secret", "head_bits", "head_bits_alone", "head_guess", "head_guess_alone"),
        "head_best",
    )
    return part.grid("learnt_table", heads, rows, range(1, 5))


def _values_left(part: ReportPart, check: LedgerCheck) -> Grid:
    count = part.writer.count
    rows = [
        (
            part.writer.name(secret),
            count(learnt.values_left.least),
            count(learnt.values_left.disclosed),
            count(learnt.values_left.only_together),
            count(learnt.values_left.none_common),
            count(learnt.values_left.changed),
        )
        for secret, learnt in check.learnt.items()
    ]
    heads = (
        *("head_secret", "head_least", "head_disclosed", "head_only_together"),
        *("head_none_common", "head_changed"),
    )
    return part.grid("values_table", heads, rows, range(1, 6))
