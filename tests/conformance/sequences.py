# SPDX-License-Identifier: Apache-2.0
"""Sends sequences to a server and records the visible results.

A model of the witness backend (tests/plugins/witness.cc) records every execution with its rows, and
waits at a gate until the test opens it. The tests therefore know what is executed and never guess
how long it takes. Runs in Triton and in Nereid.
"""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import grpc
import grpc_raw
import raw_http
from models import Repository
from tritonclient.grpc import service_pb2_grpc

LIMIT = 20.0  # seconds until a condition must hold
CONTROLS = {
    "START": 'control_input { name: "START" control { kind: CONTROL_SEQUENCE_START '
             "int32_false_true: [ 0, 1 ] } }\n",
    "READY": 'control_input { name: "READY" control { kind: CONTROL_SEQUENCE_READY '
             "int32_false_true: [ 0, 1 ] } }\n",
    "END": 'control_input { name: "END" control { kind: CONTROL_SEQUENCE_END '
           "int32_false_true: [ 0, 1 ] } }\n",
    "CORRID": 'control_input { name: "CORRID" control { kind: CONTROL_SEQUENCE_CORRID '
              "data_type: TYPE_UINT64 } }\n",
}
ALL_CONTROLS = "".join(CONTROLS.values())
REASONS = re.compile(r"nv_inference_request_failure\{([^}]*)\} (\d+)")
LABEL = re.compile(r'(\w+)="([^"]*)"')


def batching(strategy="direct { }", *, idle=60_000_000, controls=ALL_CONTROLS, extra="") -> str:
    """Returns the sequence_batching message; the idle time of a minute never passes."""
    return (f"sequence_batching {{\nmax_sequence_idle_microseconds: {idle}\n{strategy}\n"
            f"{controls}{extra}}}\n")


def instances(count) -> str:
    return f"instance_group {{ kind: KIND_CPU count: {count} }}\n"


def parameter(key, value) -> str:
    return f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'


