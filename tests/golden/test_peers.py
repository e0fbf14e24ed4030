"""Numbers that other tools print or assert in their own tests, through the public API.

Each test names its entry (A1, A2, ...) in the list of peer values. The tools: pycanon 1.3.6 (A1,
A2, A17, A21), ARX (A4, A5, A7, A16, A22 to A24; A16 by way of ARXaaS), sdcMicro and its practice
guide (A9, A12), bvmlib (A13, A14, A25), privattacks (A15), piflib (A18, A27), scikit-learn (A26).

Tolerances follow the digits a source shows. The tools work in double precision and print 16 or 17
digits, of which the last few are their own rounding: `DOUBLE`. Where fewer digits are printed the
test states how many.
"""

from collections.abc import Mapping
from math import floor, log
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sievert

from .tables import Columns, read_columns, whole_numbers, without_suppressed, write_columns

DOUBLE = 1e-11

QI4 = ["marital-status", "native-country", "race", "workclass"]
QI8 = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "salary-class",
]
QI9 = [*QI8, "occupation"]
STUDENT = ["Teacher", "Gender", "Ethnic", "Freeredu", "wesson"]


def close(value: float, tolerance: float = DOUBLE) -> Any:
    """The value up to a relative, and for small numbers the same absolute, tolerance."""
    return pytest.approx(value, rel=tolerance, abs=tolerance)


def digits(value: float, places: int) -> Any:
    """A value printed with so many decimals: within one unit of the last (cut off or rounded)."""
    return pytest.approx(value, rel=0, abs=10.0**-places)


def adult(reference: Path) -> Path:
    """The 30,162 complete records of Adult, separated by semicolons."""
    return reference / "data" / "adult" / "adult.csv"


def release_file(reference: Path, name: str) -> Path:
    """An ARX output for Adult."""
    return reference / "data" / "pairs" / "arx_adult" / f"{name}.csv.gz"


def released(reference: Path, name: str) -> Columns:
    """All its 30,162 records, in the order of the original."""
    columns = read_columns(release_file(reference, name), ";")
    assert len(columns["occupation"]) == 30162
    return columns


def student_scores(reference: Path, name: str, folder: Path) -> Path:
    """pycanon's table of pupils, with the scores (`76.0` in the file) as whole numbers."""
    columns = read_columns(reference / "data" / "pairs" / "pycanon" / f"{name}.csv", ",")
    columns["Score"] = whole_numbers(columns["Score"])
    return write_columns(folder / f"{name}.csv", columns)


# A1, A2: pycanon's own tests.


class Students(NamedTuple):
    """What pycanon asserts for one table of pupils; the secret is the numeric Score."""

    entry: str
    file: str
    k: int
    alpha: float
    diversity: int
    entropy_l: int
    beta: float
    enhanced_beta: float
    delta: float
    t: float


STUDENTS = [
    Students(
        "A1",
        "StudentsMath_Score",
        k=1,
        alpha=1,
        diversity=1,
        entropy_l=1,
        beta=71.0,
        enhanced_beta=5.375278407684164,
        delta=4.276666119016055,
        t=0.4165919952210274,
    ),
    Students(
        "A2",
        "StudentsMath_Score_k5",
        k=5,
        alpha=0.5,
        diversity=4,
        entropy_l=3,
        beta=29.8,
        enhanced_beta=5.036952602413629,
        delta=3.4275146899795286,
        t=0.31023287057769827,
    ),
]


@pytest.mark.parametrize("peer", STUDENTS, ids=lambda peer: peer.entry)
def test_students(peer: Students, reference: Path, tmp_path: Path) -> None:
    """A1, A2. Each measure as a plain function of a CSV file.

    pycanon's (c,l) is left out: it sorts the counts upwards, so its c is another quantity.
    Its delta skips values a class lacks, which is our delta_disclosure_present; the measure over
    all values is unbounded here. Its entropy l is cut off to a whole number; ours is not.
    """
    data = student_scores(reference, peer.file, tmp_path)
    secret: dict[str, Any] = {"sensitive": "Score", "types": {"Score": "int"}}
    assert sievert.k_anonymity(data, STUDENT) == peer.k
    assert sievert.alpha_k(data, STUDENT, **secret) == close(peer.alpha)
    assert sievert.max_confidence(data, STUDENT, **secret) == close(peer.alpha)
    assert sievert.l_diversity(data, STUDENT, **secret) == peer.diversity
    assert floor(sievert.entropy_l(data, STUDENT, **secret) + DOUBLE) == peer.entropy_l
    assert sievert.beta_likeness(data, STUDENT, **secret) == close(peer.beta)
    assert sievert.enhanced_beta_likeness(data, STUDENT, **secret) == close(peer.enhanced_beta)
    assert sievert.delta_disclosure_present(data, STUDENT, **secret) == close(peer.delta)
    assert sievert.delta_disclosure(data, STUDENT, **secret) is None
    assert sievert.t_closeness_ordered(data, STUDENT, **secret) == close(peer.t)


# A4: ARX's seven records and its 2-anonymous version of them.

ARX_SEVEN: Columns = {
    "age": ["34", "45", "66", "70", "34", "70", "45"],
    "gender": ["male", "female", "male", "female", "female", "male", "male"],
    "zipcode": ["81667", "81675", "81925", "81931", "81931", "81931", "81931"],
}
ARX_SEVEN_K2: Columns = {
    "age": ["<50", "<50", ">=50", ">=50", "<50", ">=50", "<50"],
    "gender": ["*"] * 7,
    "zipcode": ["816**", "816**", "819**", "819**", "819**", "819**", "819**"],
}


@pytest.mark.parametrize(
    ("table", "average", "highest", "classes"),
    [
        pytest.param(ARX_SEVEN, 1.0, 1.0, 7, id="input"),
        pytest.param(ARX_SEVEN_K2, 0.42857142857142855, 0.5, 3, id="output"),
    ],
)
def test_arx_seven(table: Columns, average: float, highest: float, classes: int) -> None:
    """A4. ARX's average risk is the mean over records, K/N: our average_risk."""
    quasi = ["age", "gender", "zipcode"]
    assert sievert.average_risk(table, quasi) == close(average)
    assert sievert.highest_risk(table, quasi) == close(highest)
    assert sievert.classes(table, quasi) == classes


