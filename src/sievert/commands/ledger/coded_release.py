"""A release as a ledger keeps it: people and the values of secrets as keyed hashes."""

from collections.abc import Callable, Sequence

import numpy as np

from sievert.arrays import Ints
from sievert.commands.ledger.keys import join_key
from sievert.commands.ledger.store import LedgerRelease, Pseudonyms, Secret
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.sightings import class_numbers
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.formatting.canonical import canonical_text
from sievert.roles import Roles


def code_release(
    questions: Questions,
    roles: Roles,
    person: Sequence[str],
    pseudonyms: Pseudonyms,
    *,
    name: str,
    date: str,
) -> LedgerRelease:
    """Code the people of each class and their values by keyed hashes; each such row once."""
    columns = (*roles.quasi, *roles.sensitive, *person)
    questions.check_usable(columns)
    cube = questions.cube(columns)
    lacking = np.any([codes == 0 for codes in cube.codes[-len(person) :]], axis=0)
    number = int(cube.counts[lacking].sum())
    require(not number, f"{plural(number, 'record')} without a person", error=InputError)
    secrets = {
        secret: _secret(cube, place, secret, pseudonyms)
        for place, secret in enumerate(roles.sensitive, len(roles.quasi))
    }
    # These texts are the same for the same columns and values only.
    words = ["".join(f"{len(name)}:{name}" for name in columns)]
    for texts in cube.values:
        plain = ["" if text is None else text for text in texts]
        words.append("\0".join(f"{len(text)}:{text}" for text in plain))
    parts = [each.encode("utf-8", "surrogatepass") for each in words]
    parts += [codes.astype("<u4").tobytes() for codes in cube.codes]
    by_role = {
        "quasi": list(roles.quasi),
        "sensitive": list(roles.sensitive),
        "person": list(person),
    }
    return LedgerRelease(
        name=name,
        date=date,
        digest=pseudonyms.digest([*parts, cube.counts.astype("<u8").tobytes()]),
        roles=by_role,
        people=_people(cube, len(person), pseudonyms, str),
        alike=_people(cube, len(person), pseudonyms, canonical_text),
        classes=class_numbers(cube.codes[: len(roles.quasi)], len(cube.counts)),
        rows=cube.counts,
        secrets=secrets,
        suppressed=questions.suppression.records,
    )


def _secret(cube: Cube, place: int, name: str, pseudonyms: Pseudonyms) -> Secret:
    """Code a secret of some cells: hash its values as spelt, and their canonical texts."""
    known = [text for text in cube.values[place] if text is not None]
    return Secret(
        rows=cube.codes[place].astype(np.int64),
        codes=pseudonyms.values(name, known),
        alike=pseudonyms.values(name, [canonical_text(text) for text in known]),
    )


def _people(cube: Cube, columns: int, pseudonyms: Pseudonyms, spell: Callable[[str], str]) -> Ints:
    """The keyed hash of the person of each cell: of one column, or of several together.

    `spell` writes the texts of the key before they are hashed.
    """
    if columns == 1:
        texts = [spell("" if text is None else text) for text in cube.values[-1]]
        return pseudonyms.people(texts)[cube.codes[-1]]
    own = cube.select_columns(cube.columns[-columns:])
    stacked = np.stack([codes.astype(np.int64) for codes in own.codes], axis=1)
    different, place = np.unique(stacked, axis=0, return_inverse=True)
    spelt = [[spell("" if text is None else text) for text in texts] for texts in own.values]
    keys = [
        join_key([texts[code] for texts, code in zip(spelt, row, strict=True)])
        for row in different.tolist()
    ]
    return pseudonyms.people(keys)[place.reshape(-1)]
