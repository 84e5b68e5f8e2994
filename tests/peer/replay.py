# SPDX-License-Identifier: Apache-2.0
"""Plays a scheduling scenario on a server and returns the visible results."""

import re
import threading
import time
from dataclasses import dataclass

import grpc
import grpc_raw
import models
import numpy as np
import raw_http
from scheduling_scenarios import EXECUTION, TICK, Scenario, us
from tritonclient.grpc import service_pb2_grpc

EXPIRED = "UNAVAILABLE: Request timeout expired"
REASONS = re.compile(r'nv_inference_request_failure\{([^}]*)\} (\d+)')
LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass
class Seen:
    """The results of one run: the answers of the clients and the statistics."""

    outcomes: dict  # request: "ok", or its error's code and text
    batches: dict  # size: executions
    counts: dict  # statistics counts and failures by reason, without those that are zero
    finished: dict  # request: the tick of its answer

    def compared(self):
        return {"outcomes": self.outcomes, "batches": self.batches, "counts": self.counts}


def write(scenario: Scenario, repository: models.Repository):
    parameters = {"execute_delay_ms": us(EXECUTION) // 1000,
                  "instance_wise_delay_multiplier": scenario.spread}
    extra = f"instance_group {{ kind: KIND_CPU count: {scenario.instances} }}\n"
    for key, value in parameters.items():
        extra += f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
    repository.identity(scenario.id, [("INT32", [scenario.dims])] * len(scenario.inputs),
                        batch=scenario.batch, extra=extra + scenario.scheduling,
                        tensor_extra=[(text, "") for text in scenario.inputs])


def message(scenario: Scenario, request):
    shape = [request.batch, request.dim] if scenario.batch else [request.dim]
    data = np.zeros(shape, np.int32).tobytes()
    parameters = {}
    if request.priority:
        parameters["priority"] = grpc_raw.pb.InferParameter(uint64_param=request.priority)
    if request.timeout:
        parameters["timeout"] = us(request.timeout)
    if request.fail:
        parameters["fail"] = "as asked"
    inputs = [grpc_raw.tensor(f"INPUT{i}", "INT32", shape) for i in request.inputs]
    return grpc_raw.infer_request(scenario.id, inputs, [data] * len(inputs),
                                  outputs=[f"OUTPUT{i}" for i in request.inputs],
                                  parameters=parameters, request_id=request.name)


def statistics(server, model):
    entry = raw_http.get(server, f"/v2/models/{model}/stats").json["model_stats"][0]
    counts = {k: v["count"] for k, v in entry["inference_stats"].items()}
    counts["inference_count"] = entry["inference_count"]
    counts["execution_count"] = entry["execution_count"]
    batches = {b["batch_size"]: b["compute_infer"]["count"] for b in entry["batch_stats"]}
    return counts, batches


def failures(server, model):
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    found = {}
    for labels, value in REASONS.findall(page):
        named = dict(LABEL.findall(labels))
        if named["model"] == model:
            found["fail " + named.get("reason", "")] = int(value)
    return found


def difference(before, after):
    return {k: after[k] - before.get(k, 0) for k in sorted(after) if after[k] != before.get(k, 0)}


def outcome(future) -> str:
    error = future.exception() if not future.cancelled() else None
    if future.cancelled():
        return "cancelled"
    if error is None:
        return "ok"
    # The servers explain a batch dimension with different texts.
    text = error.details().split(" NOTE: ")[0]
    return f"{error.code().name}: {text}"


def settled(server, model, limit=6.0):
    """Returns the statistics when every accepted request is counted, or when they have not changed
    for a long time."""
    end = time.monotonic() + limit
    last, since = None, time.monotonic()
    while time.monotonic() < end:
        now = statistics(server, model)
        if now != last:
            last, since = now, time.monotonic()
        if time.monotonic() - since > EXECUTION * TICK * 1.5:
            break
        time.sleep(TICK)
    return last


def play(server, scenario: Scenario) -> Seen:
    """Runs the script and reads the statistics before and after it."""
    counts, batches = statistics(server, scenario.id)
    reasons = failures(server, scenario.id)
    futures, finished = {}, {}
    script = [(r.at, r.name, "send", r) for r in scenario.requests]
    script += [(r.cancel, r.name, "cancel", r) for r in scenario.requests if r.cancel]
    with grpc_raw.channel(server, **{"grpc.use_local_subchannel_pool": 1}) as channel:
        grpc.channel_ready_future(channel).result(10)
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        start = time.monotonic()
        lock = threading.Lock()

        def note(name):
            with lock:
                finished.setdefault(name, (time.monotonic() - start) / TICK)

        for at, name, what, request in sorted(script, key=lambda step: step[:3]):
            time.sleep(max(0.0, start + at * TICK - time.monotonic()))
            if what == "cancel":
                futures[name].cancel()
                continue
            future = stub.ModelInfer.future(
                message(scenario, request),
                timeout=request.deadline * TICK if request.deadline else 60)
            futures[name] = future
            future.add_done_callback(lambda _, name=name: note(name))
        for future in futures.values():
            if not future.cancelled():
                future.exception()
        outcomes = {name: outcome(future) for name, future in sorted(futures.items())}
    after_counts, after_batches = settled(server, scenario.id)
    after_reasons = failures(server, scenario.id)
    return Seen(outcomes, difference(batches, after_batches),
                {**difference(counts, after_counts), **difference(reasons, after_reasons)},
                finished)


def contradictions(one: Seen, other: Seen, tolerance=2.5):
    """Returns pairs of requests that the two servers answered in clearly opposite orders.

    Requests that timed out are not compared: Nereid answers them at the timeout, Triton when an
    instance is free and its batcher checks the queue again (every half second).
    """
    found = []
    names = [n for n in sorted(one.finished)
             if one.outcomes[n] == other.outcomes[n] and one.outcomes[n] != EXPIRED]
    for i, x in enumerate(names):
        for y in names[i + 1:]:
            a = one.finished[x] - one.finished[y]
            b = other.finished[x] - other.finished[y]
            if a * b < 0 and min(abs(a), abs(b)) > tolerance:
                found.append((x, y))
    return found
