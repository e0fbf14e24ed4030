"""The chapter of releases that are held together: who is found, and what is learnt beyond one."""

from collections.abc import Iterator

from sievert.measures.measure import read_values
from sievert.report.limits import numbers_chapter
from sievert.report.numbers import NOISE
from sievert.report.page import Block, Chapter, Grid, Paragraph
from sievert.report.parts import Data, ReportPart


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The numbers with their limits, the releases, the secrets, and what an attacker knows."""
    found = read_values(part.data["reidentification"])
    learnt = {secret: read_values(values) for secret, values in part.data["inference"].items()}
    chapters = [
        numbers_chapter(part, found, learnt, part.say("together")),
        _chapter(part, "releases_title", "releases", _releases(part)),
    ]
    if part.data["secrets"]:
        reading = Paragraph(part.say("secrets_reading"), "reading")
        blocks = (_learnt(part), _values_left(part), reading)
        chapters.append(_chapter(part, "secrets_title", "secrets", *blocks))
    model = (Paragraph(part.say(key)) for key in ("model", "absent", "constant"))
    chapters.append(_chapter(part, "model_title", "model", *model))
    return tuple(chapters)


def _chapter(part: ReportPart, title: str, place: str, *blocks: Block) -> Chapter:
    return Chapter(part.say(title), part.anchor(place), blocks, screen=True)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Who is unique in all releases together, and what of which secret is given away by them."""
    joint, writer = part.data["joint"], part.writer
    values = {
        "number": writer.count(len(part.data["ledger"]["releases"])),
        **{key: writer.count(joint[key]) for key in ("people", "unique", "k_anonymity")},
        "only": writer.count(joint["unique_only_together"]),
        "k": joint["k"],
        "below": writer.count(joint["below"] or 0),
    }
    below = joint["k"] is not None and joint["below"]
    said = {"unique_alone": joint["unique"], "smallest": True, "below": below}
    why = " ".join(part.say(key, **values) for key, there in said.items() if there)
    head = part.say("unique" if joint["unique"] else "nobody_unique", **values)
    return [(head, why), *_secret_points(part)]


def _secret_points(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The secret of which releases together give away most, and the one with fewest values left."""
    secrets: dict[str, Data] = part.data["secrets"]
    if not secrets:
        return
    name = max(secrets, key=lambda s: secrets[s]["best_guess"]["gain"])
    guess, bits = secrets[name]["best_guess"], secrets[name]["bits"]
    key = "guessed" if max(guess["gain"], bits["gain"]) > NOISE else "not_guessed"
    yield (
        part.say(key, secret=part.writer.name(name)),
        part.say(
            "guesses",
            secret=part.writer.name(name),
            joint=part.writer.share(guess["joint"]),
            alone=part.writer.share(guess["alone"]),
            release=part.writer.file(guess["best_release"]),
            bits=part.writer.number(bits["gain"] if bits["gain"] > NOISE else 0),
        ),
    )
    name = max(secrets, key=lambda s: secrets[s]["values_left"]["disclosed"])
    left = secrets[name]["values_left"]
    if left["disclosed"]:
        numbers = {key: part.writer.count(left[key]) for key in ("disclosed", "only_together")}
        yield (
            part.say("disclosed", secret=part.writer.name(name), **numbers),
            part.say("disclosed_why", **numbers),
        )


def _releases(part: ReportPart) -> Grid:
    rows = [
        (
            part.writer.file(release["name"]),
            part.say("new") if release["new"] else release["date"],
            *(
                part.writer.count(release[key])
                for key in ("people", "shared", "classes", "k_anonymity", "unique")
            ),
        )
        for release in part.data["ledger"]["releases"]
    ]
    joint = part.data["joint"]
    numbers = (part.writer.count(joint[key]) for key in ("classes", "k_anonymity", "unique"))
    rows.append((part.say("together"), "", part.writer.count(joint["people"]), "", *numbers))
    heads = (
        *("head_release", "head_date", "head_people", "head_shared", "head_classes", "head_k"),
        "head_unique",
    )
    return part.grid("releases_table", heads, rows, range(2, 7))


def _learnt(part: ReportPart) -> Grid:
    rows = [
        (
            part.writer.name(secret),
            *(part.writer.number(entry["bits"][key]) for key in ("joint", "alone")),
            *(part.writer.share(entry["best_guess"][key]) for key in ("joint", "alone")),
            part.writer.file(entry["best_guess"]["best_release"]),
        )
        for secret, entry in part.data["secrets"].items()
    ]
    heads = (
        *("head_secret", "head_bits", "head_bits_alone", "head_guess", "head_guess_alone"),
        "head_best",
    )
    return part.grid("learnt_table", heads, rows, range(1, 5))


def _values_left(part: ReportPart) -> Grid:
    writer, keys = part.writer, ("least", "disclosed", "only_together", "none_common", "changed")
    rows = [
        (writer.name(secret), *(writer.count(entry["values_left"][key]) for key in keys))
        for secret, entry in part.data["secrets"].items()
    ]
    heads = (
        *("head_secret", "head_least", "head_disclosed", "head_only_together"),
        *("head_none_common", "head_changed"),
    )
    return part.grid("values_table", heads, rows, range(1, 6))
