# SPDX-License-Identifier: Apache-2.0
"""Scenarios of single sequences: the effects of flags, ids and errors."""

from sequence_scenario import both
from sequences import CONTROLS


# One sequence: the table of flags.

@both()
def start_and_end_in_one(p):
    p.send("a", 1, 5, "SE")
    p.send("b", 1, 6, "")


@both()
def one_after_the_other(p):
    for name, value, flags in (("a", 1, "S"), ("b", 2, ""), ("c", 3, "E")):
        p.send(name, 7, value, flags)
        p.gone(name)


@both()
def all_queued_at_once(p):
    p.begin_held("a", 7, 1)
    for i, flags in enumerate(("", "", "", "E")):
        p.send(f"b{i}", 7, 2 + i, flags)


@both()
def missing_start(p):
    p.send("a", 5, 1)
    p.send("b", 5, 2, "S")
    p.send("c", 6, 3)


@both()
def end_alone(p):
    p.send("a", 5, 1, "E")
    p.send("b", 5, 2, "E")


@both()
def end_twice(p):
    p.send("a", 5, 1, "S")
    p.send("b", 5, 2, "E")
    p.send("c", 5, 3, "E")


@both()
def after_the_end(p):
    p.send("a", 5, 1, "S")
    p.send("b", 5, 2, "E")
    p.send("c", 5, 3)
    p.send("d", 5, 4, "S")
    p.send("e", 5, 5, "E")


@both()
def start_twice(p):
    p.send("a", 5, 1, "S")
    p.gone("a")
    p.send("b", 5, 2)
    p.gone("b")
    p.send("c", 5, 3, "S")
    p.gone("c")
    p.send("d", 5, 4, "E")


@both()
def start_twice_while_the_first_waits(p):
    p.begin_held("a", 5, 1)
    p.send("b", 5, 2)
    p.send("c", 5, 3, "S")
    p.send("d", 5, 4)
    p.send("e", 5, 5, "E")


@both()
def start_and_end_on_a_live_sequence(p):
    p.send("a", 5, 1, "S")
    p.gone("a")
    p.send("b", 5, 2, "SE")
    p.gone("b")
    p.send("c", 5, 3)


@both()
def no_id(p):
    p.send("a", None, 1, "S")
    p.send("b", 0, 2, "SE")
    p.send("c", "", 3, "SE")
    p.send("d", None, 4)


@both()
def batches_of_clients(p):
    p.send("a", 5, 1, "S", batch=2)
    p.send("b", 5, 2, "S")
    p.send("c", 5, 3, "", batch=3)
    p.send("d", 5, 4, "E")


@both()
def invalid_requests_leave_the_sequence_alone(p):
    p.send("a", 5, 1, "S")
    p.send("b", 5, 2, "", dim=3)
    p.send("c", 5, 3)
    p.gone("c")
    p.send("d", 5, 4, "E", dim=2)
    p.send("e", 5, 5, "E")


@both()
def an_invalid_start_starts_nothing(p):
    p.send("a", 5, 1, "S", dim=3)
    p.send("b", 5, 2)


@both()
def an_error_leaves_the_sequence_alone(p):
    p.send("a", 5, 1, "S")
    p.gone("a")
    p.send("b", 5, 2, fail="as asked")
    p.gone("b")
    p.send("c", 5, 3, "E")


@both()
def an_error_at_the_start(p):
    p.send("a", 5, 1, "S", fail="as asked")
    p.gone("a")
    p.send("b", 5, 2, "E")
    p.gone("b")
    p.send("c", 5, 3)


@both()
def an_error_at_the_end(p):
    p.send("a", 5, 1, "S")
    p.gone("a")
    p.send("b", 5, 2, "E", fail="as asked")
    p.gone("b")
    p.send("c", 5, 3)


@both()
def the_largest_id(p):
    p.send("a", 2**63 - 1, 1, "S")
    p.send("b", 1, 2, "S")
    p.gone("a", "b")
    p.send("c", 2**63 - 1, 3, "E")


@both()
def an_id_used_again_at_once(p):
    p.begin_held("a", 5, 1)
    p.send("b", 5, 2, "E")
    p.send("c", 5, 3, "S")
    p.send("d", 5, 4, "E")


# Text ids.

NO_CORRID = "".join(CONTROLS[name] for name in ("START", "READY", "END"))


@both(controls=NO_CORRID)
def text_ids(p):
    p.send("a", "first", 1, "S")
    p.send("b", "second", 2, "S")
    p.gone("a", "b")
    p.send("c", "first", 3, "E")
    p.send("d", "second", 4, "E")
    p.send("e", "first", 5)


@both(controls=NO_CORRID)
def a_number_is_not_its_text(p):
    p.send("a", "1", 1, "S")
    p.send("b", 1, 2)
    p.send("c", 1, 3, "S")
    p.gone("a", "c")
    p.send("d", "1", 4, "E")
    p.send("e", 1, 5, "E")


@both(controls=NO_CORRID)
def long_text_ids(p):
    p.send("a", "x" * 128, 1, "S")
    p.send("b", "x" * 129, 2, "SE")
    p.gone("a")
    p.send("c", "x" * 128, 3, "E")
    p.send("d", "\N{SNOWMAN}" * 42, 4, "SE")
    p.send("e", "\N{SNOWMAN}" * 43, 5, "SE")
