# SPDX-License-Identifier: Apache-2.0
"""The intended differences between Nereid's scheduling and that of Triton 2.51, by scenario: the
results of each server (the fields of replay.Seen), and the reason."""

NOT_EXECUTED = ("Triton takes a batch out of the queue while the instance is still busy and executes "
                "in it requests that were cancelled in the meantime (the direct scheduler never "
                "checks). Nereid drops a cancelled request at once, so the instance does not compute "
                "results that nobody needs")


def counts(success, executions, failures=0, **reasons):
    """The statistics of `success` requests of batch size 1 and `failures` others."""
    made = dict.fromkeys(["compute_infer", "compute_input", "compute_output", "inference_count",
                          "queue", "success"], success)
    made["execution_count"] = executions
    if failures:
        made["fail"] = failures
    made.update({f"fail {name}": count for name, count in reasons.items()})
    return {name: count for name, count in made.items() if count}


def cancelled(triton, nereid, success, count=1):
    """`triton` and `nereid` are the batches. Both servers count `count` failures, for different
    reasons."""
    return {
        "why": NOT_EXECUTED,
        "triton": {"batches": triton, "counts": counts(success, sum(triton.values()), count,
                                                       BACKEND=count)},
        "nereid": {"batches": nereid, "counts": counts(success, sum(nereid.values()), count,
                                                       CANCELED=count)},
    }


DIFFERENCES = {
    "direct-cancelled-in-the-queue": cancelled({1: 3}, {1: 2}, 2),
    "direct-deadline-in-the-queue": cancelled({1: 3}, {1: 2}, 2),
    "cancelled-in-the-queue": cancelled({1: 1, 3: 1}, {1: 1, 2: 1}, 3),
    "all-cancelled-in-the-queue": cancelled({1: 1, 2: 1}, {1: 1}, 1, count=2),
    "cancelled-first-of-its-shape": cancelled({1: 2, 2: 1}, {1: 1, 2: 1}, 3),
    "deadline-in-the-queue": cancelled({1: 1, 2: 1}, {1: 2}, 2),
    "order-kept-with-a-cancelled-one": cancelled({1: 4}, {1: 3}, 3),
    "cancelled-makes-room": {
        "why": "In Triton a cancelled request keeps its place in a full queue until an instance is "
               "free, and others are refused because of it; Nereid frees the place at once",
        "triton": {
            "outcomes": {"a": "ok", "b": "cancelled", "c": "ok",
                         "d": "UNAVAILABLE: [request id: d] Exceeds maximum queue size"},
            "batches": {1: 2}, "counts": counts(2, 2, 1, CANCELED=1)},
        "nereid": {
            "outcomes": {"a": "ok", "b": "cancelled", "c": "ok", "d": "ok"},
            "batches": {1: 3}, "counts": counts(3, 3, 1, CANCELED=1)},
    },
    "rejected-makes-room": {
        "why": "In Triton a request that has timed out keeps its place in a full queue until an "
               "instance is free; Nereid answers it when it times out",
        "triton": {
            "outcomes": {"a": "ok", "b": "UNAVAILABLE: Request timeout expired", "c": "ok",
                         "d": "UNAVAILABLE: [request id: d] Exceeds maximum queue size"},
            "batches": {1: 2}, "counts": counts(2, 2, 1, REJECTED=1)},
        "nereid": {
            "outcomes": {"a": "ok", "b": "UNAVAILABLE: Request timeout expired", "c": "ok",
                         "d": "ok"},
            "batches": {1: 3}, "counts": counts(3, 3, 1, REJECTED=1)},
    },
    "largest-preferred-size": {
        "why": "Triton closes a batch at the first preferred size that comes together while the "
               "instance is busy; Nereid decides when the instance is free, and the largest "
               "preferred size that waits then needs fewer executions",
        "triton": {"batches": {1: 2, 2: 3}, "counts": counts(8, 5)},
        "nereid": {"batches": {1: 2, 6: 1}, "counts": counts(8, 3)},
    },
}
