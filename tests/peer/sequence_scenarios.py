# SPDX-License-Identifier: Apache-2.0
"""The scenarios of sequences that test_sequence_replay.py plays on Triton and on Nereid.

Each is a model of the witness backend and a function that plays requests to it. The first execution
is usually held at the gate while others arrive, so that what is batched does not depend on time.
In `oldest` the next request of a sequence is queued when the one before is done, a race with the
next batch that both servers have: there the rows are compared sequence by sequence, unless `exact`.
"""

from dataclasses import dataclass
from typing import Callable

from sequences import ALL_CONTROLS, CONTROLS, batching, parameter

DIRECT = "direct { }"
OLDEST = "oldest { max_candidate_sequences: 4 }"


@dataclass
class Scenario:
    """A model and what is played to it."""

    id: str
    play: Callable
    scheduling: str
    batch: int = 4
    count: int = 1
    dims: str = "1"
    datatype: str = "TYPE_INT32"
    extra: str = ""
    exact: bool = True  # the executions are compared as they are
    slow: bool = False  # real time passes
    raw: bool = False  # the control inputs are compared as they are
    anywhere: bool = False  # not compared: which instance it is
    renumber: bool = False  # the server chooses the ids


SCENARIOS: list[Scenario] = []


def direct(*, strategy=DIRECT, idle=60_000_000, controls=ALL_CONTROLS, **model):
    """The decorated function is a scenario of the strategy `direct`."""
    def add(play):
        SCENARIOS.append(Scenario("direct_" + play.__name__, play,
                                  batching(strategy, idle=idle, controls=controls), **model))
        return play
    return add


def oldest(*, strategy=OLDEST, idle=60_000_000, controls=ALL_CONTROLS, exact=False, **model):
    """The decorated function is a scenario of the strategy `oldest`."""
    def add(play):
        SCENARIOS.append(Scenario("oldest_" + play.__name__, play,
                                  batching(strategy, idle=idle, controls=controls), exact=exact,
                                  **model))
        return play
    return add


def both(**model):
    """A scenario of each strategy."""
    def add(play):
        direct(**model)(play)
        oldest(**model)(play)
        return play
    return add


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
    p.hold()
    p.send("a", 7, 1, "S")
    p.begun(1)
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
    p.hold()
    p.send("a", 5, 1, "S")
    p.begun(1)
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
    p.hold()
    p.send("a", 5, 1, "S")
    p.begun(1)
    p.send("b", 5, 2, "E")
    p.send("c", 5, 3, "S")
    p.send("d", 5, 4, "E")


# Ids that are texts.

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


# Slots and backlog.

