"""Every paper: a proof where a claim does not hold, and the data that an open one lacks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sievert.papers import NAMES
from sievert.papers.claims import CONTRADICTS, DIFFERS, FALSE, OPEN, Claim, Paper

# A proof names a place of the paper, a formula or a number; no mere "it goes another way".
PROOF = re.compile(
    r"\d|=|[Ss]ection|[Tt]able|[Ee]quation|[Aa]lgorithm|formula|defin|two names|printed"
)
# What nobody has published: numbers of a drawing, records, frequencies, a scale, a prior.
LACKING = re.compile(
    r"(not|neither) (\w+ ){0,7}(published|printed|given|say)|are not published|does not say"
)


@pytest.fixture(scope="module", params=NAMES)
def claims(request: pytest.FixtureRequest, plain_paper: Callable[[str], Paper]) -> list[Claim]:
    return [claim for part in plain_paper(request.param).parts for claim in part.claims]


def test_what_does_not_hold_has_its_proof(claims: list[Claim]) -> None:
    refuted = [claim for claim in claims if claim.state in (FALSE, CONTRADICTS)]
    assert refuted
    for claim in refuted:
        assert len(claim.why) > 60 and PROOF.search(claim.why), claim


def test_what_is_open_names_the_data_that_it_lacks(claims: list[Claim]) -> None:
    undecided = [claim for claim in claims if claim.state == OPEN]
    assert undecided
    for claim in undecided:
        assert LACKING.search(claim.why), claim


def test_nothing_merely_differs(claims: list[Claim]) -> None:
    assert DIFFERS not in {claim.state for claim in claims}
