# SPDX-License-Identifier: Apache-2.0
"""Scenarios of delays, timeouts and clients that cancel, of control inputs and of iterations."""

from sequence_scenario import OLDEST, SCENARIOS, Scenario, both, direct, oldest
from sequences import ALL_CONTROLS, batching, parameter


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

# A sequence that waits for the only slot shows when the previous sequence has ended.

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
    p.begin_held()
    p.send("b0", 2, 20, "S", timeout=200_000)
    p.send("b1", 2, 21)
    p.gone("b0", "b1")
    p.send("b2", 2, 22, "S")
    p.send("a1", 1, 11, "E")


@direct(batch=1)
def the_shortest_timeout_in_the_backlog(p):
    p.begin_held()
    p.send("b0", 2, 20, "S", timeout=60_000_000)
    p.send("b1", 2, 21, "E", timeout=200_000)
    p.send("c0", 3, 30, "S")
    p.gone("b0", "b1")
    p.send("a1", 1, 11, "E")


@oldest(strategy="oldest { max_candidate_sequences: 1 }")
def a_timeout_before_a_candidate(p):
    p.begin_held()
    p.send("b0", 2, 20, "S", timeout=200_000)
    p.gone("b0")
    p.send("a1", 1, 11, "E")


@both()
def a_timeout_with_a_slot(p):
    p.begin_held()
    p.send("a1", 1, 11, "E", timeout=1)


# Clients that cancel.

@both()
def cancelled_while_it_runs(p):
    p.begin_held()
    p.cancel("a0")
    p.finish()
    p.send("a1", 1, 11, "E")


@direct()
def cancelled_in_a_slot(p):
    p.begin_held()
    p.send("a1", 1, 11)
    p.send("a2", 1, 12)
    p.send("b0", 2, 20, "S")
    p.cancel("a1")
    p.finish()
    p.send("a3", 1, 13)
    p.send("b1", 2, 21, "E")


@direct(batch=1)
def cancelled_in_the_backlog(p):
    p.begin_held()
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
    p.begin_held("a0", 2**32 + 9, 10)
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
    OLDEST, controls=control("CORRID", "CONTROL_SEQUENCE_CORRID", "data_type: TYPE_STRING")),
    raw=True))


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
