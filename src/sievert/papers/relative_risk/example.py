"""Table 1 and what section 1 says of it: what is released, and who learns what from it."""

from functools import cache
from pathlib import Path
from typing import Any

import sievert
from sievert.charts import Bar, bars
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.hierarchies import ROOT, Hierarchy
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    number,
    remark,
    require_number,
    statement,
)
from sievert.papers.given_tables import ADULT, Columns, read_columns, require_records
from sievert.report.page import Grid, Paragraph, Picture

# -- Table 1 -------------------------------------------------------------------------------------

KNOWN = ["nationality", "zip"]
DISEASE = "disease"
SECRETS = ["Heart", "Flu", "Stomach", "HIV", "Diabetes"]
ORIGINAL: Columns = {
    "nationality": ["Malaysia", "Japan", "Japan", "Japan", "China", "Japan", "India", "Malaysia"],
    "zip": ["45501", "45502", "55503", "55504", "66601", "66601", "77701", "77701"],
    DISEASE: ["Heart", "Flu", "Flu", "Stomach", "HIV", "Diabetes", "Flu", "Heart"],
}
RECODED: Columns = {
    "nationality": [
        "{Malaysia,Japan}",
        "{Malaysia,Japan}",
        "Japan",
        "Japan",
        "{China,Japan}",
        "{China,Japan}",
        "{India,Malaysia}",
        "{India,Malaysia}",
    ],
    "zip": ["4550*", "4550*", "5550*", "5550*", "66601", "66601", "77701", "77701"],
    DISEASE: ORIGINAL[DISEASE],
}
GROUPS = ["1", "1", "2", "2", "3", "3", "4", "4"]
PEOPLE: Columns = {
    "nationality": ["Japan", "Malaysia", "Japan", "Japan", "Japan", "China", "Malaysia", "India"],
    "zip": ["45502", "45501", "55504", "55503", "66601", "66601", "77701", "77701"],
    "gid": GROUPS,
}
ANATOMY = (PEOPLE, {"gid": GROUPS, DISEASE: ORIGINAL[DISEASE]})
ZIPS = {"zip": sorted(set(ORIGINAL["zip"]))}  # the ZIP codes that exist are public


def is_below(label: str, value: str) -> bool:
    """Whether a released label of Table 1 may stand for a value.

    >>> is_below("{Malaysia,Japan}", "Japan"), is_below("4550*", "55503")
    (True, False)
    """
    if label.startswith("{"):
        return value in label.strip("{}").split(",")
    return value.startswith(label[:-1]) if label.endswith("*") else value == label


# -- Adult ---------------------------------------------------------------------------------------

