# SPDX-License-Identifier: Apache-2.0
"""What a scenario of sequences is, and how it is written down.

Each is a model of the witness backend and a function that plays requests to it. The first execution
is usually held at the gate while others arrive, so that what is batched does not depend on time.
In `oldest` the next request of a sequence is queued when the one before is done, a race with the
next batch that both servers have: there the rows are compared sequence by sequence, unless `exact`.
"""

from dataclasses import dataclass
from typing import Callable

from sequences import ALL_CONTROLS, batching

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
