"""All recodings on a map, and the same as rows: what each has lost, and what it discloses."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from sievert.formatting.loss_names import WRITTEN
from sievert.report.parts import ReportPart
from sievert.workbench.level_names import level_names, levels_text
from sievert.workbench.maps import BREACHED, MET, MapPoint, MapWords, draw_map
from sievert.workbench.result_pages import part_of
from sievert.workbench.step import View
from sievert.workbench.step_commands import (
    frontier_command,
    protect_command,
    table_result,
)

NAME = "protect"
# Pixels of the map.
WIDE = 500
NARROW = 330
FORM = "take"  # the form of its buttons
SHARES = {loss for loss, written in WRITTEN.items() if written == "share"}  # from 0 to 1


def recoding_map(view: View) -> dict[str, Any] | None:
    """The map of all recodings, and the same as rows with buttons; None while it is not known."""
    result = view.get(frontier_command(view.choices)) or {}
    points = result.get("frontier")
    if not points:
        return None
    part = part_of(result, view.texts)
    names = _level_words(view)
    chosen = _selection(view, points)
    rows = [_row(part, names, point, chosen) for point in points]
    dots = [
        MapPoint(
            across=point["lost"],
            up=point["disclosed"],
            **{name: row[name] for name in ("state", "said", "take", "chosen")},
        )
        for point, row in zip(points, rows, strict=True)
    ]
    limit = (result.get("frontier_limit") or {}).get("points", ())
    secret = result["frontier_secret"]
    minimised = result["minimised"]
    return {
        "rows": sorted(rows, key=lambda row: (row["state"] != MET, row["lost"].number)),
        "maps": _maps(part, dots, [(point["lost"], point["disclosed"]) for point in limit]),
        "meets": _meeting(part, points),
        "secret": part.writer.name(secret) if secret else "",
        "loss": view.texts(f"protected.minimised_{minimised}"),
    }


def _level_words(view: View) -> dict[str, list[str]]:
    """What each level of a column is called, while that is known."""
    proposals = (table_result("hierarchies", view) or {}).get("proposals", {})
    return {c: [n.words for n in level_names(view.texts, p)] for c, p in proposals.items()}


def _selection(view: View, points: Any) -> tuple[dict[str, int], int | None]:
    """The levels that are shown, and how many people they suppress, if that is known."""
    release = view.get(protect_command(view.choices)) or {}
    given = view.choices.mapping(NAME, "levels")
    levels = release.get("levels") or {c: int(given.get(c, 0)) for c in points[0]["levels"]}
    return levels, release.get("suppressed")


def _row(
    part: ReportPart,
    names: Mapping[str, list[str]],
    point: Any,
    chosen: tuple[dict[str, int], int | None],
) -> dict[str, Any]:
    texts = part.texts
    writer = part.writer
    minimised = part.data["minimised"]
    state = MET if point["meets"] else BREACHED
    write_loss = writer.share if minimised in SHARES else writer.number
    secret = part.data["frontier_secret"]
    loss = write_loss(point["loss"])
    lost = writer.number(point["lost"]) if secret else loss
    words = {
        "lost": texts("workbench.protect.bits", number=lost) if secret else lost,
        "disclosed": writer.number(point["disclosed"]),
        "suppressed": writer.count(point["suppressed"]),
    }
    levels, suppressed = chosen
    return {
        **words,
        "lost": lost,
        "loss": loss,
        "state": state,
        "mark": texts(f"workbench.protect.point_{state}"),
        "chosen": point["levels"] == levels and suppressed in (None, point["suppressed"]),
        "levels": ", ".join(
            f"{writer.name(column)} {names[column][level] if column in names else level}"
            for column, level in point["levels"].items()
        ),
        "take": levels_text(point["levels"]),
        "said": texts(f"workbench.protect.take_{state}", **words),
    }


def _meeting(part: ReportPart, points: Any) -> str:
    meets = sum(point["meets"] for point in points)
    number = {"number": part.writer.count(len(points)), "meets": part.writer.count(meets)}
    one = "_one" if len(points) == 1 else ""
    return str(part.texts(f"workbench.protect.map_found{one}", **number))


def _maps(part: ReportPart, dots: list[MapPoint], curve: Any) -> dict[str, Markup]:
    texts = part.texts
    secret = part.data["frontier_secret"]
    minimised = part.data["minimised"]
    across = texts("workbench.protect.across_loss")
    note = texts(f"protected.minimised_{minimised}")
    if secret:
        across = texts("workbench.protect.across", secret=part.writer.name(secret))
        note = texts("workbench.protect.uncorrected")
    words = MapWords(
        label=texts("workbench.protect.map_label", number=len(dots)),
        across=across,
        up=texts("workbench.protect.up"),
        chosen=texts("workbench.protect.chosen"),
        curve=texts("workbench.protect.curve"),
        note=note,
    )
    sizes = {"wide": WIDE, "narrow": NARROW}
    return {k: draw_map(dots, words, size, curve=curve, form=FORM) for k, size in sizes.items()}
