"""Whether two tables are paired by their order: chance by brute force, and the verdicts."""

import itertools
import json

import numpy as np
import pytest

import sievert
from sievert.cli import app
from sievert.errors import InputError, UsageError
from sievert.hierarchies import Hierarchy
from sievert.losses.loss import PairedColumn
from sievert.pairing.agreement import changed_records, exact_agreement
from sievert.pairing.evidence import pairing_by_order

N = 600


def column(name, before, after, hierarchy=None):
    values, labels = sorted(set(before)), sorted(set(after))
    codes = [
        np.array([texts.index(t) for t in c]) for texts, c in ((values, before), (labels, after))
    ]
    return PairedColumn(
        name=name,
        original=codes[0],
        released=codes[1],
        values=values,
        labels=labels,
        hierarchy=hierarchy,
    )


def table(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "age": [str(x) for x in rng.integers(20, 60, N)],
        "town": [f"t{x}" for x in rng.integers(0, 12, N)],
        "ill": [f"i{x}" for x in rng.integers(0, 5, N)],
    }


def verdict(before, after, **trees):
    return pairing_by_order([column(c, before[c], after[c], trees.get(c)) for c in before])


@pytest.mark.parametrize("seed", range(6))
def test_moments_are_those_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    values = [str(x) for x in rng.integers(20, 26, 6)]
    labels = [
        v if rng.random() < 0.5 else "[20, 23)" for v in (str(x) for x in rng.integers(20, 26, 6))
    ]
    one = column("a", values, labels, Hierarchy.intervals(map(str, range(20, 26)), [3]))
    strata = np.array([0, 0, 0, 0, 1, 1]) if seed % 2 else None
    groups = [range(6)] if strata is None else [range(4), range(4, 6)]
    moments = exact_agreement(one).moments(strata)

    def above(value, label):
        return value == label or (label == "[20, 23)" and int(value) < 23)

    counts = [
        sum(above(values[i], labels[j]) for i, j in enumerate(itertools.chain(*orders)))
        for orders in itertools.product(*map(itertools.permutations, groups))
    ]
    assert moments.found == sum(map(above, values, labels))
    assert moments.expected == pytest.approx(np.mean(counts))
    assert moments.deviation**2 == pytest.approx(np.var(counts))
    assert moments.most >= max(counts)


def test_releases_are_paired():
    before = table()
    assert verdict(before, before).paired is True
    tens = {**before, "age": [f"{a[0]}*" for a in before["age"]]}
    assert verdict(before, tens).paired is True
    starred = {**before, "town": ["*" if i % 3 else t for i, t in enumerate(before["town"])]}
    assert verdict(before, starred).paired is True
    rng = np.random.default_rng(1)
    noisy = {**before, "age": [str(float(a) + rng.normal()) for a in before["age"]]}
    found = verdict(noisy, before)
    assert found.paired is True and len(found.columns) == len(found.excess) == 2


def test_other_tables_are_not_paired():
    before, other = table(), table(1)
    order = np.random.default_rng(2).permutation(N)
    shuffled = {c: [v[i] for i in order] for c, v in before.items()}
    assert verdict(before, shuffled).paired is False
    by_age = [
        {c: [v[i] for i in np.argsort(t["age"], kind="stable")] for c, v in t.items()}
        for t in (before, other)
    ]
    assert verdict(*by_age).paired is False
    assert verdict(before, {**other, "town": before["town"]}).paired is False


def test_unrelated_tables_sorted_by_two_columns():
    """Both columns agree far more than by chance, one within the other, but shifted as well."""

    def by_two(seed):
        drawn = table(seed)
        order = sorted(range(N), key=lambda i: (drawn["ill"][i], drawn["age"][i][0]))
        tens = {**drawn, "age": [f"{a[0]}0" for a in drawn["age"]]}
        return {c: [v[i] for i in order] for c, v in tens.items()}

    columns = [column(c, by_two(0)[c], by_two(1)[c]) for c in ("ill", "age")]
    assert all(exact_agreement(c).moments().excess > 6 for c in columns)
    assert exact_agreement(columns[1]).moments(columns[0].original).excess > 6
    assert verdict(by_two(0), by_two(1)).paired is False
    assert verdict(by_two(0), by_two(0)).paired is True


def test_small_tables_and_one_column_cannot_tell():
    before = {c: v[:4] for c, v in table().items()}
    assert verdict(before, before).paired is None
    assert verdict({"age": table()["age"]}, {"age": table()["age"]}).paired is None


def test_values_that_are_all_different():
    """Within strata of single records nothing can be told: one column that was moved is not all."""
    names = [f"n{i}" for i in range(40)]
    alone = {c: [f"{c}{x}" for x in names] for c in "abcd"}
    moved = {**alone, "d": [*alone["d"][1:], alone["d"][0]]}
    assert verdict(alone, alone).paired is None
    assert verdict(alone, moved).paired is None
    turned = {c: v[::-1] for c, v in alone.items()}
    assert verdict(alone, {**turned, "a": alone["a"]}).paired is False


