# SPDX-License-Identifier: Apache-2.0
"""The cases of the benchmark and their models."""

import dataclasses
import fnmatch
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The shape is variable and there are no batches, so that the server is measured, and no batcher.
IDENTITY_CONFIG = """backend: "identity"
max_batch_size: 0
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
"""

# The same work behind each of the two schedulers: the difference is the cost of the batcher.
BATCHING_CONFIG = """backend: "identity"
max_batch_size: 64
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
"""
DYNAMIC_BATCHING = "dynamic_batching { }\n"

# The length of a sequence; every caller has a slot.
SEQUENCE = 16
SEQUENCE_BATCHING = """sequence_batching {
  max_sequence_idle_microseconds: 60000000
  control_input [
    { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
    { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } ] }
  ]
  %s
}
"""
# Many open sequences, to measure the memory of each.
OPEN_SEQUENCES = 10000
OPEN_CONFIG = """sequence_batching {
  max_sequence_idle_microseconds: 600000000
  oldest { max_candidate_sequences: %d }
}
""" % OPEN_SEQUENCES

# Three identity models, one after the other, inside the server.
ENSEMBLE_MEMBERS = ("identity_first", "identity_second", "identity_third")
ENSEMBLE_CONFIG = IDENTITY_CONFIG.replace('backend: "identity"', 'platform: "ensemble"') + (
    "ensemble_scheduling {\n" + "".join(
        f'  step {{ model_name: "{member}" model_version: -1\n'
        f'    input_map {{ key: "INPUT0" value: "{source}" }}\n'
        f'    output_map {{ key: "OUTPUT0" value: "{target}" }} }}\n'
        for member, source, target in zip(ENSEMBLE_MEMBERS, ("INPUT0", "first", "second"),
                                          ("first", "second", "OUTPUT0"))) + "}\n")

MLP_INPUTS = 64
MLP_BATCHED_CONFIG = """backend: "onnxruntime"
max_batch_size: 64
dynamic_batching { }
"""


@dataclasses.dataclass(frozen=True)
class Case:
    model: str        # as write_repository names them
    protocol: str     # "http", "json" (over HTTP) or "grpc"
    elements: int     # FP32 elements in the input
    connections: int
    streams: int = 1  # gRPC calls at once on each connection
    sequence: int = 0  # requests in each sequence; 0: none
    quick: bool = False

    @property
    def name(self):
        size = {16: "64B", MLP_INPUTS: "256B", 262144: "1MiB"}.get(self.elements)
        if self.protocol == "json":
            size = f"{self.elements}floats"
        streams = f"x{self.streams}" if self.streams > 1 else ""
        return f"{self.model}/{self.protocol}/{size}/c{self.connections}{streams}"

    @property
    def input_name(self):
        return "x" if self.model.startswith("mlp") else "INPUT0"

    @property
    def is_identity(self):
        return self.model.startswith("identity")


def _all_cases():
    connections = (1, 8, 64)
    for elements in (16, 262144):
        for protocol in ("http", "grpc", "json"):
            for count in connections:
                yield Case("identity", protocol, elements, count,
                           quick=count == 8 or (elements == 16 and protocol != "json"))
    yield Case("identity", "grpc", 16, 8, streams=8)
    for protocol in ("http", "grpc", "json"):
        for count in connections:
            yield Case("mlp", protocol, MLP_INPUTS, count,
                       quick=count == 8 and protocol != "json")
    for model in ("identity_direct", "identity_batched"):
        yield Case(model, "http", 16, 1, quick=True)
    for model in ("identity_slots", "identity_oldest"):
        for protocol in ("http", "grpc"):
            for count in (1, 8):
                yield Case(model, protocol, 16, count, sequence=SEQUENCE, quick=count == 8)
    for protocol in ("http", "grpc"):
        for count in (1, 8):
            yield Case("identity_ensemble", protocol, 16, count, quick=count == 8)
    for protocol in ("http", "grpc"):
        yield Case("mlp_batched", protocol, MLP_INPUTS, 64, quick=True)


# The batcher's hop: the latency of the second case minus that of the first.
HOP = ("identity_direct/http/64B/c1", "identity_batched/http/64B/c1")

ALL = tuple(_all_cases())


def select(patterns, quick):
    """The cases whose names match one of the shell patterns (all, if there are none)."""
    chosen = [c for c in ALL if not quick or c.quick]
    if patterns:
        chosen = [c for c in ALL if any(fnmatch.fnmatch(c.name, p) for p in patterns)]
    if not chosen:
        names = "\n  ".join(c.name for c in ALL)
        sys.exit(f"against_triton: no case matches {', '.join(patterns)}; there are:\n  {names}")
    return chosen


def _write_config(folder, model, config):
    (folder / model / "1").mkdir(parents=True, exist_ok=True)
    (folder / model / "config.pbtxt").write_text(config)


def write_repository(folder):
    """Writes the model repository of both servers."""
    _write_config(folder, "identity", IDENTITY_CONFIG)
    for member in ENSEMBLE_MEMBERS:
        _write_config(folder, member, IDENTITY_CONFIG)
    _write_config(folder, "identity_ensemble", ENSEMBLE_CONFIG)
    _write_config(folder, "identity_direct", BATCHING_CONFIG)
    _write_config(folder, "identity_batched", BATCHING_CONFIG + DYNAMIC_BATCHING)
    _write_config(folder, "identity_slots",
                  BATCHING_CONFIG + SEQUENCE_BATCHING % "direct { }")
    _write_config(folder, "identity_oldest", BATCHING_CONFIG
                  + SEQUENCE_BATCHING % "oldest { max_candidate_sequences: 64 }")
    _write_config(folder, "identity_open", BATCHING_CONFIG + OPEN_CONFIG)
    # Without a configuration: each server completes it from the model file.
    subprocess.run([sys.executable, ROOT / "tests/models/make_models.py", folder, "mlp"],
                   check=True)
    _write_config(folder, "mlp_batched", MLP_BATCHED_CONFIG)
    shutil.copy(folder / "mlp" / "1" / "model.onnx", folder / "mlp_batched" / "1")
