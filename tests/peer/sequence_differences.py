# SPDX-License-Identifier: Apache-2.0
"""The intended differences between Nereid's sequences and those of Triton 2.51, by scenario: the
results of each server, and the reason. `known` is a report of the same problem in Triton's project.
"""


def counts(success, executions=0, **more):
    """Returns the statistics of `success` requests; `executions` only if they are compared."""
    made = dict.fromkeys(["compute_infer", "compute_input", "compute_output", "inference_count",
                          "queue", "success"], success)
    if executions:
        made["execution_count"] = executions
    return made | more


def injected(success, executions=0):
    return {
        "why": "To free the slot of an iterative sequence Triton makes an internal request, "
               "cancels it, and counts it as a failed request of a client; Nereid frees the slot",
        "triton": {"counts": counts(success, executions, fail=success,
                                    **{"fail CANCELED": success})},
        "nereid": {"counts": counts(success, executions)},
    }


def cancelled(outcomes, name):
    return {
        "why": "Triton's answer to a request of a cancelled sequence has no text",
        "triton": {"outcomes": outcomes | {name: "CANCELLED: "}},
        "nereid": {"outcomes": outcomes | {name: "CANCELLED: Request was cancelled"}},
    }


def text_rows(*texts):
    """Returns the executions of one row each whose control CORRID has these values."""
    return [[[(text, {"CORRID": [text, *more]})] for text, *more in texts]]


ONE_BY_ONE = ("Triton begins a new sequence of an id while the old one still has requests to run: a "
              "model that tells its states apart by the id mixes them up. In Nereid the new one "
              "takes another slot and waits until the old one is done")
NULL = (0, None, "-")
MUST_START = ("INVALID_ARGUMENT: inference request for sequence 1 to model "
              "'direct_cancelled_in_a_slot' must specify the START flag on the first request of "
              "the sequence")

SEQUENCE_DIFFERENCES = {
    "direct_an_id_used_again_at_once": {
        "why": ONE_BY_ONE,
        "triton": {"executions": [[[(5, 1, "S")], [(5, 2, "E"), (5, 3, "S")],
                                   [NULL, (5, 4, "E")]]],
                   "counts": counts(4, 3), "batches": {1: 1, 2: 2}},
        "nereid": {"executions": [[[(5, 1, "S")], [(5, 2, "E")], [NULL, (5, 3, "S")],
                                   [NULL, (5, 4, "E")]]],
                   "counts": counts(4, 4), "batches": {1: 2, 2: 2}},
    },
    "direct_an_id_used_again_gets_another_slot": {
        "why": ONE_BY_ONE,
        "triton": {"executions": [[[(1, 10, "S")], [(1, 11, "E"), (1, 12, "S")],
                                   [NULL, (1, 13, "")], [NULL, (1, 14, "E")]]],
                   "counts": counts(5, 4), "batches": {1: 1, 2: 3}},
        "nereid": {"executions": [[[(1, 10, "S")], [(1, 11, "E")], [NULL, (1, 12, "S")],
                                   [NULL, (1, 13, "")], [NULL, (1, 14, "E")]]],
                   "counts": counts(5, 5), "batches": {1: 2, 2: 3}},
    },
    "oldest_an_id_used_again_at_once": {
        "why": ONE_BY_ONE,
        "triton": {"executions": [{5: [(5, 1, "S"), (5, 3, "S"), (5, 2, "E"), (5, 4, "E")]}]},
        "nereid": {"executions": [{5: [(5, 1, "S"), (5, 2, "E"), (5, 3, "S"), (5, 4, "E")]}]},
    },
    "oldest_iterations": injected(2),
    "oldest_iterations_together": injected(3),
    "direct_iterations_in_slots": injected(3, 2),
    "oldest_iterations_with_an_id": injected(1),
    "direct_cancelled_in_a_slot": cancelled(
        {"a0": 10, "a1": "cancelled", "a3": MUST_START, "b0": 20, "b1": 21}, "a2"),
    "direct_cancelled_in_the_backlog": cancelled(
        {"a0": 10, "a1": 11, "b0": "cancelled", "c0": 30}, "b1"),
    "controls_corrid_string": {
        "why": "Triton passes every text id in a buffer of 132 bytes, which is not a tensor of "
               "one element; the Python backend refuses it. Nereid's tensor has the right size",
        "known": "triton-inference-server/core pull request 339",
        "triton": {"executions": text_rows(
            ("first", "BYTES tensor 'CORRID' has 123 bytes after its 1 elements"),
            ("\N{SNOWMAN}", "BYTES tensor 'CORRID' has 125 bytes after its 1 elements"),
            ("first", "BYTES tensor 'CORRID' has 123 bytes after its 1 elements"))},
        "nereid": {"executions": text_rows(("first",), ("\N{SNOWMAN}",), ("first",))},
    },
    "oldest_batches_of_different_sequences": {
        "why": "Triton puts a batch together while the instance is busy and closes it too early; "
               "Nereid decides when the instance is free and needs fewer executions",
        "triton": {"executions": [[[(1, 10, "S")], [(2, 20, "S"), (3, 30, "SE")], [(4, 40, "S")]]],
                   "counts": counts(4, 3), "batches": {1: 2, 2: 1}},
        "nereid": {"executions": [[[(1, 10, "S")],
                                   [(2, 20, "S"), (3, 30, "SE"), (4, 40, "S")]]],
                   "counts": counts(4, 2), "batches": {1: 1, 3: 1}},
    },
    "direct_other_shapes_wait": {
        "why": "In Triton the lowest slot decides the shape of a batch, and another one may wait "
               "forever; in Nereid the request that has waited longest decides",
        "triton": {"executions": [[[(1, 10, "S")], [(1, 11, ""), NULL, (3, 30, "S")],
                                   [(1, 12, "E"), NULL, NULL], [NULL, (2, 20, "S"), (3, 31, "E")],
                                   [NULL, (2, 21, "E")]]],
                   "batches": {1: 1, 2: 1, 3: 3}},
        "nereid": {"executions": [[[(1, 10, "S")], [NULL, (2, 20, "S")],
                                   [(1, 11, ""), (2, 21, "E"), (3, 30, "S")], [(1, 12, "E")],
                                   [NULL, NULL, (3, 31, "E")]]],
                   "batches": {1: 2, 2: 1, 3: 2}},
    },
}
