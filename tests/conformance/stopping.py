# SPDX-License-Identifier: Apache-2.0
"""Servers that a case stops, and the work that can be in flight during the stop."""

import contextlib
import json
import threading
import time

import grpc
import grpc_raw
import h2_wire
import raw_http
from models import Repository
from sequences import Plugin, batching, parameter, pending, wait_for, write_witness
from server_process import ServerProcess
from tritonclient.grpc import service_pb2_grpc

BOUND = 15.0  # seconds for short operations; half of the default exit timeout of a case
STOPPING = ("Server is stopping, scheduler for model has stopped accepting new inference requests")
NO_ID = "[request id: <id_unknown>] "

def ensemble(name, *steps) -> str:
    """Returns a model that passes INPUT to OUTPUT through the steps (model, its input, its output).
    """
    text = f'name: "{name}"\nplatform: "ensemble"\nmax_batch_size: 4\n'
    for kind in ("INPUT", "OUTPUT"):
        text += f'{kind.lower()} {{ name: "{kind}" data_type: TYPE_INT32 dims: [ 1 ] }}\n'
    text += "ensemble_scheduling {\n"
    inner = ["INPUT"] + [f"t{i}" for i in range(len(steps) - 1)] + ["OUTPUT"]
    for i, (model, given, taken) in enumerate(steps):
        text += (f'step {{ model_name: "{model}" model_version: -1 '
                 f'input_map {{ key: "{given}" value: "{inner[i]}" }} '
                 f'output_map {{ key: "{taken}" value: "{inner[i + 1]}" }} }}\n')
    return text + "}\n"


class Stopped:
    """A server with witness models, which one case stops. `notes` are their gates and traces."""

    def __init__(self, server, notes):
        self.server, self.notes = server, notes
        self.sent = None

    def signal(self, number):
        self.sent = time.monotonic()
        self.server.process.send_signal(number)

    def refuses(self):
        """Waits until the server is not ready, which it must be at once."""
        wait_for(lambda: self.ready() != 200, "readiness says no", BOUND)

    def ready(self):
        return raw_http.get(self.server, "/v2/health/ready").status

    def ended(self, code, limit=BOUND):
        """Checks that the process has ended in time with that code, and returns the seconds since
        the signal."""
        process, self.server.process = self.server.process, None
        try:
            got = process.wait(max(0.1, limit - (time.monotonic() - self.sent)))
        except Exception:
            process.kill()
            process.wait()
            raise AssertionError(f"no end within {limit} s:\n{self.server.log_tail()}") from None
        assert got == code, self.server.log_tail()
        return time.monotonic() - self.sent

    @property
    def log(self):
        return self.server.log.read_text(errors="replace")


def write_models(root, plugin) -> dict:
    notes = {}
    for name in ("one", "two"):
        notes[name] = write_witness(root, name, plugin, "")
    notes["seq"] = write_witness(root, "seq", plugin, batching("direct { }"), batch=1)
    load_gate = root.parent / "notes" / "held.load"
    notes["held"] = write_witness(root, "held", plugin, "", extra=parameter("load_gate", load_gate))
    notes["held"].load_gate = load_gate
    repository = Repository(root)
    repository._write("ens", ensemble("ens", ("one", "INPUT", "OUTPUT"),
                                      ("two", "INPUT", "OUTPUT")), (1,))
    # A backend that calls another model, behind the step that waits at the gate of the case.
    repository.identity("echo", [("INT32", [1])], batch=4)
    repository.identity("caller", [("INT32", [1])], batch=4, backend="forward",
                        extra=parameter("to", "echo"))
    Plugin(plugin.library.parent / "libtriton_forward.so").put(root / "caller")
    repository._write("nested", ensemble("nested", ("one", "INPUT", "OUTPUT"),
                                         ("caller", "INPUT0", "OUTPUT0")), (1,))
    return notes


def stoppable(start_server, plugin, *flags, startup=("seq", "ens", "nested", "echo")) -> Stopped:
    notes = {}
    server = start_server("stopping", lambda root: notes.update(write_models(root, plugin)),
                          "--model-control-mode=explicit",
                          *(f"--load-model={name}" for name in startup), *flags)
    return Stopped(server, notes)


def starting(start_server, plugin, tmp_path, *flags) -> Stopped:
    """A server whose start waits for the load of a model; another model is to be loaded after it.
    """
    like = stoppable(start_server, plugin)
    like.signal(15)
    like.ended(0)
    notes = write_models(tmp_path / "models", plugin)
    notes["held"].load_gate.write_text("0")
    server = ServerProcess(like.server.command, tmp_path / "models", tmp_path / "server.log",
                           [f for f in like.server.flags if f.startswith("--backend-dir")] +
                           ["--model-load-thread-count=1", "--model-control-mode=explicit",
                            "--load-model=held", "--load-model=one", *flags])
    server._spawn()
    wait_for(lambda: server.log.exists() and "loading: held:1" in server.log.read_text(),
             "the load", BOUND)
    return Stopped(server, notes)


# Work that can be in flight. Each context yields a function that checks the answers and returns
# them.