# A5: ARX on Adult, before and after recoding.

ADULT_LEVELS = {
    "sex": 0,
    "age": 4,
    "race": 1,
    "marital-status": 2,
    "education": 1,
    "native-country": 2,
    "workclass": 2,
    "occupation": 1,
    "salary-class": 0,
}


def test_adult_input(reference: Path) -> None:
    """A5. All nine attributes: 19,502 classes, 15,512 uniques among 30,162 records."""
    data = adult(reference)
    assert sievert.classes(data, QI9) == 19502
    assert sievert.average_risk(data, QI9) == close(0.6465751607983555)
    assert sievert.highest_risk(data, QI9) == 1.0
    assert sievert.unique_records(data, QI9) == close(0.5142895033485844)
    assert sievert.records_below(data, QI9, k=2) == 15512


def test_adult_recoded(reference: Path) -> None:
    """A5. The levels ARX chose for 2-anonymity without suppression, applied by our hierarchies."""
    columns = read_columns(adult(reference), ";")
    folder = reference / "data" / "adult" / "hierarchies"
    for name, level in ADULT_LEVELS.items():
        hierarchy = sievert.Hierarchy.read(folder / f"adult_hierarchy_{name}.csv")
        recoded = {value: hierarchy.at(value, level) for value in set(columns[name])}
        columns[name] = [recoded[value] for value in columns[name]]
    quasi = list(ADULT_LEVELS)
    assert sievert.classes(columns, quasi) == 58
    assert sievert.average_risk(columns, quasi) == close(0.001922949406538028)
    assert sievert.highest_risk(columns, quasi) == close(0.5)
    assert sievert.k_anonymity(columns, quasi) == 2


# A7, A23: distinction and separation of sets of columns.

FIVE_PEOPLE: Columns = {
    "age": [20, 30, 40, 20, 40],
    "sex": ["Female", "Female", "Female", "Male", "Male"],
    "state": ["CA", "CA", "TX", "NY", "CA"],
}


