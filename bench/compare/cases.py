# SPDX-License-Identifier: Apache-2.0
"""What is measured: the cases, and the models that they ask."""

import dataclasses
import fnmatch
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The shape is not fixed, and nothing is batched: what is measured is the server, not a batcher.
IDENTITY_CONFIG = """backend: "identity"
max_batch_size: 0
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
"""

MLP_INPUTS = 64


@dataclasses.dataclass(frozen=True)
class Case:
    model: str        # "identity" or "mlp"
    protocol: str     # "http", "json" (over HTTP) or "grpc"
    elements: int     # FP32 elements in the input
    connections: int
    streams: int = 1  # gRPC calls at once on each connection
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
        return "x" if self.model == "mlp" else "INPUT0"


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


def write_repository(folder):
    """Makes the model repository that both servers serve."""
    (folder / "identity" / "1").mkdir(parents=True, exist_ok=True)
    (folder / "identity" / "config.pbtxt").write_text(IDENTITY_CONFIG)
    # Without a configuration: each server completes it from the model file.
    subprocess.run([sys.executable, ROOT / "tests/models/make_models.py", folder, "mlp"],
                   check=True)
