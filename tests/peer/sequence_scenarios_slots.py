# SPDX-License-Identifier: Apache-2.0
"""Scenarios of several sequences: slots, candidates, the backlog, batches and shapes."""

from sequence_scenario import direct, oldest


# Slots and backlog.

@direct()
def together(p):
    p.begin_held()
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
    p.begin_held()
    for i, letter in enumerate("bcd"):
        p.send(f"{letter}0", i + 2, (i + 2) * 10, "S")
    p.send("e0", 5, 50, "S")
    p.send("e1", 5, 51, "E")
    p.send("f0", 6, 60, "SE")
    p.send("c1", 3, 31, "E")
    p.send("b1", 2, 21, "E")


@direct()
def two_slots_are_freed_together(p):
    p.begin_held()
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
    p.begin_held()
    p.send("b0", 2, 20, "S")
    for i in range(3, 9):
        p.send(f"c{i}", i, i * 10, "S")
        p.send(f"d{i}", i, i * 10 + 1, "E")
    p.send("a1", 1, 11, "E")
    p.send("b1", 2, 21, "E")


@direct(batch=1)
def a_sequence_in_the_backlog_goes_on(p):
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21)
    p.send("a1", 1, 11, "E")
    p.finish()
    p.send("b2", 2, 22)
    p.gone("b2")
    p.send("b3", 2, 23, "E")


@direct(batch=1)
def a_start_in_the_backlog_again(p):
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21, "S")
    p.send("b2", 2, 22, "E")
    p.send("b3", 2, 23)
    p.send("b4", 2, 24, "SE")
    p.send("a1", 1, 11, "E")


@direct(batch=2)
def an_id_used_again_gets_another_slot(p):
    p.begin_held()
    p.send("a1", 1, 11, "E")
    p.send("a2", 1, 12, "S")
    p.send("a3", 1, 13)
    p.finish()
    p.send("a4", 1, 14, "E")


@direct(batch=0)
def without_batching(p):
    p.begin_held(batch=None)
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
    p.begin_held()
    p.send("b0", 2, 20, "S", dim=2)
    p.send("c0", 3, 30, "S", dim=1)
    p.send("a1", 1, 11, dim=1)
    p.send("b1", 2, 21, "E", dim=1)
    p.send("c1", 3, 31, "E", dim=2)
    p.send("a2", 1, 12, "E", dim=3)


@direct(dims="-1")
def the_reference_is_the_lowest_slot(p):
    p.begin_held(dim=1)
    p.send("b0", 2, 20, "S", dim=3)
    p.send("c0", 3, 30, "S", dim=2)
    p.send("d0", 4, 40, "S", dim=3)


# Oldest.

@oldest(exact=True)
def batches_of_different_sequences(p):
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "SE")
    p.send("d0", 4, 40, "S")


@oldest(batch=2, exact=True)
def only_as_many_as_fit(p):
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    p.send("d0", 4, 40, "S")


@oldest(batch=2)
def never_two_of_one_sequence(p):
    p.begin_held()
    for letter in "abc":
        for i in range(1, 4):
            sequence = " abc".index(letter)
            p.send(f"{letter}{i}", sequence, sequence * 10 + i, "S" if i == 1 and letter != "a"
                   else "E" if i == 3 else "")


@oldest(strategy="oldest { max_candidate_sequences: 2 }")
def candidates_and_backlog(p):
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    p.send("d0", 4, 40, "SE")
    p.send("c1", 3, 31, "E")
    p.send("b1", 2, 21, "E")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { max_candidate_sequences: 1 }")
def one_candidate(p):
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.send("b1", 2, 21, "E")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { }", batch=2)
def candidates_by_the_batch_size(p):
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    p.send("c1", 3, 31, "E")
    p.send("b1", 2, 21, "E")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { max_candidate_sequences: 4 preferred_batch_size: [ 2 ] }", exact=True)
def preferred_sizes(p):
    p.begin_held()
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
    p.begin_held(batch=None)
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
