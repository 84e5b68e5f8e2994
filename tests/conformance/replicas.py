# SPDX-License-Identifier: Apache-2.0
"""Several servers with the same models, which hand sequences over to each other, and the messages with
which they do it (src/handover/messages.h)."""

import shutil
import struct

import raw_http
from sequence_models import state, tensor
from sequences import ALL_CONTROLS, CONTROLS, batching, instances, parameter
from server_process import ServerProcess, free_ports

TOKEN = "replicas.0123456789abcdef0123456789abcdef"
CLAIM, SETTLE, OFFER = "/v2/sequences/claim", "/v2/sequences/settle", "/v2/sequences/offer"
KEPT_IN_MODEL = "own"  # the model without `state`


class Replica(ServerProcess):
    """A server whose ports are known before it is started."""

    def __init__(self, *arguments, ports, **options):
        super().__init__(*arguments, **options)
        self.ports = ports

    def _spawn(self):
        self.http_port, self.grpc_port, self.metrics_port = self.ports
        self.http = f"127.0.0.1:{self.http_port}"
        self.grpc = f"127.0.0.1:{self.grpc_port}"
        self._run()

    def add(self, model, sequence, value, headers=None, **parameters):
        """Sends one number as a request of a sequence; returns the response."""
        parameters.setdefault("sequence_id", sequence)
        return raw_http.infer(self, model, {"parameters": parameters, "inputs": [
            raw_http.tensor("INPUT", "INT32", [1, 1], [value])]}, headers=headers)

    def total(self, model, sequence, value, headers=None, **parameters):
        answer = self.add(model, sequence, value, headers, **parameters)
        assert answer.status == 200, answer.body
        return answer.json["outputs"][0]["data"]

    def post(self, path, message, headers=None):
        return raw_http.request(self, "POST", path, message, headers)

    def in_flight(self):
        return raw_http.get(self, "/v2/drain").json["in_flight"]


def write_models(root, library, slots=64):
    """Sums in the state (`state` for both strategies, `same` with one buffer), lists of all inputs
    that grow in the state (`list_of_texts` for ids that are texts), and a model that keeps the sums
    itself."""
    oldest = f"oldest {{ max_candidate_sequences: {slots} }}"
    one_buffer = "use_same_buffer_for_input_output: true"
    models = {
        "state": ("state", oldest, state(dims="1")),
        "state_direct": ("state", "direct { }", state(dims="1")),
        "first": ("initial_state", oldest, state(dims="1", initial='data_file: "first"')),
        "same": ("state", oldest, state(dims="1", extra=one_buffer)),
        "list": ("list", oldest, state(dims="-1")),
        "list_ahead": ("list", oldest, state(
            dims="-1", extra=one_buffer + " use_growable_memory: true")),
        KEPT_IN_MODEL: ("corrid", oldest, ""),
    }
    for name, (keep, strategy, states) in models.items():
        shown = "OUTPUT_STATE" if keep == "list" else "OUTPUT"
        write_model(root, library, name, keep, strategy, states, shown)
    write_model(root, library, "list_of_texts", "list", oldest, state(dims="-1"), "OUTPUT_STATE",
                controls=CONTROLS["START"])
    (root / "first" / "initial_state").mkdir()
    (root / "first" / "initial_state" / "first").write_bytes(struct.pack("<i", 100))


def write_model(root, library, name, keep, strategy, states, shown="OUTPUT", versions=(1,),
                controls=ALL_CONTROLS):
    folder = root / name
    for version in versions:
        (folder / str(version)).mkdir(parents=True)
    dims = "-1" if keep == "list" else "1"
    (folder / "config.pbtxt").write_text(
        'backend: "sequence"\nmax_batch_size: 4\n' + tensor("input", "INPUT", "INT32", 1)
        + tensor("output", shown, "INT32", dims if shown != "OUTPUT" else "1")
        + parameter("keep", keep) + batching(strategy, controls=controls, extra=states)
        + instances(2))
    shutil.copy(library, folder / library.name)


def ports(count):
    """Returns `count` triples of free ports."""
    numbers = free_ports(3 * count)
    return [tuple(numbers[3 * i:3 * i + 3]) for i in range(count)]


# The messages.


def head(kind):
    return b"NRDSEQ\x01" + kind


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<H", len(value)) + value


def key(model, sequence, version=1):
    identity = (struct.pack("<BQ", 0, sequence) if isinstance(sequence, int)
                else b"\x01" + text(sequence))
    return text(model) + struct.pack("<q", version) + identity


def claim(model, sequence, version=1, token=TOKEN):
    return head(b"C") + text(token) + text("a test") + key(model, sequence, version)


def settlement(hold, takes, token=TOKEN):
    return head(b"S") + text(token) + text(hold) + bytes([takes])


def offer(*keys, token=TOKEN):
    return (head(b"O") + text(token) + text("a test") + struct.pack("<H", len(keys))
            + b"".join(keys))


def hold_of(message):
    """Returns the name of the hold in the answer to a claim."""
    assert message.startswith(head(b"D")), message
    (size,) = struct.unpack_from("<H", message, 8)
    return message[10:10 + size].decode()