KEYS = ["sex", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
OCCUPATION = "occupation"
ADULT_RECORDS = 5_692
UNSEEN = {"workclass": {"Never-worked"}}  # values of Adult that no complete record has


def read_trees(folder: str) -> dict[str, Hierarchy]:
    """The hierarchies of a folder: for each column the one file whose name ends with it."""
    trees = {}
    for name in KEYS:
        files = sorted(Path(folder).glob(f"*{name}.csv"))
        require(
            len(files) == 1,
            f"{Path(folder).name}: {plural(len(files), 'file')} of the hierarchy of {name}",
            hint="a folder with one file for each column, such as adult_hierarchy_sex.csv",
            error=InputError,
        )
        trees[name] = Hierarchy.read(files[0])
    return trees


def adult(path: str) -> tuple[Columns, dict[str, Hierarchy]]:
    """The first complete records, as many as the paper took, and hierarchies of one level: `*`.

    What values there are is taken from the whole file: it is public.
    """
    whole = read_columns(path, [*KEYS, OCCUPATION], ADULT, ordered=True)
    missing = zip(*whole.values(), strict=True)
    complete = [i for i, record in enumerate(missing) if "?" not in record and "" not in record]
    require_records(path, len(complete), "complete records", ADULT_RECORDS, ADULT)
    people = {name: [texts[i] for i in complete[:ADULT_RECORDS]] for name, texts in whole.items()}
    values = {name: {whole[name][i] for i in complete} | UNSEEN.get(name, set()) for name in KEYS}
    return people, {
        name: Hierarchy(dict.fromkeys(sorted(each), (ROOT,)), name) for name, each in values.items()
    }


RECORDS = range(len(ORIGINAL[DISEASE]))
VICTIM = ("Malaysia", "45501")
RELEASES = {"Local recoding": RECODED, "Anatomy": ANATOMY}
MODELS: dict[str, dict[str, Any]] = {
    "columns apart": {"likelihood": "product", "domain": ZIPS},
    "combinations as symbols": {"likelihood": "saturated", "domain": ZIPS},
}


@cache
def attack_release(release: str, model: str) -> Any:
    """Attacker and learner of a release of Table 1 under a model."""
    return sievert.attack(RELEASES[release], ORIGINAL, KNOWN, DISEASE, **MODELS[model])


@cache
def nationality(release: str, **how: Any) -> Any:
    """The same where nationality alone is released and known."""
    return sievert.attack(RELEASES[release], ORIGINAL, "nationality", DISEASE, **how)


@announce("table 1")
def table_1(given: Given) -> PaperPart:
    """The three tables: do the releases fit the original, and keep their promise."""
    return PaperPart(
        title="Table 1: a table and two releases of it",
        about="Eight people, their nationality, ZIP code and disease. The middle table makes "
        "nationality and ZIP code coarser within groups of two; the right one keeps them, but in "
        "another order than the diseases of the group. Each released record is held against the "
        "original.",
        claims=(
            number(
                "k of the middle table",
                "2",
                int(require_number(sievert.k_anonymity(RECODED, KNOWN))),
                contradicts=True,
                why="its smallest class has another size",
            ),
            *(_row(i) for i in RECORDS),
            *(_group(g) for g in dict.fromkeys(GROUPS)),
        ),
        blocks=(
            Grid(
                caption="The original, and what is released of each record",
                head=(
                    "record",
                    "nationality",
                    "ZIP",
                    "disease",
                    "local recoding",
                    "Anatomy's group",
                ),
                rows=tuple(
                    (
                        str(i + 1),
                        *(ORIGINAL[c][i] for c in (*KNOWN, DISEASE)),
                        ", ".join(RECODED[c][i] for c in KNOWN),
                        GROUPS[i],
                    )
                    for i in RECORDS
                ),
            ),
        ),
    )


def _row(i: int) -> Claim:
    fits = all(is_below(RECODED[c][i], ORIGINAL[c][i]) for c in KNOWN)
    return statement(
        f"Local recoding, record {i + 1}: coarser, not wrong",
        ", ".join(RECODED[c][i] for c in KNOWN),
        "holds the original values" if fits else "does not hold the original values",
        holds=fits,
        why="a released value excludes the original one",
    )


def _group(group: str) -> Claim:
    rows = [i for i in RECORDS if GROUPS[i] == group]
    before, after = (
        sorted(tuple(table[c][i] for c in KNOWN) for i in rows) for table in (ORIGINAL, PEOPLE)
    )
    return statement(
        f"Anatomy, group {group}: the same keys in another order",
        "permuted within the group",
        "the same keys" if before == after else "other keys",
        holds=before == after,
        why="the group of the original has other keys",
    )


@announce("section 1: the attacker's reasoning")
def reasoning(given: Given) -> PaperPart:
    """Section 1: a Malaysian at 4550*, and what the rest of the table tells of her."""
    return PaperPart(
        title="Section 1: what an attacker makes of the middle table",
        about="The attacker's target is a Malaysian at ZIP code 4550*, so in the first group, with "
        "Heart and Flu. The text says that the other groups make Heart likelier. That takes a "
        "model in which a nationality means the same in every town (columns apart). The model that "
        "section 2 sets up has one symbol for each combination of values; there the groups have "
        "nothing to say of each other, and the group's own share remains. All weights of the "
        "Dirichlet distributions are 1. The text has no threshold for a high probability. Ours is "
        "more than even, what anybody has to believe who names one of two diseases; in a table of "
        "eight no more than 0.58 comes out, and the text itself says that the hint becomes strong "
        "in a larger one.",
        claims=(*_hints(), *(_linkage_claim(m) for m in MODELS)),
        blocks=(_anatomy(), _beliefs(), *(_risks(r) for r in RELEASES)),
    )


def _hints() -> tuple[Claim, Claim]:
    hold = {g: {RECODED["nationality"][i] for i in RECORDS if GROUPS[i] == g} for g in GROUPS}
    ills = {g: {ORIGINAL[DISEASE][i] for i in RECORDS if GROUPS[i] == g} for g in GROUPS}
    together = [
        g for g in hold if "Heart" in ills[g] and any(is_below(label, "Japan") for label in hold[g])
    ]
    places = {
        GROUPS[i]
        for i in RECORDS
        if all(is_below(RECODED[c][i], v) for c, v in zip(KNOWN, VICTIM, strict=True))
    }
    return (
        statement(
            "Groups that may hold a Japanese and have Heart",
            "the first group only",
            f"group {', '.join(together)}",
            holds=together == ["1"],
            why="another group has both",
        ),
        statement(
            "Groups that may hold a Malaysian at 4550*",
            "the first group",
            f"group {', '.join(sorted(places))}",
            holds=places == {"1"},
            why="another group may",
        ),
    )


HIGH = 0.5  # a high probability is more than even; the text has no threshold


def _heart_and_flu(release: str, model: str) -> tuple[float, float]:
    believed = attack_release(release, model).beliefs[VICTIM]["attacker"]
    return believed["Heart"], believed["Flu"]


def _linkage_claim(model: str) -> Claim:
    heart, flu = _heart_and_flu("Local recoding", model)
    even = heart <= HIGH + 1e-9
    return statement(
        f"Local recoding, {model}: the victim has Heart, with a probability of more than {HIGH:g}",
        "with high probability",
        f"Heart {heart:.4f}, Flu {flu:.4f}" + ("" if even else f" (not with {heart:.2f} or more)"),
        holds=not even,
        contradicts=True,
        why="In section 2 every combination of nationality and ZIP code is a symbol of its own. "
        "The four that fit this group occur in no other, so the others change nothing: "
        "f(R_j = r|t*) is 1/4 for Heart and for Flu, and by (7) the two stay at 1/2.",
    )


def _anatomy() -> Paragraph:
    """The right table; the text says nothing about it."""
    beliefs = {model: _heart_and_flu("Anatomy", model)[0] for model in MODELS}
    return remark(
        "The same of Anatomy, Heart",
        "the text speaks of the middle table only",
        ", ".join(f"{model} {heart:.4f}" for model, heart in beliefs.items()),
    )


def _beliefs() -> Picture:
    beliefs = attack_release("Local recoding", "columns apart").beliefs[VICTIM]
    who = ("attacker", "learner")
    return Picture(
        spec=bars(
            "What is believed of a Malaysian at 45501",
            ("Local recoding of Table 1, columns apart",),
            [Bar(row=s, number=beliefs[w][s], series=w) for s in SECRETS for w in who],
            axis="Probability",
        ),
        caption="The attacker knows the group, and leans to Heart. The learner, who knows "
        "nobody in "
        "the table, spreads belief over all diseases. The difference is the relative risk.",
        behind=Grid(
            caption="Probability of each disease",
            head=("disease", *who),
            rows=tuple((s, *(f"{beliefs[w][s]:.4f}" for w in who)) for s in SECRETS),
            right=(1, 2),
        ),
    )


def _risks(release: str) -> Grid:
    """Definition 1 for every record; the paper prints no such table."""
    attacks = attack_release(release, "columns apart")
    rows = []
    for i, own in enumerate(ORIGINAL[DISEASE]):
        belief = attacks.beliefs[tuple(ORIGINAL[c][i] for c in KNOWN)]
        attacker = belief["attacker"][own]
        learner = belief["learner"][own]
        at_risk = attacker >= max(belief["attacker"].values()) - 1e-9
        ratio = f"{attacker / learner:.4f}" if at_risk else "-"
        rows.append((str(i + 1), own, f"{attacker:.4f}", f"{learner:.4f}", ratio))
    numbers = attacks["reasoning"][DISEASE].numbers
    return Grid(
        caption=f"{release}, columns apart: Definition 1 for every record. Global relative risk "
        f"{numbers['global_relative_risk_literal'].value:.4f} as defined, "
        f"{numbers['global_relative_risk'].value:.4f} where a tie of m diseases counts 1/m",
        head=("record", "disease", "attacker", "learner", "R, if at risk"),
        rows=tuple(rows),
        right=(2, 3, 4),
        folded=True,
    )