def test_compare_and_attack_refuse_and_warn():
    before, other = table(), table(1)
    roles = {"quasi": ["age", "town"], "sensitive": "ill"}
    with pytest.raises(InputError, match="not paired") as error:
        sievert.compare(before, other, **roles, shuffles=0)
    assert "pairing file" in str(error.value.hint) and "--key" in str(error.value.hint)
    with pytest.raises(UsageError, match="so that --paired does not hold") as refused:
        sievert.compare(before, other, **roles, shuffles=0, paired=True)
    assert "--key" in str(refused.value.hint)
    stated = sievert.compare(before, before, **roles, shuffles=0, paired=True)
    assert stated.releases[0].to_dict()["pairing"]["by"] == "stated"
    with pytest.raises(InputError, match="not paired"):
        sievert.attack(other, before, **roles, reasoning=False)
    found = sievert.attack(before, before, **roles, reasoning=False)
    assert found.to_dict()["pairing"]["paired"] is True
    few = {c: v[:6] for c, v in before.items()}
    limits = {"limits": {"inference": {"ill": {"entropy": {"min": 0.5}}}}}
    doubtful = sievert.compare(few, few, **roles, shuffles=0, policy=limits)
    assert doubtful.cautions and doubtful.releases[0].policy.met is None
    sure = sievert.compare(few, few, **roles, shuffles=0, policy=limits, paired=True)
    assert sure.releases[0].policy.met is True


def test_a_randomised_release_is_not_reasoned_about():
    before = table()
    rng = np.random.default_rng(3)
    noisy = {**before, "age": [str(int(a) + 100 * (rng.random() < 0.5)) for a in before["age"]]}
    found = sievert.attack(noisy, before, ["age", "town"], "ill")
    number = found["reasoning"]["ill"].numbers["attacker_accuracy"]
    assert number.value is None and "randomised" in number.reason
    assert "randomised" in repr(found) and "--hierarchy" not in repr(found)
    assert "randomised" in found._repr_html_()


def test_a_label_above_all_values_is_no_change():
    one = column("a", ["M", "J", "J", "J"], ["{M,J}", "{M,J}", "J", "J"])
    assert not changed_records(one).any()
    one = column("a", ["M", "J", "K", "J"], ["{K,J}", "{M,J}", "K", "M"])
    assert changed_records(one).tolist() == [True, False, False, True]


# -- columns that are not in use ------------------------------------------------------------------


def test_columns_not_in_use_show_the_order():
    before, other = table(), table(1)
    found = sievert.compare(before, before, quasi="age", shuffles=0).releases[0].pairing
    assert found.paired is True and set(found.columns) <= {"age", "town", "ill"}
    with pytest.raises(InputError, match="not paired"):
        sievert.compare(before, other, quasi="age", shuffles=0)
    assert sievert.attack(before, before, "age").to_dict()["pairing"]["paired"] is True
    with pytest.raises(InputError, match="not paired"):
        sievert.attack(other, before, "age")
    alone = {"age": before["age"]}
    assert sievert.compare(alone, alone, quasi="age", shuffles=0).releases[0].pairing.paired is None


def test_numbers_of_rows_show_nothing():
    """A number of rows, and one of households, are the same in tables of unrelated people."""
    rows = {"household": [str(i // 4) for i in range(N)], "row": [str(i) for i in range(N)]}
    before, other = {**table(), **rows}, {**table(1), **rows}
    with pytest.raises(InputError, match="not paired"):
        sievert.compare(before, other, quasi="age", shuffles=0)
    with pytest.raises(InputError, match="not paired"):
        sievert.attack(other, before, "age")
    alone = {"age": before["age"], **rows}
    assert sievert.compare(alone, alone, quasi="age", shuffles=0).releases[0].pairing.paired is None


# -- commands -------------------------------------------------------------------------------------


def written(path, columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    return str(path)


@pytest.fixture
def files(tmp_path):
    """An original, itself in another order, and its first records, as files."""
    before = {**table(), "pay": [str(x) for x in np.random.default_rng(5).integers(1, 90, N)]}
    order = np.random.default_rng(2).permutation(N)
    moved = {c: [v[i] for i in order] for c, v in before.items()}
    few = {c: v[:5] for c, v in before.items()}
    named = {"before": before, "moved": moved, "few": few}
    return {name: written(tmp_path / f"{name}.csv", each) for name, each in named.items()}


def command(which, original, release):
    if which == "compare":
        return ["compare", original, release, "-q", "age,town", "-s", "ill", "--shuffles", "0"]
    if which == "attack":
        tables = ["attack", release, "--original", original]
        return [*tables, "-q", "age,town", "-s", "ill", "--no-reasoning"]
    tables = ["compromise", original, "--method", "release", "--release", release]
    return [*tables, "-q", "age,town", "-s", "pay", "--epsilon", "2"]


@pytest.mark.parametrize("which", ["compare", "attack", "compromise"])
def test_commands_end_with_an_error_a_caution_or_what_was_found(which, files, tmp_path, capfd):
    out = tmp_path / "out.json"

    def run(original, release, *more):
        arguments = [*command(which, files[original], files[release]), *more]
        code = app._run([*arguments, "--json", str(out), "--force"])
        said = capfd.readouterr()
        result = json.loads(out.read_text()) if code == 0 else {}
        pairing = (result["releases"][0] if "releases" in result else result).get("pairing")
        return code, pairing, " ".join((said.out + said.err).split())

    code, pairing, said = run("before", "before")
    assert code == 0 and (pairing["paired"], pairing["by"]) == (True, "order")
    assert "paired by order (checked)" in said and "Caution" not in said
    code, _, said = run("before", "moved")
    assert code == 3 and "not paired by their order" in said
    assert "--key COLUMN" in said and "pairing file" in said
    code, _, said = run("before", "moved", "--paired")
    assert code == 2 and "so that --paired does not hold" in said and "--key COLUMN" in said
    code, pairing, said = run("before", "before", "--paired")
    assert code == 0 and (pairing["paired"], pairing["by"]) == (True, "stated")
    code, pairing, said = run("few", "few")
    assert code == 0 and pairing["paired"] is None
    assert "Caution: it cannot be told" in said
