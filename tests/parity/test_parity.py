# SPDX-License-Identifier: Apache-2.0
"""Sends each row of the table through each of its doors: the status and the text must be the same.
"""

import pytest
import table
from asks import Outcome


def through(door, row) -> Outcome:
    """Returns the outcome of the row's operation, which is done between the operations `before` and
    `after`."""
    def do(question):
        return getattr(door, question.operation)(**question.arguments)

    try:
        for question in row.before:
            do(question)
        return do(row.ask)
    finally:
        for question in row.after:
            do(question)


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.name)
def test_row(row, doors, record):
    if row.server not in doors:
        pytest.skip("the server under test lacks the flags")
    present = doors[row.server]
    outcomes = {name: through(present[name], row) for name in row.doors if name in present}
    record(row, outcomes)
    common = {}
    for name, outcome in outcomes.items():
        code, text = row.differs.get(name, (row.code, None))
        status = present[name].status[code]
        assert outcome.status == status, f"{name}: {outcome}, not {status}; all: {outcomes}"
        if text is None:
            common[name] = outcome
        else:
            assert outcome.text == text, name
    first = next(iter(common.values()), None)
    for name, outcome in common.items():
        assert outcome.text == first.text, f"{name} and {next(iter(common))} differ"
        assert outcome.answer == first.answer, f"{name} and {next(iter(common))} differ"
        if row.code != "OK":
            assert outcome.text, f"{name}: an error without words"


def test_the_table():
    """No row occurs twice, and no row has differences for doors that it does not use."""
    names = [row.name for row in table.ROWS]
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
    assert len(names) >= 150
    for row in table.ROWS:
        assert set(row.differs) <= set(row.doors), row.name
        assert bool(row.differs) == bool(row.why), f"{row.name}: a difference needs a reason"
