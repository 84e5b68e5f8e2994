# SPDX-License-Identifier: Apache-2.0
"""What Nereid must reach without a setting, as pure functions of the measurements.

A measurement is results[model][clients][arrangement] = [round, ...]. The direct calls are the arrangements
"direct/THREADS/CALLERS", the written configurations "tuned/NAME", the others "default", "triton" and
"transport". Ratios are those of one round, and the median of the rounds decides."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Verdict:
    model: str
    clients: int
    target: str
    value: float
    limit: float
    reached: bool


def best(rounds_by_name, prefix, clients):
    """Returns the name of the best arrangement whose name begins with `prefix`: that with the lowest median
    latency for one client, with the highest median throughput for several. None if there is none."""
    key = "p50_us" if clients == 1 else "throughput"
    names = [name for name in rounds_by_name if name.startswith(prefix)]
    middle = {name: statistics.median(r[key] for r in rounds_by_name[name]) for name in names}
    if not middle:
        return None
    return min(middle, key=middle.get) if clients == 1 else max(middle, key=middle.get)


def median_ratio(rounds_by_name, ours, theirs, key):
    """Returns the median over the rounds of the one's figure divided by the other's."""
    return statistics.median(a[key] / b[key] for a, b in
                             zip(rounds_by_name[ours], rounds_by_name[theirs]) if b[key])


# No server gets its requests for nothing. A call is therefore compared together with the way of a request of
# its size, which "transport" shows: a server with a model that does nothing.


def lone_ratio(rounds_by_name, direct, allowed):
    """Returns a figure that is at most `allowed` if the latency of one client is at most `allowed` times
    that of the direct call plus that of the way."""
    return statistics.median(
        ours["p50_us"] / (call["p50_us"] + way["p50_us"] / allowed) for ours, call, way in
        zip(rounds_by_name["default"], rounds_by_name[direct], rounds_by_name["transport"]))


def crowd_ratio(rounds_by_name, direct):
    """Returns the throughput divided by that of the direct call and the way one after the other: each
    request needs the time that a request of both takes."""
    return statistics.median(
        ours["throughput"] * (1 / call["throughput"] + 1 / way["throughput"]) for ours, call, way in
        zip(rounds_by_name["default"], rounds_by_name[direct], rounds_by_name["transport"]))


def judge_model(model, clients, rounds_by_name):
    """Yields the verdicts of one model at one number of clients."""
    direct = best(rounds_by_name, "direct/", clients)
    tuned = best(rounds_by_name, "tuned/", clients)
    if clients == 1:
        value = lone_ratio(rounds_by_name, direct, 1.1)
        yield Verdict(model, 1, f"latency beside {direct}", value, 1.1, value <= 1.1)
    else:
        value = crowd_ratio(rounds_by_name, direct)
        yield Verdict(model, clients, f"throughput beside {direct}", value, 0.95, value >= 0.95)
        value = median_ratio(rounds_by_name, "default", tuned, "throughput")
        yield Verdict(model, clients, f"throughput beside {tuned}", value, 1.0, value >= 1.0)
    if "triton" in rounds_by_name:
        value = median_ratio(rounds_by_name, "default", "triton", "throughput")
        yield Verdict(model, clients, "throughput beside triton", value, 1.0, value >= 1.0)


def judge_together(rounds):
    """The verdict for several models at once: rounds of {"default": {model: figures}, "off": ...}. The value
    is the geometric mean of the models' ratios."""
    ratios = []
    for one in rounds:
        product = 1.0
        for model, figures in one["default"].items():
            product *= figures["throughput"] / one["off"][model]["throughput"]
        ratios.append(product ** (1 / len(one["default"])))
    value = statistics.median(ratios)
    return Verdict("several at once", 0, "throughput beside --cpu-plan=off", value, 1.3, value >= 1.3)


def judge(results):
    verdicts = [verdict for model, by_clients in results["models"].items()
                for clients, rounds in by_clients.items()
                for verdict in judge_model(model, int(clients), rounds)]
    if results.get("together"):
        verdicts.append(judge_together(results["together"]))
    return verdicts