@direct()
def together(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("a1", 1, 11)
    p.send("c0", 3, 30, "SE")
    p.send("b1", 2, 21, "E")
    p.send("a2", 1, 12, "E")


@direct()
def rows_stay_at_their_slots(p):
    p.hold()
    for i in range(3):
        p.send(f"{'abc'[i]}0", i + 1, i, "S")
    p.finish()
    p.send("c1", 3, 31)
    p.gone("c1")
    p.send("b1", 2, 21)
    p.gone("b1")
    p.hold()
    p.send("a1", 1, 11)
    p.begun(5)
    p.send("a2", 1, 12)
    p.send("c2", 3, 32)
    p.finish()
    p.send("b2", 2, 22, "E")
    p.gone("b2")
    p.send("c3", 3, 33, "E")
    p.gone("c3")
    p.send("a3", 1, 13, "E")


@direct()
def the_lowest_free_slot_is_next(p):
    for i in range(4):
        p.send(f"a{i}", i + 1, i, "S")
        p.gone(f"a{i}")
    p.send("b", 2, 5, "E")
    p.gone("b")
    p.send("c", 3, 6, "E")
    p.gone("c")
    p.send("d", 9, 7, "S")
    p.gone("d")
    p.send("e", 10, 8, "S")


@direct()
def a_slot_goes_to_the_backlog(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    for i, letter in enumerate("bcd"):
        p.send(f"{letter}0", i + 2, (i + 2) * 10, "S")
    p.send("e0", 5, 50, "S")
    p.send("e1", 5, 51, "E")
    p.send("f0", 6, 60, "SE")
    p.send("c1", 3, 31, "E")
    p.send("b1", 2, 21, "E")


@direct()
def two_slots_are_freed_together(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    for i, letter in enumerate("bcd"):
        p.send(f"{letter}0", i + 2, (i + 2) * 10, "S")
    p.send("e0", 5, 50, "S")
    p.send("f0", 6, 60, "S")
    p.send("d1", 4, 41, "E")
    p.send("b1", 2, 21, "E")
    p.finish()
    p.send("e1", 5, 51, "E")
    p.gone("e1")
    p.send("f1", 6, 61, "E")


@direct(batch=2)
def the_backlog_is_in_order(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    for i in range(3, 9):
        p.send(f"c{i}", i, i * 10, "S")
        p.send(f"d{i}", i, i * 10 + 1, "E")
    p.send("a1", 1, 11, "E")
    p.send("b1", 2, 21, "E")


@direct(batch=1)
def a_sequence_in_the_backlog_goes_on(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21)
    p.send("a1", 1, 11, "E")
    p.finish()
    p.send("b2", 2, 22)
    p.gone("b2")
    p.send("b3", 2, 23, "E")


@direct(batch=1)
def a_start_in_the_backlog_again(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21, "S")
    p.send("b2", 2, 22, "E")
    p.send("b3", 2, 23)
    p.send("b4", 2, 24, "SE")
    p.send("a1", 1, 11, "E")


@direct(batch=2)
def an_id_used_again_gets_another_slot(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("a1", 1, 11, "E")
    p.send("a2", 1, 12, "S")
    p.send("a3", 1, 13)
    p.finish()
    p.send("a4", 1, 14, "E")


@direct(batch=0)
def without_batching(p):
    p.hold()
    p.send("a0", 1, 10, "S", batch=None)
    p.begun(1)
    p.send("b0", 2, 20, "S", batch=None)
    p.send("a1", 1, 11, "E", batch=None)
    p.send("b1", 2, 21, "E", batch=None)


@direct(batch=2, count=2)
def slots_over_two_instances(p):
    for i in range(4):
        p.send(f"a{i}", i + 1, i, "S")
        p.gone(f"a{i}")
    for i in (3, 1, 2, 0):
        p.send(f"b{i}", i + 1, i, "E")
        p.gone(f"b{i}")


@direct(batch=1, count=3)
def three_instances_and_a_backlog(p):
    for i in range(3):
        p.send(f"a{i}", i + 1, i, "S")
        p.gone(f"a{i}")
    p.hold()
    p.send("b0", 4, 10, "S")
    p.send("b1", 4, 11)
    p.send("c0", 5, 20, "SE")
    p.send("d1", 2, 30, "E")
    p.begun(4)
    p.notes.open()
    p.gone("b0", "b1")
    p.send("b2", 4, 12, "E")


@direct(dims="-1")
def other_shapes_wait(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S", dim=2)
    p.send("c0", 3, 30, "S", dim=1)
    p.send("a1", 1, 11, dim=1)
    p.send("b1", 2, 21, "E", dim=1)
    p.send("c1", 3, 31, "E", dim=2)
    p.send("a2", 1, 12, "E", dim=3)


@direct(dims="-1")
def the_reference_is_the_lowest_slot(p):
    p.hold()
    p.send("a0", 1, 10, "S", dim=1)
    p.begun(1)
    p.send("b0", 2, 20, "S", dim=3)
    p.send("c0", 3, 30, "S", dim=2)
    p.send("d0", 4, 40, "S", dim=3)


# Oldest.

@oldest(exact=True)
def batches_of_different_sequences(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "SE")
    p.send("d0", 4, 40, "S")


@oldest(batch=2, exact=True)
def only_as_many_as_fit(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    p.send("d0", 4, 40, "S")


@oldest(batch=2)
def never_two_of_one_sequence(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    for letter in "abc":
        for i in range(1, 4):
            sequence = " abc".index(letter)
            p.send(f"{letter}{i}", sequence, sequence * 10 + i, "S" if i == 1 and letter != "a"
                   else "E" if i == 3 else "")


@oldest(strategy="oldest { max_candidate_sequences: 2 }")
def candidates_and_backlog(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    p.send("d0", 4, 40, "SE")
    p.send("c1", 3, 31, "E")
    p.send("b1", 2, 21, "E")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { max_candidate_sequences: 1 }")
def one_candidate(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21, "E")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { }", batch=2)
def candidates_by_the_batch_size(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    p.send("c1", 3, 31, "E")
    p.send("b1", 2, 21, "E")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { max_candidate_sequences: 4 preferred_batch_size: [ 2 ] }", exact=True)
def preferred_sizes(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    for i in (2, 3, 4):
        p.send(f"b{i}", i, i * 10, "S")


@oldest(strategy="oldest { max_candidate_sequences: 4 preferred_batch_size: [ 2 ] "
                 "max_queue_delay_microseconds: 10000000 }", exact=True)
def a_preferred_size_ends_the_wait(p):
    p.send("a0", 1, 10, "S")
    p.send("b0", 2, 20, "S")
    p.gone("a0", "b0")
    p.send("b1", 2, 21, "E")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { max_candidate_sequences: 4 max_queue_delay_microseconds: 300000 }",
        exact=True, slow=True)
def the_delay_passes(p):
    p.send("a0", 1, 10, "S")
    p.send("b0", 2, 20, "S")
    p.gone("a0", "b0")


@oldest(strategy="oldest { max_candidate_sequences: 4 preserve_ordering: true }", count=2,
        anywhere=True)
def order_over_two_instances(p):
    for i in range(1, 5):
        p.send(f"a{i}", i, i * 10, "S")
    p.gone("a1", "a2", "a3", "a4")
    for i in range(1, 5):
        p.send(f"b{i}", i, i * 10 + 1, "E")


@oldest(batch=0, strategy="oldest { max_candidate_sequences: 3 }")
def one_row_at_a_time(p):
    p.hold()
    p.send("a0", 1, 10, "S", batch=None)
    p.begun(1)
    p.send("b0", 2, 20, "S", batch=None)
    p.send("a1", 1, 11, "E", batch=None)
    p.send("b1", 2, 21, "E", batch=None)


@oldest(strategy="oldest { max_candidate_sequences: 1 }", count=2)
def candidates_over_two_instances(p):
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    p.send("b0", 2, 20, "S")
    p.gone("b0")
    p.hold()
    p.send("c0", 3, 30, "S")
    p.send("b1", 2, 21, "E")
    p.begun(3)
    p.send("c1", 3, 31, "E")
    p.finish()
    p.send("a1", 1, 11, "E")


# Delay and utilization.

@direct(strategy="direct { max_queue_delay_microseconds: 20000000 minimum_slot_utilization: 0.5 }")
def enough_slots_go_at_once(p):
    p.send("a0", 1, 10, "S")
    p.send("b0", 2, 20, "S")
    p.gone("a0", "b0")
    p.send("b1", 2, 21)
    p.send("a1", 1, 11, "E")
    p.gone("a1", "b1")
    p.send("b2", 2, 22, "E")
    p.send("c0", 3, 30, "SE")


@direct(strategy="direct { max_queue_delay_microseconds: 300000 minimum_slot_utilization: 1 }",
        slow=True)
def too_few_slots_wait(p):
    p.send("a0", 1, 10, "S")
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    p.gone("a0", "b0", "c0")
    p.send("d0", 4, 40, "SE")


@direct(strategy="direct { max_queue_delay_microseconds: 60000000 }")
def no_utilization_no_delay(p):
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    p.send("a1", 1, 11, "E")


@direct(strategy="direct { minimum_slot_utilization: 1 }")
def no_delay_no_utilization(p):
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    p.send("a1", 1, 11, "E")


# Time-outs.

# A sequence that waits for the only slot shows when the one before it has ended.

@direct(batch=1, idle=400_000, slow=True)
def idle_sequences_end(p):
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    p.send("b0", 2, 20, "SE")
    p.gone("b0")
    p.send("a1", 1, 11)
    p.send("a2", 1, 12, "SE")


@direct(batch=1, idle=400_000, slow=True)
def an_idle_slot_goes_to_the_backlog(p):
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21, "E")


@oldest(strategy="oldest { max_candidate_sequences: 1 }", idle=400_000, slow=True)
def an_idle_candidate_goes_to_the_backlog(p):
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21, "E")


@direct(batch=1)
def a_timeout_in_the_backlog(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S", timeout=200_000)
    p.send("b1", 2, 21)
    p.gone("b0", "b1")
    p.send("b2", 2, 22, "S")
    p.send("a1", 1, 11, "E")


@direct(batch=1)
def the_shortest_timeout_in_the_backlog(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S", timeout=60_000_000)
    p.send("b1", 2, 21, "E", timeout=200_000)
    p.send("c0", 3, 30, "S")
    p.gone("b0", "b1")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { max_candidate_sequences: 1 }")
def a_timeout_before_a_candidate(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S", timeout=200_000)
    p.gone("b0")
    p.send("a1", 1, 11, "E")


@both()
def a_timeout_with_a_slot(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("a1", 1, 11, "E", timeout=1)


# Clients that give up.

@both()
def cancelled_while_it_runs(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.cancel("a0")
    p.finish()
    p.send("a1", 1, 11, "E")


@direct()
def cancelled_in_a_slot(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("a1", 1, 11)
    p.send("a2", 1, 12)
    p.send("b0", 2, 20, "S")
    p.cancel("a1")
    p.finish()
    p.send("a3", 1, 13)
    p.send("b1", 2, 21, "E")


@direct(batch=1)
def cancelled_in_the_backlog(p):
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21, "E")
    p.send("c0", 3, 30, "SE")
    p.cancel("b0")
    p.send("a1", 1, 11, "E")


# Control inputs of every type.

def control(name, kind, values):
    return f'control_input {{ name: "{name}" control {{ kind: {kind} {values} }} }}\n'


def typed(values):
    return "".join(control(name, f"CONTROL_SEQUENCE_{name}", values)
                   for name in ("START", "READY", "END"))


def some_of_each(p):
    p.hold()
    p.send("a0", 2**32 + 9, 10, "S")
    p.begun(1)
    p.send("b0", 7, 20, "S")
    p.send("a1", 2**32 + 9, 11, "E")
    p.finish()
    p.send("b1", 7, 21, "E")


for _name, _controls in {
        "int32": typed("int32_false_true: [ -5, 7 ]"),
        "fp32": typed("fp32_false_true: [ 0.5, -1.5 ]"),
        "bool": typed("bool_false_true: [ false, true ]"),
        "inverted": typed("int32_false_true: [ 1, 0 ]"),
        "none": "",
        "corrid_uint64": control("CORRID", "CONTROL_SEQUENCE_CORRID", "data_type: TYPE_UINT64"),
        "corrid_int64": control("CORRID", "CONTROL_SEQUENCE_CORRID", "data_type: TYPE_INT64"),
        "corrid_uint32": control("CORRID", "CONTROL_SEQUENCE_CORRID", "data_type: TYPE_UINT32"),
        "corrid_int32": control("CORRID", "CONTROL_SEQUENCE_CORRID", "data_type: TYPE_INT32"),
}.items():
    SCENARIOS.append(Scenario(f"controls_{_name}", some_of_each, batching(controls=_controls),
                              raw=True))


def text_corrid(p):
    p.send("a0", "first", 10, "S")
    p.gone("a0")
    p.send("b0", "\N{SNOWMAN}", 20, "S")
    p.gone("b0")
    p.send("a1", "first", 11, "E")


SCENARIOS.append(Scenario("controls_corrid_string", text_corrid, batching(
    OLDEST, controls=control("CORRID", "CONTROL_SEQUENCE_CORRID", "data_type: TYPE_STRING")), raw=True))


# Iterative sequences.

ITERATIVE = "iterative_sequence: true\n"


@oldest(extra=parameter("iterations", 3), controls=ALL_CONTROLS + ITERATIVE, renumber=True)
def iterations(p):
    p.send("a", None, 5)
    p.gone("a")
    p.send("b", None, 6)


@oldest(extra=parameter("iterations", 3), controls=ALL_CONTROLS + ITERATIVE, renumber=True)
def iterations_together(p):
    p.hold()
    p.send("a", None, 5, arrive=False)
    p.begun(1)
    p.send("b", None, 6)
    p.send("c", None, 7)


@direct(extra=parameter("iterations", 2), controls=ALL_CONTROLS + ITERATIVE, renumber=True)
def iterations_in_slots(p):
    p.hold()
    p.send("a", None, 5, arrive=False)
    p.begun(1)
    p.send("b", None, 6)
    p.send("c", None, 7)


@oldest(extra=parameter("iterations", 2), controls=ALL_CONTROLS + ITERATIVE)
def iterations_with_an_id(p):
    p.send("a", 40, 5, "S")
    p.gone("a")
    p.send("b", 40, 6)
