"""Sheets, tables and files that would be released with the table, though nobody examined them."""

from typing import TYPE_CHECKING

from sievert.counts.questions import Questions

if TYPE_CHECKING:
    from sievert.policy import Gate


def judge_other_tables(gate: "Gate | None", questions: Questions) -> None:
    """Make a policy undecided about a file with more than the table of these `questions`.

    A planned release is a file of its own, with nothing else.
    """
    if gate is None:
        return
    from sievert.policy import FILE
    from sievert.policy.judgement import OTHER_TABLES

    if gate.question == FILE and questions.engine.not_read:
        gate.undecided(OTHER_TABLES)
