# SPDX-License-Identifier: Apache-2.0
"""Batches that a worker has before it has answered the first one."""

import json
import threading

import pytest
import raw_http
from python_server import wait_until, write_model

CONFIG = """
max_batch_size: 0
input { name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "VALUE" data_type: TYPE_STRING dims: [ 1 ] }
"""

CODE = """
import json
import os
import time
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(*json.loads(request.inputs()[0].as_numpy()[0])) for request in requests]

    def answer(self, name, file):
        word = ""
        time.sleep(0.05 if file else 0)  # a long execution
        while file and not word:
            time.sleep(0.001)
            word = open(file).read() if os.path.exists(file) else ""
        if word == "exit":
            os._exit(3)
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("VALUE", np.array([name + word], np.object_))])
"""

FOLLOWERS = 4


@pytest.fixture(scope="module")
def ahead(start_python, python_kind):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend sends batches ahead")
    server = start_python("ahead", lambda root: write_model(root, "m", CODE, CONFIG), "--log-verbose=1")
    yield server
    server.stop()


def ask(server, name, file=""):
    code = json.dumps([name, str(file)])
    reply = raw_http.infer(server, "m", {"inputs": [raw_http.tensor("CODE", "BYTES", [1], [code])]})
    return reply.json["outputs"][0]["data"][0] if reply.status == 200 else reply.error


def executions(server):
    return server.log.read_text(errors="replace").count("executing 1 requests")


class Group:
    """A request that waits for a word in a file, and others that came after it."""

    def __init__(self, server, file):
        self.server, self.file = server, file
        self.answers = {}
        self.threads = []
        self.before = executions(server)

    def send(self, name, file=""):
        def run():
            self.answers[name] = ask(self.server, name, file)

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def start(self):
        """Returns whether the worker got all requests."""
        self.send("first", self.file)
        wait_until(lambda: executions(self.server) > self.before, "the first request")
        for i in range(FOLLOWERS):
            self.send(str(i))
        try:
            wait_until(lambda: executions(self.server) > self.before + FOLLOWERS, "the others", 2)
        except AssertionError:
            return False
        return True

    def end(self, word):
        self.file.write_text(word)
        for thread in self.threads:
            thread.join(60)
        return self.answers


def held_group(server, folder):
    """Returns a group all of whose requests the worker has. It gets them only if the executions before
    were short, which a busy machine may prevent."""
    for attempt in range(20):
        for _ in range(100):
            assert ask(server, "short") == "short"
        group = Group(server, folder / f"word{attempt}")
        if group.start():
            return group
        assert group.end("go")["first"] == "firstgo"
    raise AssertionError("the worker never got a batch ahead")


FINE = {str(i): str(i) for i in range(FOLLOWERS)}


def test_batches_ahead_are_executed_in_turn(ahead, tmp_path):
    assert held_group(ahead, tmp_path).end("go") == {"first": "firstgo", **FINE}


def test_only_the_executed_batch_fails_with_its_process(ahead, tmp_path):
    answers = held_group(ahead, tmp_path).end("exit")
    assert "exited with code 3" in answers.pop("first")
    assert answers == FINE


def test_a_full_worker_holds_no_event_loop(ahead, tmp_path):
    """Requests beyond those that the worker takes wait in the queue, and connections are served."""
    group = held_group(ahead, tmp_path)
    more = {f"more{i}": f"more{i}" for i in range(30)}
    for name in more:
        group.send(name)
    for _ in range(20):
        assert raw_http.get(ahead, "/v2/health/live").status == 200
    assert group.end("go") == {"first": "firstgo", **FINE, **more}


def test_a_long_execution_ends_the_sending_ahead(ahead, tmp_path):
    """After it, a request waits in the queue until the one before is answered."""
    held_group(ahead, tmp_path).end("go")
    group = Group(ahead, tmp_path / "word")
    assert not group.start()
    assert group.end("go") == {"first": "firstgo", **FINE}