def message(model, value, **parameters):
    return grpc_raw.infer_request(
        model, [grpc_raw.tensor("INPUT", "INT32", [1, 1], int_contents=[value])],
        parameters=parameters)


def document(value, **parameters):
    made = {"inputs": [raw_http.tensor("INPUT", "INT32", [1, 1], [value])]}
    if parameters:
        made["parameters"] = parameters
    return made


def grpc_value(answer):
    return int.from_bytes(answer.raw_output_contents[0][:4], "little", signed=True)


class Later:
    """Calls a function on its own thread."""

    def __init__(self, function):
        self.result = None
        self.thread = threading.Thread(target=self._run, args=(function,), daemon=True)
        self.thread.start()

    def _run(self, function):
        try:
            self.result = function()
        except Exception as error:  # the case checks it
            self.result = error

    def get(self):
        self.thread.join(BOUND)
        assert not self.thread.is_alive(), "no answer"
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def http_infer(server, model, value, **parameters):
    answer = raw_http.infer(server, model, document(value, **parameters))
    assert answer.status == 200, answer.body
    return answer.json["outputs"][0]["data"][0]


def grpc_infer(server, model, value, **parameters):
    return grpc_value(grpc_raw.call(server, "ModelInfer", message(model, value, **parameters)))


INFER = {"http": http_infer, "grpc": grpc_infer}


@contextlib.contextmanager
def running(stopped, protocol, model="one", first="one", count=1):
    """Sends `count` requests. The first one is being executed, the others wait behind it."""
    notes = stopped.notes[first]
    notes.allow(0)
    waiting = []
    for i in range(count):
        waiting.append(Later(lambda i=i: INFER[protocol](stopped.server, model, 10 + i)))
        wait_for(lambda: len(notes.executions()) == 1, "the execution", BOUND)
    if count > 1:
        wait_for(lambda: pending(stopped.server, model) == count - 1, "the queue", BOUND)

    def answers():
        notes.open()
        assert [w.get() for w in waiting] == [10 + i for i in range(count)]

    yield answers


@contextlib.contextmanager
def idle_connection(stopped, protocol):
    if protocol == "http":
        with raw_http.Wire(stopped.server) as wire:
            wire.send(raw_http.head("GET", "/v2/health/live"))
            assert wire.read().status == 200
            yield lambda: None
    else:
        with h2_wire.Wire(stopped.server) as wire:
            wire.read()  # the server's settings
            yield lambda: None


@contextlib.contextmanager
def idle_stream(stopped, _):
    """A gRPC stream that has received a response and stays open."""
    never = threading.Event()
    with grpc_raw.channel(stopped.server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)

        def requests():
            yield message("one", 7)
            never.wait()

        answers = stub.ModelStreamInfer(requests())
        assert grpc_value(next(answers).infer_response) == 7

        def end():
            try:
                next(answers)
                raise AssertionError("the stream had another answer")
            except grpc.RpcError as error:
                assert error.code().name == "UNAVAILABLE", error
            finally:
                never.set()

        yield end


@contextlib.contextmanager
def half_request(stopped, protocol):
    """The beginning of a request whose rest never arrives."""
    body = json.dumps(document(1)).encode()
    whole = raw_http.head("POST", raw_http.infer_path("one"),
                          f"Content-Length: {len(body)}") + body
    if protocol == "http":
        with contextlib.ExitStack() as stack:
            for size in (5, len(whole) - len(body) - 1, len(whole) - 1):
                wire = stack.enter_context(raw_http.Wire(stopped.server))
                wire.send(whole[:size])
            raw_http.get(stopped.server, "/v2/health/live")  # the server has read the beginning
            yield lambda: None
    else:
        data = h2_wire.message(message("one", 1).SerializeToString())
        with h2_wire.Wire(stopped.server) as wire:
            for number, size in ((1, 0), (3, 3), (5, len(data) - 1)):
                wire.request(number)
                wire.data(number, data[:size], end=False)
            grpc_raw.call(stopped.server, "ServerLive")
            yield lambda: None


@contextlib.contextmanager
def load(stopped, protocol):
    """A model that is being loaded on request of a client."""
    gate = stopped.notes["held"].load_gate
    gate.write_text("0")
    if protocol == "http":
        def ask():
            return raw_http.request(stopped.server, "POST", "/v2/repository/models/held/load",
                                    b"{}").status
    else:
        def ask():
            grpc_raw.call(stopped.server, "RepositoryModelLoad", model_name="held")
            return 200
    asked = Later(ask)
    wait_for(lambda: "loading: held:1" in stopped.log, "the load", BOUND)

    def answers():
        gate.unlink()
        assert asked.get() == 200

    yield answers


@contextlib.contextmanager
def nothing(_stopped, _protocol):
    yield lambda: None


def refusal(server, protocol, model, value=1, **parameters):
    """Returns (status, text) of a request that must be refused."""
    if protocol == "grpc":
        return grpc_raw.failure(server, "ModelInfer", message(model, value, **parameters))
    answer = raw_http.infer(server, model, document(value, **parameters))
    assert answer.status != 200, answer.body
    return answer.status, answer.error
