# SPDX-License-Identifier: Apache-2.0
"""Operations and their results, independent of the protocol."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google.protobuf.json_format import MessageToDict, ParseDict
from tritonclient.grpc import model_config_pb2
from tritonclient.utils import triton_to_np_dtype

# Code of the service -> status of each protocol. The C API has the codes themselves. The last two
# are the refusals of a caller, which only protocols have.
HTTP_STATUS = {"OK": 200, "UNKNOWN": 400, "INTERNAL": 500, "NOT_FOUND": 404, "INVALID_ARG": 400,
               "UNAVAILABLE": 503, "UNSUPPORTED": 501, "ALREADY_EXISTS": 400, "CANCELLED": 400,
               "UNAUTHENTICATED": 401, "FORBIDDEN": 403}
GRPC_STATUS = {"OK": "OK", "UNKNOWN": "UNKNOWN", "INTERNAL": "INTERNAL", "NOT_FOUND": "NOT_FOUND",
               "INVALID_ARG": "INVALID_ARGUMENT", "UNAVAILABLE": "UNAVAILABLE",
               "UNSUPPORTED": "UNIMPLEMENTED", "ALREADY_EXISTS": "ALREADY_EXISTS",
               "CANCELLED": "CANCELLED", "UNAUTHENTICATED": "UNAUTHENTICATED",
               "FORBIDDEN": "PERMISSION_DENIED"}


@dataclass(frozen=True)
class Ask:
    """One operation and its arguments, which are those of the method of that name of each door."""
    operation: str
    arguments: dict = field(default_factory=dict)


def ask(operation, **arguments) -> Ask:
    return Ask(operation, arguments)


@dataclass(frozen=True)
class Outcome:
    """`status` is the protocol's own status; `text` is the text of the error; `answer` is the
    result of a successful operation in canonical form."""
    status: Any
    text: str = ""
    answer: Any = None


@dataclass(frozen=True)
class Tensor:
    """An input. `raw` replaces the bytes of `values` if the door sends bytes."""
    name: str
    datatype: str
    shape: tuple
    values: tuple
    raw: bytes | None = None
    parameters: dict = field(default_factory=dict)

    def bytes(self) -> bytes:
        return self.raw if self.raw is not None else encode(self.datatype, self.values)


@dataclass(frozen=True)
class Output:
    """A requested output. `classes` 0 requests the tensor itself."""
    name: str
    classes: Any = 0
    parameters: dict = field(default_factory=dict)


def encode(datatype, values) -> bytes:
    """Returns the bytes of a tensor in the form of the wire."""
    if datatype == "BYTES":
        texts = [v.encode() for v in values]
        return b"".join(len(t).to_bytes(4, "little") + t for t in texts)
    return np.array(values, dtype=triton_to_np_dtype(datatype)).tobytes()


def decode(datatype, raw) -> list:
    """Returns the values in the bytes of the wire."""
    if datatype != "BYTES":
        return np.frombuffer(raw, dtype=triton_to_np_dtype(datatype)).tolist()
    values = []
    while raw:
        size = int.from_bytes(raw[:4], "little")
        values.append(raw[4:4 + size].decode())
        raw = raw[4 + size:]
    return values


def canonical(value):
    """Returns plain data in one form: protobuf's JSON omits zeros and writes 64-bit numbers as
    texts, and the order of the members of an object has no meaning."""
    if isinstance(value, dict):
        made = {k: canonical(v) for k, v in sorted(value.items())}
        return {k: v for k, v in made.items() if v not in ("", "0", "false", [], {}, None)}
    if isinstance(value, (list, tuple)):
        return [canonical(v) for v in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return value


def canonical_config(document):
    """Returns a model configuration without defaults."""
    config = ParseDict(document, model_config_pb2.ModelConfig())
    return canonical(MessageToDict(config, preserving_proto_field_name=True))


def canonical_index(entries):
    """Returns the repository index in sorted order."""
    return sorted(canonical(list(entries)), key=lambda e: (e.get("name", ""), e.get("version", "")))


def canonical_regions(regions):
    """Returns the regions of shared memory in sorted order."""
    return sorted(canonical(list(regions)), key=lambda r: r["name"])


def counted_models(statistics):
    """Returns the models and versions in statistics; the servers of the doors have different
    counts."""
    return sorted((m["name"], str(m["version"])) for m in statistics)


def inferred(model, version, request_id, outputs):
    """Returns the canonical answer of an inference. `outputs` are (name, datatype, shape, values).
    """
    return {"model": model, "version": str(version), "id": request_id,
            "outputs": [(name, datatype, [int(d) for d in shape], list(values))
                        for name, datatype, shape, values in outputs]}
