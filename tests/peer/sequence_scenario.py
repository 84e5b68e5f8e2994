# SPDX-License-Identifier: Apache-2.0
"""The form of a scenario of sequences.

Each scenario is a model of the witness backend and a function that sends requests to it. In most
scenarios the first execution waits at the gate while other requests arrive, so that the batches do
not depend on time. With `oldest`, the next request of a sequence is queued when the previous one is
done; this is a race with the next batch in both servers. Such rows are compared for each sequence,
unless `exact` is set.
"""

from dataclasses import dataclass
from typing import Callable

from sequences import ALL_CONTROLS, batching

DIRECT = "direct { }"
OLDEST = "oldest { max_candidate_sequences: 4 }"


@dataclass
class Scenario:
    """A model and the requests that are sent to it."""

    id: str
    play: Callable
    scheduling: str
    batch: int = 4
    count: int = 1
    dims: str = "1"
    datatype: str = "TYPE_INT32"
    extra: str = ""
    exact: bool = True  # the executions are compared in their order
    slow: bool = False  # the scenario needs real time
    raw: bool = False  # the raw control inputs are compared
    anywhere: bool = False  # the instances are not compared
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