def wait_for(condition, what="the condition", limit=LIMIT):
    """Waits until `condition` returns a true value, and returns it."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not come true within {limit} s"
        time.sleep(0.002)


class Plugin:
    """A test plug-in, which is put into the folders of models in the form that the server under
    test needs."""

    def __init__(self, library: Path, peer: Path | None = None):
        self.library = library
        self.peer = peer

    def put(self, folder: Path):
        target = folder / self.library.name
        shutil.copy(self.library, target)
        if self.peer:  # the name of the engine in the wheel
            (engine,) = self.peer.glob("wheel/nvidia_pytriton.libs/libtritonserver-*.so")
            subprocess.run(["patchelf", "--replace-needed", "libtritonserver.so", engine.name,
                            str(target)], check=True)


class Notes:
    """The trace and the gate of one model: files beside the model repository."""

    def __init__(self, folder: Path, model: str):
        folder.mkdir(parents=True, exist_ok=True)
        self.trace = folder / f"{model}.trace"
        self.gate = folder / f"{model}.gate"

    def parameters(self) -> str:
        return parameter("trace", self.trace) + parameter("gate", self.gate)

    def allow(self, executions: int):
        """Lets this number of executions pass, counted from the load of the model."""
        fresh = self.gate.with_suffix(".new")
        fresh.write_text(str(executions))
        os.replace(fresh, self.gate)

    def open(self):
        self.gate.unlink(missing_ok=True)

    def executions(self) -> list:
        if not self.trace.exists():
            return []
        lines = self.trace.read_text().split("\n")
        return [json.loads(line) for line in lines[:-1]]  # the last one may be on its way


def write_witness(root: Path, name: str, plugin: Plugin, scheduling: str, *, batch=4, count=1,
                  dims="1", datatype="TYPE_INT32", extra="") -> Notes:
    """Writes a witness model; INPUT and OUTPUT are INT32 [1] by default."""
    notes = Notes(root.parent / "notes", name)
    config = f'name: "{name}"\nbackend: "witness"\nmax_batch_size: {batch}\n'
    for kind in ("INPUT", "OUTPUT"):
        config += f'{kind.lower()} {{ name: "{kind}" data_type: {datatype} dims: [ {dims} ] }}\n'
    config += instances(count) + notes.parameters() + scheduling + extra
    plugin.put(Repository(root)._write(name, config, (1,)))
    return notes


CONTROL_NAMES = ("START", "READY", "END", "CORRID")


def row(entry) -> tuple:
    """Returns a row of an execution in short: (sequence, value, flags). The flags are "S" and "E"
    by the control inputs, and "c" if the request is cancelled. (0, None, "-") is a null request."""
    inputs = entry["inputs"]
    if entry["sequence"] == 0 and not entry["id"] and not inputs.get("READY", [0])[0]:
        return (0, None, "-")
    flags = "".join(letter for name, letter in (("START", "S"), ("END", "E"))
                    if inputs.get(name, [0])[0])
    return (entry["sequence"], inputs["INPUT"][0], flags + "c" * entry["cancelled"])


def controls(entry) -> tuple:
    """Returns a row as (sequence, its control inputs)."""
    return (entry["sequence"],
            {name: entry["inputs"][name] for name in CONTROL_NAMES if name in entry["inputs"]})


class Player:
    """Sends requests of sequences to one model of one server over gRPC; each request has a name."""

    def __init__(self, server, model: str, notes: Notes):
        self.server, self.model, self.notes = server, model, notes
        self.channel = grpc.insecure_channel(server.grpc, options=[
            ("grpc.use_local_subchannel_pool", 1)])
        self.stub = service_pb2_grpc.GRPCInferenceServiceStub(self.channel)
        self.futures = {}
        self.batch = 1
        self.counts, self.batches = statistics(server, model)
        self.reasons = failures(server, model)
        self.first = len(notes.executions())

    def close(self):
        self.notes.open()
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Actions.

    def send(self, name, sequence, value=0, flags="", *, arrive=True, deadline=60, dim=1, batch=1,
             version="", **parameters):
        """Sends a request and, by default, waits until the server has accepted or answered it.
        `flags`: S for the start, E for the end of the sequence."""
        parameters = dict(parameters)
        if sequence is not None:
            parameters["sequence_id"] = sequence
        if "S" in flags:
            parameters["sequence_start"] = True
        if "E" in flags:
            parameters["sequence_end"] = True
        for key in ("timeout", "priority"):
            if key in parameters:
                parameters[key] = grpc_raw.parameter(parameters[key])
        self.batch = None if batch is None else 1
        shape = [batch, dim] if batch is not None else [dim]
        content = [value] * (dim * (batch or 1))
        message = grpc_raw.infer_request(
            self.model, [grpc_raw.tensor("INPUT", "INT32", shape, int_contents=content)],
            parameters=parameters, request_id=name, version=version)
        self.futures[name] = self.stub.ModelInfer.future(message, timeout=deadline)
        if arrive:
            self.arrived(name)
        return self.futures[name]

    def arrived(self, name):
        """Waits until the request is answered, is being executed or waits in a queue."""
        def here():
            if self.futures[name].done() or name in self.executed():
                return True
            known = sum(1 for n, f in self.futures.items()
                        if not f.done() and n not in self.executed())
            return pending(self.server, self.model) >= known
        wait_for(here, f"the arrival of {name}")

    def cancel(self, name):
        self.futures[name].cancel()

    def hold(self, after=0):
        """Makes the model wait after `after` more executions."""
        self.notes.allow(len(self.notes.executions()) + after)

    def begin_held(self, name="a0", sequence=1, number=10, **how):
        """Begins a sequence; the model waits during the execution of its START."""
        self.hold()
        self.send(name, sequence, number, "S", **how)
        self.begun(1)

    def step(self):
        """Lets the execution that waits at the gate pass, and no further one."""
        begun = len(self.notes.executions())
        self.notes.allow(begun)

    def begun(self, count):
        """Waits until `count` executions of this play have begun."""
        wait_for(lambda: len(self.executions()) >= count, f"execution {count}")

    def gone(self, *names):
        """Waits until these requests are answered."""
        for name in names:
            wait_for(self.futures[name].done, f"the answer to {name}")

    def finish(self):
        """Opens the gate and waits for every answer."""
        self.notes.open()
        self.gone(*self.futures)

    def end_what_lives(self):
        """Ends the sequences that are still open, so that the next play finds none."""
        live = {entry["sequence"] for e in self.notes.executions()[self.first:]
                for entry in e["rows"]} - {0}
        for number, sequence in enumerate(sorted(live, key=str)):
            self.send(f"end{number}", sequence, 0, "E", batch=self.batch)
        self.finish()

    # Observations.

    def executions(self) -> list:
        """Returns [rows] of each execution of this play."""
        return [[row(entry) for entry in e["rows"]]
                for e in self.notes.executions()[self.first:]]

    def by_instance(self, read=row) -> list:
        """Returns [[rows of each execution] of each instance], in the order of the first execution
        of each instance."""
        found = {}
        for e in self.notes.executions()[self.first:]:
            found.setdefault(e["instance"], []).append([read(entry) for entry in e["rows"]])
        return list(found.values())

    def executed(self) -> set:
        """Returns the names of the requests whose execution has begun."""
        return {entry["id"] for e in self.notes.executions()[self.first:] for entry in e["rows"]}

    def outcome(self, name):
        """Returns the value of the answer, or the code and text of the error."""
        future = self.futures[name]
        if future.cancelled():
            return "cancelled"
        error = future.exception()
        if error is not None:
            return f"{error.code().name}: {error.details()}"
        answer = future.result()
        return int.from_bytes(answer.raw_output_contents[0][:4], "little", signed=True)

    def outcomes(self) -> dict:
        return {name: self.outcome(name) for name in sorted(self.futures)}

    def changes(self):
        """Returns (counts, batches) of the statistics and the failures since the play began, when
        every request is counted. Zeros are omitted."""
        def now():
            counts, batches = statistics(self.server, self.model)
            return {**difference(self.counts, counts),
                    **difference(self.reasons, failures(self.server, self.model))}, \
                difference(self.batches, batches)
        last = now()
        steady = time.monotonic() + 0.3  # statistics may come after the answers
        while time.monotonic() < steady:
            current = now()
            if current != last:
                last, steady = current, time.monotonic() + 0.3
            time.sleep(0.02)
        return last


def statistics(server, model):
    entry = raw_http.get(server, f"/v2/models/{model}/stats").json["model_stats"][0]
    counts = {k: v["count"] for k, v in entry["inference_stats"].items()}
    counts["inference_count"] = entry["inference_count"]
    counts["execution_count"] = entry["execution_count"]
    batches = {b["batch_size"]: b["compute_infer"]["count"] for b in entry["batch_stats"]}
    return counts, batches


def metrics(server) -> str:
    return raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()


def failures(server, model) -> dict:
    found = {}
    for labels, value in REASONS.findall(metrics(server)):
        named = dict(LABEL.findall(labels))
        if named["model"] == model:
            found["fail " + named.get("reason", "")] = int(value)
    return found


def metric(server, name, model) -> float:
    """Returns the sum of a metric over the model's series; 0 if there is none."""
    return sum(float(line.split()[-1]) for line in metrics(server).splitlines()
               if line.startswith(name + "{") and f'model="{model}"' in line)


def pending(server, model) -> int:
    return int(metric(server, "nv_inference_pending_request_count", model))


def difference(before, after) -> dict:
    return {k: after[k] - before.get(k, 0) for k in sorted(after) if after[k] != before.get(k, 0)}