@pytest.mark.parametrize(
    ("quasi", "distinction", "separation"),
    [
        (["sex"], 0.4, 0.6),
        (["state"], 0.6, 0.7),
        (["age"], 0.6, 0.8),
        (["sex", "state"], 0.8, 0.9),
        (["age", "sex"], 1, 1),
        (["age", "state"], 1, 1),
        (["age", "sex", "state"], 1, 1),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else None,
)
def test_five_people(quasi: list[str], distinction: float, separation: float) -> None:
    """A7. ARX's tests, worked out by hand there."""
    assert sievert.distinction(FIVE_PEOPLE, quasi) == close(distinction)
    assert sievert.separation(FIVE_PEOPLE, quasi) == close(separation)


ADULT_SETS: list[tuple[list[str], float, float]] = [
    (["race"], 1.657715005636231e-4, 0.2510168705580825),
    (["workclass"], 2.3208010078907233e-4, 0.4384710833330085),
    (["marital-status"], 2.3208010078907233e-4, 0.6572008210359416),
    (["native-country"], 0.0013593263046217095, 0.16789461132116162),
    (["race", "marital-status"], 0.0010609376036071877, 0.7346233591152453),
    (["race", "workclass"], 0.0010940919037199124, 0.579931372478474),
    (["marital-status", "workclass"], 0.0014587892049598833, 0.8108731356911419),
    (["race", "native-country"], 0.0035143558119488097, 0.34704002737416706),
    (["native-country", "workclass"], 0.006299317021417678, 0.5402863351821013),
    (["marital-status", "native-country"], 0.006796631523108547, 0.7142032232425677),
    (["race", "marital-status", "workclass"], 0.0052052251176977656, 0.8547865926371521),
    (["race", "native-country", "workclass"], 0.009879981433591936, 0.6389296743244779),
    (["race", "marital-status", "native-country"], 0.011405079238777269, 0.7674399186888289),
    (["marital-status", "native-country", "workclass"], 0.01651084145613686, 0.8447305628702736),
    (
        ["race", "marital-status", "native-country", "workclass"],
        0.023871096081161728,
        0.8745260941753913,
    ),
]


@pytest.mark.parametrize(
    ("quasi", "distinction", "separation"),
    ADULT_SETS,
    ids=lambda value: "+".join(value) if isinstance(value, list) else None,
)
def test_adult_sets(
    quasi: list[str], distinction: float, separation: float, reference: Path
) -> None:
    """A23. ARX's attribute risks of Adult."""
    data = adult(reference)
    assert sievert.distinction(data, quasi) == close(distinction)
    assert sievert.average_risk(data, quasi) == close(distinction)
    assert sievert.separation(data, quasi) == close(separation)


# A9, A12: sdcMicro counts the records that violate k-anonymity.

FRANCDAT: Columns = {
    "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
    "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
    "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
    "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
}
PRACTICE_GUIDE: Columns = {
    "Residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
    "Gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
    "Education": [
        "Sec inc",
        "Sec inc",
        "Prim inc",
        "Sec com",
        "Sec com",
        "Sec com",
        "Prim com",
        "Post-sec",
        "Sec inc",
        "Sec inc",
    ],
    "Labour": [
        "Employed",
        "Employed",
        "Non-LF",
        "Employed",
        "Unemployed",
        "Employed",
        "Non-LF",
        "Unemployed",
        "Non-LF",
        "Non-LF",
    ],
}


@pytest.mark.parametrize(
    ("table", "k", "violations"),
    [
        pytest.param(FRANCDAT, 2, 4, id="A9 2-anonymity"),
        pytest.param(FRANCDAT, 3, 8, id="A9 3-anonymity"),
        pytest.param(PRACTICE_GUIDE, 2, 4, id="A12 2-anonymity"),
        pytest.param(PRACTICE_GUIDE, 3, 10, id="A12 3-anonymity"),
    ],
)
def test_violations(table: Columns, k: int, violations: int) -> None:
    """A9, A12. sdcMicro's violations of k-anonymity are our records_below."""
    assert sievert.records_below(table, list(table), k=k) == violations


# A13, A14, A15, A25: Bayes vulnerability.


class Bayes(NamedTuple):
    """Chances of guessing right before and after seeing the quasi-identifiers."""

    prior: float
    posterior: float


def assert_bayes(
    data: Columns | Path, quasi: list[str], sensitive: str | None, peer: Bayes, places: int | None
) -> None:
    """Prior and posterior as bvmlib or privattacks print them (places None: all digits)."""

    def printed(value: float) -> Any:
        return close(value) if places is None else digits(value, places)

    prior = sievert.bayes_vulnerability_prior(data, quasi, sensitive=sensitive)
    posterior = sievert.bayes_vulnerability_posterior(data, quasi, sensitive=sensitive)
    assert prior == printed(peer.prior)
    assert posterior == printed(peer.posterior)


TEN_PUPILS: Columns = {
    "age": [25] * 5 + [49] * 4 + [60],
    "gender": ["F", "F", "F", "M", "M", "F", "F", "F", "M", "M"],
    "grade": ["A", "A", "C", "B", "B", "C", "C", "E", "D", "D"],
    "disability": ["F", "T", "T", "T", "F", "T", "T", "F", "F", "F"],
}


@pytest.mark.parametrize(
    ("sensitive", "peer", "gain"),
    [
        (None, Bayes(0.1, 0.5), 5),
        ("grade", Bayes(0.3, 0.8), 2.666667),
        ("disability", Bayes(0.5, 0.7), 1.4),
    ],
)
def test_ten_pupils(sensitive: str | None, peer: Bayes, gain: float) -> None:
    """A13. bvmlib's example. Its pCR and pCA are posterior / prior (six decimals).

    Its dCA, the share of records whose class has one secret only, is not a measure of ours.
    """
    quasi = ["age", "gender"]
    assert_bayes(TEN_PUPILS, quasi, sensitive, peer, None)
    prior = sievert.bayes_vulnerability_prior(TEN_PUPILS, quasi, sensitive=sensitive)
    posterior = sievert.bayes_vulnerability_posterior(TEN_PUPILS, quasi, sensitive=sensitive)
    assert posterior / prior == digits(gain, 6)


def test_ten_pupils_classes() -> None:
    """A13. bvmlib's pCR of the record is the number of classes, its dCR the share of uniques."""
    assert sievert.classes(TEN_PUPILS, ["age", "gender"]) == 5
    assert sievert.unique_records(TEN_PUPILS, ["age", "gender"]) == close(0.2)


ADULT_FULL_QI = [
    "age",
    "sex",
    "race",
    "native-country",
    "marital-status",
    "workclass",
    "occupation",
]


@pytest.mark.parametrize(
    ("sensitive", "peer", "gain"),
    [
        (None, Bayes(0.000031, 0.388471), 12649),
        ("relationship", Bayes(0.405178, 0.881945), 2.176685),
        ("education-num", Bayes(0.322502, 0.647769), 2.008571),
    ],
)
def test_adult_full(sensitive: str | None, peer: Bayes, gain: float, reference: Path) -> None:
    """A14. bvmlib on all 32,561 records of Adult, six decimals; ` ?` is a value like any other."""
    data = reference / "data" / "adult" / "adult_uci_32561.csv"
    assert_bayes(data, ADULT_FULL_QI, sensitive, peer, 6)
    prior = sievert.bayes_vulnerability_prior(data, ADULT_FULL_QI, sensitive=sensitive)
    posterior = sievert.bayes_vulnerability_posterior(data, ADULT_FULL_QI, sensitive=sensitive)
    assert posterior / prior == digits(gain, 6)


def test_adult_full_classes(reference: Path) -> None:
    """A14. 12,649 classes; dCR 0.262738 (six decimals) is the share of unique records."""
    data = reference / "data" / "adult" / "adult_uci_32561.csv"
    assert sievert.classes(data, ADULT_FULL_QI) == 12649
    assert sievert.unique_records(data, ADULT_FULL_QI) == digits(0.262738, 6)


EIGHT_EARNERS: Columns = {
    "age": [20, 30, 30, 30, 30, 55, 55, 55],
    "education": ["Master", "HS", "HS", "PhD", "PhD", "Bachelor", "Bachelor", "Bachelor"],
    "income": ["low", "medium", "low", "medium", "medium", "high", "high", "medium"],
}


@pytest.mark.parametrize(
    ("quasi", "sensitive", "peer"),
    [
        (["age", "education"], None, Bayes(1 / 8, 1 / 2)),
        (["age", "education"], "income", Bayes(1 / 2, 3 / 4)),
        (["age"], None, Bayes(1 / 8, 3 / 8)),
        (["age"], "income", Bayes(1 / 2, 3 / 4)),
    ],
)
def test_eight_earners(quasi: list[str], sensitive: str | None, peer: Bayes) -> None:
    """A15. privattacks' first data set."""
    assert_bayes(EIGHT_EARNERS, quasi, sensitive, peer, None)


PUMS_QI = ["age", "sex", "educ", "race", "married"]
CALIFORNIA_QI = ["age", "sex", "educ", "married", "latino", "black", "asian"]

# File, quasi-identifiers, secret (None: the record), prior, posterior. The record's prior is 1/N.
BVMLIB: list[tuple[str, list[str], str | None, Bayes]] = [
    ("adult/adult.csv", QI4, None, Bayes(3.315430011272462e-05, 0.023871096081161728)),
    ("adult/adult.csv", QI4, "occupation", Bayes(0.13387706385518203, 0.24259001392480606)),
    ("adult/adult.csv", QI8, None, Bayes(3.315430011272462e-05, 0.4130362708043233)),
    ("adult/adult.csv", QI8, "occupation", Bayes(0.13387706385518203, 0.5968768649293813)),
    ("pums/PUMS.csv", PUMS_QI, None, Bayes(1 / 1000, 0.877)),
    ("pums/PUMS.csv", PUMS_QI, "income", Bayes(0.118, 0.88)),
    ("pums/pums_california_10000.csv", CALIFORNIA_QI, None, Bayes(1 / 10000, 0.4755)),
    ("pums/pums_california_10000.csv", CALIFORNIA_QI, "income_class", Bayes(0.341, 0.6535)),
]


@pytest.mark.parametrize(("file", "quasi", "sensitive", "peer"), BVMLIB)
def test_bvmlib(
    file: str, quasi: list[str], sensitive: str | None, peer: Bayes, reference: Path
) -> None:
    """A25. Shares of 1,000 or 10,000 records have three or four decimals: those are exact too."""
    assert_bayes(reference / "data" / file, quasi, sensitive, peer, None)


@pytest.mark.parametrize(
    ("file", "quasi", "classes", "uniques"),
    [
        ("adult/adult.csv", QI4, 720, 0.010642530336184603),
        ("pums/PUMS.csv", PUMS_QI, 877, 0.774),
        ("pums/pums_california_10000.csv", CALIFORNIA_QI, 4755, 0.2656),
    ],
)
def test_bvmlib_classes(
    file: str, quasi: list[str], classes: int, uniques: float, reference: Path
) -> None:
    """A25. pCR is the number of classes, dCR the share of unique records."""
    assert sievert.classes(reference / "data" / file, quasi) == classes
    assert sievert.unique_records(reference / "data" / file, quasi) == close(uniques)


def test_bvmlib_gain(reference: Path) -> None:
    """A25. pCA of occupation: posterior / prior."""
    data = adult(reference)
    prior = sievert.bayes_vulnerability_prior(data, QI4, sensitive="occupation")
    posterior = sievert.bayes_vulnerability_posterior(data, QI4, sensitive="occupation")
    assert posterior / prior == close(1.812035661218425)


# A16: the example of ARXaaS.

SIX_PATIENTS: Columns = {
    "zipcode": ["47677", "47602", "47678", "47905", "47909", "47906"],
    "age": ["29", "22", "27", "43", "52", "47"],
    "disease": ["gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis"],
}
SIX_PATIENTS_K2: Columns = {
    "zipcode": ["47***"] * 6,
    "age": ["[22, 53["] * 6,
    "disease": ["stomach disease"] * 4 + ["respiratory infection"] * 2,
}


@pytest.mark.parametrize(
    ("table", "highest", "average", "uniques"),
    [
        pytest.param(SIX_PATIENTS, 1.0, 1.0, 1.0, id="input"),
        pytest.param(SIX_PATIENTS_K2, 0.5, 0.3333333333333333, 0, id="output"),
    ],
)
def test_six_patients(table: Columns, highest: float, average: float, uniques: float) -> None:
    """A16. The prosecutor's and the marketer's average are both our average_risk."""
    quasi = ["zipcode", "age", "disease"]
    assert sievert.highest_risk(table, quasi) == close(highest)
    assert sievert.average_risk(table, quasi) == close(average)
    assert sievert.unique_records(table, quasi) == close(uniques)


def test_six_patients_at_the_extremes() -> None:
    """A16. Two of six records are at the highest risk 1/2, the other four at the lowest 1/4."""
    quasi = ["zipcode", "age", "disease"]
    assert sievert.records_below(SIX_PATIENTS_K2, quasi, k=3) / 6 == close(0.3333333333333333)
    assert 1 - sievert.records_below(SIX_PATIENTS_K2, quasi, k=4) / 6 == close(0.6666666666666666)
    assert sievert.records_below(SIX_PATIENTS_K2, quasi, k=5) == 6


# A17: the example of the t-closeness paper.

NINE_PATIENTS: Columns = {
    "ZIPCode": ["476**"] * 3 + ["479**"] * 3 + ["476**"] * 3,
    "Age": ["[20,30["] * 3 + [">=40"] * 3 + ["[30,40["] * 3,
    "Salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
    "Disease": [
        "gastric ulcer",
        "gastritis",
        "stomach cancer",
        "gastritis",
        "flu",
        "bronchitis",
        "bronchitis",
        "pneumonia",
        "stomach cancer",
    ],
}
DISEASES = """\
gastric ulcer;stomach disease;digestive system disease;respiratory&digestive disease
gastritis;stomach disease;digestive system disease;respiratory&digestive disease
flu;respiratory infection;vascular lung disease;respiratory&digestive disease
bronchitis;respiratory infection;vascular lung disease;respiratory&digestive disease
pneumonia;respiratory infection;vascular lung disease;respiratory&digestive disease
stomach cancer;stomach disease;digestive system disease;respiratory&digestive disease
"""


def one_class(table: Columns, age: str) -> Columns:
    """The table with the class of that age on one side and everybody else on the other.

    A class holds a third of the records, so the rest is half as far from the whole table as the
    class is (the weighted differences cancel). The largest distance of the two is the class's own.
    """
    return {**table, "in class": ["yes" if value == age else "no" for value in table["Age"]]}


@pytest.fixture
def diseases(tmp_path: Path) -> Any:
    path = tmp_path / "diseases.csv"
    path.write_text(DISEASES)
    return sievert.Hierarchy.read(path)


@pytest.mark.parametrize(
    ("age", "t"),
    [("[20,30[", 0.375), ("[30,40[", 0.2361111111111111), (">=40", 0.16666666666666666)],
)
def test_salary_t_of_a_class(age: str, t: float) -> None:
    """A17. Ordered distance of Salary in the classes 3, 4, 5; 7, 9, 10; 6, 8, 11."""
    table = one_class(NINE_PATIENTS, age)
    assert sievert.t_closeness_ordered(table, ["in class"], sensitive="Salary") == close(t)


@pytest.mark.parametrize(
    ("age", "equal", "hierarchical"),
    [("[20,30[", 4 / 9, 4 / 9), ("[30,40[", 4 / 9, 8 / 27), (">=40", 4 / 9, 8 / 27)],
)
def test_disease_t_of_a_class(age: str, equal: float, hierarchical: float, diseases: Any) -> None:
    """A17. Disease at equal distances (pycanon prints only the largest) and over its hierarchy.

    No peer prints the hierarchical one: it is worked out from the definition.
    """
    table = one_class(NINE_PATIENTS, age)
    assert sievert.t_closeness(table, ["in class"], sensitive="Disease") == close(equal)
    value = sievert.t_closeness_hierarchical(
        table, ["in class"], sensitive="Disease", hierarchy=diseases
    )
    assert value == close(hierarchical)


def test_nine_patients(diseases: Any) -> None:
    """A17. The table: t of Salary 0.375, of Disease 4/9 both ways, k = 3, l = 3."""
    quasi = ["ZIPCode", "Age"]
    assert sievert.k_anonymity(NINE_PATIENTS, quasi) == 3
    for secret in ("Salary", "Disease"):
        assert sievert.l_diversity(NINE_PATIENTS, quasi, sensitive=secret) == 3
    ordered = sievert.t_closeness_ordered(NINE_PATIENTS, quasi, sensitive="Salary")
    equal = sievert.t_closeness(NINE_PATIENTS, quasi, sensitive="Disease")
    hierarchical = sievert.t_closeness_hierarchical(
        NINE_PATIENTS, quasi, sensitive="Disease", hierarchy=diseases
    )
    assert ordered == close(0.375)
    assert equal == close(0.44444444444444453)
    assert hierarchical == close(4 / 9)


def test_salary_with_a_given_order() -> None:
    """A17. The same distance when the order of Salary is given instead of a number's type."""
    table = {**NINE_PATIENTS, "Salary": [str(value) for value in NINE_PATIENTS["Salary"]]}
    order = [str(value) for value in range(3, 12)]
    value = sievert.t_closeness_ordered(table, ["ZIPCode", "Age"], sensitive="Salary", order=order)
    assert value == close(0.375)


# A18, A27: piflib's cell information gain. Its mean over the records of one column is the mutual
# information of that column with all the other columns together.

PIFLIB_TESTED: Columns = {
    "A": [1, 1, 2, 2],
    "B": ["a", "a", "b", "b"],
    "C": ["blue", "green", "red", "cyan"],
}
PIFLIB_RUN: Columns = {"A": [1, 1, 2, 2], "B": ["a", "b", "b", "b"], "C": ["p", "q", "r", "s"]}


@pytest.mark.parametrize(
    ("table", "column", "gains", "places"),
    [
        pytest.param(PIFLIB_TESTED, "A", [1, 1, 1, 1], 12, id="A18 tested A"),
        pytest.param(PIFLIB_TESTED, "B", [1, 1, 1, 1], 12, id="A18 tested B"),
        pytest.param(PIFLIB_TESTED, "C", [1, 1, 1, 1], 12, id="A18 tested C"),
        pytest.param(PIFLIB_RUN, "A", [1, 1, 1, 1], 12, id="A18 run A"),
        pytest.param(PIFLIB_RUN, "B", [2, 0.415037, 0.415037, 0.415037], 6, id="A18 run B"),
        pytest.param(PIFLIB_RUN, "C", [2, 2, 1, 1], 12, id="A18 run C"),
    ],
)
def test_cell_information_gain(
    table: Columns, column: str, gains: list[float], places: int
) -> None:
    """A18. The mean of the printed gains (six decimals where they are not whole)."""
    others = [name for name in table if name != column]
    information = sievert.mutual_information(table, others, sensitive=column)
    assert information == digits(sum(gains) / len(gains), places)


@pytest.mark.parametrize(
    ("column", "gain"),
    [
        ("marital-status", 0.21412389457225087),
        ("native-country", 0.2961168285073502),
        ("race", 0.2248701357850778),
        ("workclass", 0.2738963223259595),
        ("occupation", 0.3962645195393265),
    ],
)
def test_adult_cell_information_gain(column: str, gain: float, reference: Path) -> None:
    """A27. Mean gain of each of five columns of Adult. piflib averages 30,162 doubles."""
    others = [name for name in [*QI4, "occupation"] if name != column]
    information = sievert.mutual_information(adult(reference), others, sensitive=column)
    assert information == close(gain, 1e-10)


# A21: pycanon on original and protected tables.


class Pycanon(NamedTuple):
    """A row of A21: a file, its roles, and what pycanon prints for it."""

    file: str
    quasi: list[str]
    secret: str
    rows: int
    k: int
    alpha: float
    diversity: int
    entropy_l: int
    beta: float
    enhanced_beta: float
    delta: float
    t: float
    classes: int
    class_risk: float
    highest_risk: float

    @property
    def label(self) -> str:
        return f"A21 {self.file} {self.secret}"


ANONYMIZED_3 = ["age", "education", "occupation", "relationship", "sex", "native-country"]
PYCANON = [
    Pycanon(
        file="pairs/pycanon/StudentsMath_Score.csv",
        quasi=STUDENT,
        secret="Score",
        rows=216,
        k=1,
        alpha=1,
        diversity=1,
        entropy_l=1,
        beta=71,
        enhanced_beta=5.375278407684165,
        delta=4.276666119016055,
        t=0.4165919952210274,
        classes=46,
        class_risk=0.27007497333584285,
        highest_risk=1,
    ),
    Pycanon(
        file="pairs/pycanon/StudentsMath_Score_k2.csv",
        quasi=STUDENT,
        secret="Score",
        rows=215,
        k=2,
        alpha=0.5,
        diversity=2,
        entropy_l=1,
        beta=70.66666666666667,
        enhanced_beta=5.3706380281276624,
        delta=4.272025739459553,
        t=0.4172293073268318,
        classes=45,
        class_risk=0.2538544171877505,
        highest_risk=0.5,
    ),
    Pycanon(
        file="pairs/pycanon/StudentsMath_Score_k5.csv",
        quasi=STUDENT,
        secret="Score",
        rows=154,
        k=5,
        alpha=0.5,
        diversity=4,
        entropy_l=3,
        beta=29.8,
        enhanced_beta=5.0369526024136295,
        delta=3.427514689979529,
        t=0.31023287057769827,
        classes=25,
        class_risk=0.17027128427128427,
        highest_risk=0.2,
    ),
    Pycanon(
        file="pairs/pycanon/StudentsMath_Score_k7.csv",
        quasi=STUDENT,
        secret="Score",
        rows=64,
        k=7,
        alpha=0.2857142857142857,
        diversity=6,
        entropy_l=5,
        beta=8.142857142857142,
        enhanced_beta=4.1588830833596715,
        delta=2.2129729343043585,
        t=0.19748883928571426,
        classes=8,
        class_risk=0.12793109668109667,
        highest_risk=0.14285714285714285,
    ),
    Pycanon(
        file="pairs/pycanon/adult_anonymized_3.csv.gz",
        quasi=ANONYMIZED_3,
        secret="salary-class",
        rows=18203,
        k=3,
        alpha=1,
        diversity=1,
        entropy_l=1,
        beta=2.491177598772535,
        enhanced_beta=1.2502391001524518,
        delta=2.9206129677828674,
        t=0.7135636982914904,
        classes=2837,
        class_risk=0.21766540099873902,
        highest_risk=0.3333333333333333,
    ),
    Pycanon(
        file="pairs/hospital/hospital_anonymized.csv",
        quasi=["age", "gender", "city"],
        secret="disease",
        rows=13,
        k=2,
        alpha=1,
        diversity=1,
        entropy_l=1,
        beta=3.333333333333333,
        enhanced_beta=2.5649493574615367,
        delta=1.466337068793427,
        t=0.6153846153846154,
        classes=5,
        class_risk=0.39999999999999997,
        highest_risk=0.5,
    ),
    Pycanon(
        file="adult/adult.csv",
        quasi=QI4,
        secret="occupation",
        rows=30162,
        k=1,
        alpha=1,
        diversity=1,
        entropy_l=1,
        beta=477.7619047619047,
        enhanced_beta=8.11711355558441,
        delta=6.171203406529098,
        t=0.9952589350838804,
        classes=720,
        class_risk=0.5787230357756378,
        highest_risk=1,
    ),
    Pycanon(
        file="pairs/arx_adult/adult_qi4_k10_l5_s5.csv.gz",
        quasi=QI4,
        secret="occupation",
        rows=28790,
        k=10,
        alpha=0.625,
        diversity=5,
        entropy_l=3,
        beta=112.16823899371069,
        enhanced_beta=8.188341841926386,
        delta=4.728875552140255,
        t=0.6552159314576821,
        classes=125,
        class_risk=0.04223833686132397,
        highest_risk=0.1,
    ),
    Pycanon(
        file="pairs/arx_adult/adult_qi4_k10_s0.csv.gz",
        quasi=QI4,
        secret="occupation",
        rows=30162,
        k=92,
        alpha=0.23529411764705882,
        diversity=12,
        entropy_l=8,
        beta=29.746177370030587,
        enhanced_beta=8.11711355558441,
        delta=3.4257656733552673,
        t=0.25070128552194954,
        classes=10,
        class_risk=0.0039303695149795845,
        highest_risk=0.010869565217391304,
    ),
    Pycanon(
        file="pairs/arx_adult/adult_qi4_k10_s5.csv.gz",
        quasi=QI4,
        secret="occupation",
        rows=28810,
        k=10,
        alpha=0.625,
        diversity=3,
        entropy_l=2,
        beta=112.24685534591194,
        enhanced_beta=8.189036286398737,
        delta=4.729569996612607,
        t=0.664803887539049,
        classes=127,
        class_risk=0.04314796935169683,
        highest_risk=0.1,
    ),
    Pycanon(
        file="pairs/arx_adult/adult_qi4_k15_s5.csv.gz",
        quasi=QI4,
        secret="occupation",
        rows=29374,
        k=15,
        alpha=0.8095238095238095,
        diversity=3,
        entropy_l=1,
        beta=110.9435975609756,
        enhanced_beta=8.208423666633971,
        delta=4.717995151243874,
        t=0.7422712667827396,
        classes=78,
        class_risk=0.022791861024893084,
        highest_risk=0.06666666666666667,
    ),
    Pycanon(
        file="pairs/arx_adult/adult_qi8_k5_s5.csv.gz",
        quasi=QI8,
        secret="occupation",
        rows=28816,
        k=5,
        alpha=0.8333333333333334,
        diversity=2,
        entropy_l=1,
        beta=165.24615384615385,
        enhanced_beta=8.189244525735901,
        delta=5.113469544508374,
        t=0.8858967240421987,
        classes=397,
        class_risk=0.08412904458656971,
        highest_risk=0.2,
    ),
    Pycanon(
        file="pairs/arx_small/test2_k3.csv",
        quasi=["ZIPCode", "Age"],
        secret="Salary",
        rows=9,
        k=3,
        alpha=0.3333333333333333,
        diversity=3,
        entropy_l=2,
        beta=2,
        enhanced_beta=2,
        delta=1.0986122886681098,
        t=0.37500000000000006,
        classes=3,
        class_risk=0.3333333333333333,
        highest_risk=0.3333333333333333,
    ),
    Pycanon(
        file="pairs/arx_small/test2_k3.csv",
        quasi=["ZIPCode", "Age"],
        secret="Disease",
        rows=9,
        k=3,
        alpha=0.3333333333333333,
        diversity=3,
        entropy_l=2,
        beta=2,
        enhanced_beta=2,
        delta=1.0986122886681098,
        t=0.44444444444444453,
        classes=3,
        class_risk=0.3333333333333333,
        highest_risk=0.3333333333333333,
    ),
]

# pycanon cuts exp(entropy) off without allowing for rounding, and so prints one less where the
# exact value is a whole number: a class with two (here: three) secrets, all equally frequent.
ENTROPY_L_WHOLE = {
    ("pairs/pycanon/StudentsMath_Score_k2.csv", "Score"): 2,
    ("pairs/arx_small/test2_k3.csv", "Salary"): 3,
    ("pairs/arx_small/test2_k3.csv", "Disease"): 3,
}
NUMERIC = ("Score", "Salary")


@pytest.mark.parametrize("peer", PYCANON, ids=lambda peer: peer.label)
def test_pycanon(peer: Pycanon, reference: Path, tmp_path: Path) -> None:
    """A21. One assessment of each table, written as plain CSV without the suppressed records.

    Definitions that differ, and what is asserted instead:
    - pycanon's (c,l) takes the rarest value where the published definition takes the most frequent
      one: its c is not compared. Where a class has one value only (l = 1) ours is unbounded.
    - Its delta skips the values a class lacks: our delta_disclosure_present. Over all values delta
      is unbounded, for in each of these tables some class lacks a value.
    - Its average risk is the mean over classes, our average_class_risk; average_risk is K/N.
    - t of a number is the ordered distance, of anything else the equal one.
    """
    delimiter = ";" if "arx_" in peer.file or peer.file == "adult/adult.csv" else ","
    columns = read_columns(reference / "data" / peer.file, delimiter)
    if "arx_adult" in peer.file:
        columns = without_suppressed(columns, peer.quasi)
    numeric = peer.secret in NUMERIC
    if numeric:
        columns[peer.secret] = whole_numbers(columns[peer.secret])
    result = sievert.assess(
        write_columns(tmp_path / "table.csv", columns),
        quasi=peer.quasi,
        sensitive=[peer.secret],
        types={peer.secret: "int"} if numeric else {},
    )
    record, secret = result.reidentification, result.inference[peer.secret]

    assert result.rows == peer.rows
    assert record["k_anonymity"].value == peer.k
    assert record["classes"].value == peer.classes
    assert record["highest_risk"].value == close(peer.highest_risk)
    assert record["average_class_risk"].value == close(peer.class_risk)
    assert record["average_risk"].value == close(peer.classes / peer.rows)

    assert secret["alpha_k"].value == close(peer.alpha)
    assert secret["max_confidence"].value == close(peer.alpha)
    assert secret["l_diversity"].value == peer.diversity
    assert secret["beta_likeness"].value == close(peer.beta)
    assert secret["enhanced_beta_likeness"].value == close(peer.enhanced_beta)
    assert secret["delta_disclosure_present"].value == close(peer.delta)
    assert secret["delta_disclosure"].value is None
    assert secret["delta_disclosure"].reason == "unbounded"
    assert secret["t_closeness_ordered" if numeric else "t_closeness"].value == close(peer.t)
    assert ("t_closeness_ordered" in secret) == numeric

    whole = ENTROPY_L_WHOLE.get((peer.file, peer.secret))
    if whole is None:
        assert floor(secret["entropy_l"].value + DOUBLE) == peer.entropy_l
    else:
        assert secret["entropy_l"].value == close(whole)
        assert peer.entropy_l == whole - 1
    if peer.diversity == 1:
        assert secret["recursive_c"].value is None
        assert secret["recursive_c"].reason == "unbounded"
    else:
        assert secret["recursive_c"].reason is None


@pytest.mark.parametrize(("rank", "c"), [(2, 1 / 2), (3, 1)])
def test_recursive_c_by_hand(rank: int, c: float) -> None:
    """A21, test2_k3: every class has three values once, so r_1 / (r_l + ... + r_3) = 1 / (4 - l).

    pycanon prints (2, 3) there, under its own definition.
    """
    value = sievert.recursive_c(NINE_PATIENTS, ["ZIPCode", "Age"], sensitive="Disease", l=rank)
    assert value == close(c)


def test_enhanced_beta_by_hand() -> None:
    """A21, test2_k3: Salary has p = 1/9 and 1/3 in a class: gain 2, below -ln(1/9) = 2.197.

    pycanon's reading, and ours: the basic beta of the table against -ln p of each value.
    """
    quasi = ["ZIPCode", "Age"]
    assert log(9) > 2
    assert sievert.beta_likeness(NINE_PATIENTS, quasi, sensitive="Salary") == close(2)
    assert sievert.enhanced_beta_likeness(NINE_PATIENTS, quasi, sensitive="Salary") == close(2)


# A22, A24: ARX's risks of Adult and of its own outputs.


def assert_at_risk(data: Columns | Path, quasi: list[str], rows: int, shares: list[float]) -> None:
    """ARX's shares of records at a risk above 0.05, 0.1 and 0.2: in classes below 20, 10 and 5."""
    for k, share in zip((20, 10, 5), shares, strict=True):
        assert sievert.records_below(data, quasi, k=k) / rows == close(share), k


class Input(NamedTuple):
    """A row of A22: Adult before anonymisation; the highest risk is 1."""

    quasi: list[str]
    classes: int
    average_risk: float
    lowest_risk: float
    at_risk_1: int
    uniques: float
    at_risk: list[float]


INPUTS = [
    Input(
        quasi=QI4,
        classes=720,
        average_risk=0.023871096081161728,
        lowest_risk=1.2591286829513975e-4,
        at_risk_1=321,
        uniques=0.010642530336184603,
        at_risk=[0.06886148133412903, 0.04482461375240369, 0.02761753199389961],
    ),
    Input(
        quasi=QI8,
        classes=12458,
        average_risk=0.4130362708043233,
        lowest_risk=0.0072992700729927005,
        at_risk_1=8841,
        uniques=0.29311716729659837,
        at_risk=[0.7394403554140973, 0.6332471321530403, 0.5090179696306611],
    ),
]


@pytest.mark.parametrize("peer", INPUTS, ids=["A22 QI4", "A22 QI8"])
def test_arx_input(peer: Input, reference: Path) -> None:
    """A22. Population models are not part of this test."""
    data = adult(reference)
    result = sievert.assess(data, quasi=peer.quasi)
    assert result.rows == 30162
    assert result.reidentification["classes"].value == peer.classes
    assert result.reidentification["average_risk"].value == close(peer.average_risk)
    assert result.reidentification["highest_risk"].value == 1
    assert result.reidentification["lowest_risk"].value == close(peer.lowest_risk)
    assert result.reidentification["unique_records"].value == close(peer.uniques)
    assert sievert.records_below(data, peer.quasi, k=2) == peer.at_risk_1
    assert_at_risk(data, peer.quasi, 30162, peer.at_risk)


class Output(NamedTuple):
    """A row of A24: an ARX output without its suppressed records."""

    name: str
    quasi: list[str]
    kept: int
    suppressed: int
    classes: int
    average_risk: float
    highest_risk: float
    lowest_risk: float
    at_highest: int
    at_risk: list[float]


OUTPUTS = [
    Output(
        name="adult_qi4_k10_s0",
        quasi=QI4,
        kept=30162,
        suppressed=0,
        classes=10,
        average_risk=3.315430011272462e-4,
        highest_risk=0.010869565217391304,
        lowest_risk=7.543184732594101e-5,
        at_highest=92,
        at_risk=[0.0, 0.0, 0.0],
    ),
    Output(
        name="adult_qi4_k10_s5",
        quasi=QI4,
        kept=28810,
        suppressed=1352,
        classes=127,
        average_risk=0.00440819160013884,
        highest_risk=0.1,
        lowest_risk=1.2591286829513975e-4,
        at_highest=140,
        at_risk=[0.02516487330787921, 0.0, 0.0],
    ),
    Output(
        name="adult_qi4_k15_s5",
        quasi=QI4,
        kept=29374,
        suppressed=788,
        classes=78,
        average_risk=0.00265540954585688,
        highest_risk=0.06666666666666667,
        lowest_risk=1.2025012025012025e-4,
        at_highest=45,
        at_risk=[0.005583168788724722, 0.0, 0.0],
    ),
    Output(
        name="adult_qi4_k10_l5_s5",
        quasi=QI4,
        kept=28790,
        suppressed=1372,
        classes=125,
        average_risk=0.004341785342132685,
        highest_risk=0.1,
        lowest_risk=1.2591286829513975e-4,
        at_highest=120,
        at_risk=[0.024487669329628342, 0.0, 0.0],
    ),
    Output(
        name="adult_qi8_k5_s5",
        quasi=QI8,
        kept=28816,
        suppressed=1346,
        classes=397,
        average_risk=0.01377706829539145,
        highest_risk=0.2,
        lowest_risk=5.934718100890207e-4,
        at_highest=240,
        at_risk=[0.07232093281510273, 0.033002498611882286, 0.0],
    ),
]


@pytest.mark.parametrize("peer", OUTPUTS, ids=lambda peer: f"A24 {peer.name}")
def test_arx_output(peer: Output, reference: Path) -> None:
    """A24. ARX leaves suppressed records out of every figure, and so do we.

    Kept, they are one more class of their own: `*` is a value like any other.
    """
    data = release_file(reference, peer.name)
    result = sievert.assess(data, quasi=peer.quasi)
    assert result.reidentification["suppressed_records"].value == peer.suppressed
    assert result.rows == peer.kept == 30162 - peer.suppressed
    assert result.reidentification["classes"].value == peer.classes
    assert result.reidentification["average_risk"].value == close(peer.average_risk)
    assert result.reidentification["highest_risk"].value == close(peer.highest_risk)
    assert result.reidentification["lowest_risk"].value == close(peer.lowest_risk)
    assert result.reidentification["largest_class"].value == round(1 / peer.lowest_risk)
    smallest = round(1 / peer.highest_risk)
    assert result.reidentification["k_anonymity"].value == smallest
    assert sievert.records_below(data, peer.quasi, k=smallest + 1) == peer.at_highest
    assert_at_risk(data, peer.quasi, peer.kept, peer.at_risk)
    one_more = int(peer.suppressed > 0)
    kept = sievert.classes(data, peer.quasi, keep_suppressed=True)
    assert kept == peer.classes + one_more


# A26: entropies, mutual information and discrimination rates of Adult and its releases, in bits.

ADULT_ENTROPY: Mapping[str, float] = {
    "sex": 0.9090126675,
    "age": 5.6447801770,
    "race": 0.7749829346,
    "marital-status": 1.8197439400,
    "education": 2.9132823664,
    "native-country": 0.8317375510,
    "workclass": 1.4114405348,
    "occupation": 3.3965955038,
    "salary-class": 0.8095658330,
}


@pytest.mark.parametrize(("column", "bits"), ADULT_ENTROPY.items())
def test_adult_entropy(column: str, bits: float, reference: Path) -> None:
    """A26. H of each column, ten decimals. What the attacker knows does not change it."""
    other = "sex" if column != "sex" else "race"
    assert sievert.entropy(adult(reference), [other], sensitive=column) == digits(bits, 10)


@pytest.mark.parametrize(
    ("quasi", "information", "places", "rate"),
    [
        (["marital-status"], 0.076957517992, 12, 0.02265725132885181),
        (["native-country"], 0.042911586248, 12, 0.012633705190828546),
        (["race"], 0.019337676920, 12, 0.005693252816831608),
        (["workclass"], 0.168189372135, 12, 0.04951704491940465),
        (QI4, 0.3962645195393264, 11, 0.11666520758675877),
    ],
    ids=["marital-status", "native-country", "race", "workclass", "QI4"],
)
def test_adult_information(
    quasi: list[str], information: float, places: int, rate: float, reference: Path
) -> None:
    """A26. I(occupation; Q), twelve decimals or a double, and scikit-learn's homogeneity score.

    The score is 1 - H(X|Q)/H(X), the discrimination rate; the concatenated key is the combined one.
    """
    result = sievert.assess(adult(reference), quasi=quasi, sensitive=["occupation"])
    secret = result.inference["occupation"]
    assert secret["mutual_information"].value == digits(information, places)
    assert secret["discrimination_rate"].value == close(rate)


class Release(NamedTuple):
    """An ARX output in A26: I(occupation; Q'), its rate, and I(original Q; released Q')."""

    name: str
    quasi: list[str]
    information: float
    rate: float
    identity: float


RELEASES = [
    Release("adult_qi4_k10_l5_s5", QI4, 0.2971433982003383, 0.08748271552138548, 4.193132482032508),
    Release("adult_qi4_k10_s0", QI4, 0.08244218385596828, 0.02427200523691534, 1.7595443410585447),
    Release("adult_qi4_k10_s5", QI4, 0.2981631735510722, 0.08778295007966373, 4.198790107502896),
    Release("adult_qi4_k15_s5", QI4, 0.271147097549097, 0.0798290809858215, 3.9840626264733827),
    Release("adult_qi8_k5_s5", QI8, 0.6088138570871477, 0.1792423785539508, 6.563237518475455),
]


@pytest.mark.parametrize("peer", RELEASES, ids=lambda peer: f"A26 {peer.name}")
def test_release_information(peer: Release, reference: Path) -> None:
    """A26. All 30,162 records, `*` as a value."""
    data = released(reference, peer.name)
    result = sievert.assess(data, peer.quasi, ["occupation"], keep_suppressed=True)
    assert result.rows == 30162
    secret = result.inference["occupation"]
    assert secret["mutual_information"].value == close(peer.information)
    assert secret["discrimination_rate"].value == close(peer.rate)


@pytest.mark.parametrize("peer", RELEASES, ids=lambda peer: f"A26 {peer.name}")
def test_release_identity(peer: Release, reference: Path) -> None:
    """A26. I(original Q; released Q'): the files are aligned by row, so they are joined by row.

    The secret is the original combination, written so that no two combinations look alike.
    """
    data = released(reference, peer.name)
    original = read_columns(adult(reference), ";")
    combinations = zip(*(original[name] for name in peer.quasi), strict=True)
    joined = {name: data[name] for name in peer.quasi}
    joined["original"] = [repr(combination) for combination in combinations]
    information = sievert.mutual_information(
        joined, peer.quasi, sensitive="original", keep_suppressed=True
    )
    assert information == close(peer.identity)
