# SPDX-License-Identifier: Apache-2.0
"""Clients that cut, delete and exchange their shared memory while the server uses it.

Each attacker has an object of shared memory that contains one byte value only. Whatever it does to
the object, it must never get another value than its own, or the zeros of memory that was lost.
"""

import contextlib
import json
import os
import random
import threading
import time
from collections import Counter

import conftest
import models
import pytest
import raw_http
import tritonclient.grpc as grpc_client
from tritonclient.utils import InferenceServerException

PAGE = 4096
PAGES = 64
SIZE = PAGES * PAGE
ATTACKERS = 4
SECONDS = 20  # of an attack without --shm-rounds
ROUNDS = 400


def write(root):
    repository = models.Repository(root)
    repository.identity("bystander", [("INT32", [-1])])
    repository.identity("bytes", [("UINT8", [-1])])
    repository.identity("text", [("BYTES", [-1])])
    # The requests wait for each other, so regions change between the check and the use.
    repository.identity("queued", [("UINT8", [-1])],
                        extra='parameters { key: "execute_delay_ms" value { string_value: "1" } }\n'
                        + models.ONE_CPU_INSTANCE)


@pytest.fixture(scope="module")
def server(start_server):
    return start_server("shared_memory", write, "--allow-client-shm=true")


class Object:
    """An object of shared memory, which is never mapped: a client must not die of its own attack.
    """

    def __init__(self, name, value):
        self.name, self.value = name, value
        self.key = f"/nereid_attack_{os.getpid()}_{name}"
        self.path = "/dev/shm" + self.key
        self.create()

    def create(self):
        """Creates a new object under the same key."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        with open(self.path, "xb") as file:
            file.write(bytes([self.value]) * SIZE)

    def resize(self, size):
        with contextlib.suppress(FileNotFoundError):
            os.truncate(self.path, size)

    def fill(self):
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(self.path, os.O_WRONLY)
            try:
                os.pwrite(descriptor, bytes([self.value]) * SIZE, 0)
            finally:
                os.close(descriptor)

    def unlink(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def read(self, offset, size):
        """Returns what there is of these bytes."""
        try:
            with open(self.path, "rb") as file:
                file.seek(offset)
                return file.read(size)
        except FileNotFoundError:
            return b""


class HttpAsker:
    def __init__(self, server):
        self.server = server

    def manage(self, action, memory):
        body = json.dumps({"key": memory.key, "byte_size": SIZE}) if action == "register" else None
        path = f"/v2/systemsharedmemory/region/{memory.name}/{action}"
        return raw_http.request(self.server, "POST", path, body).status

    def infer(self, model, memory, count, place):
        """Returns the bytes of the response, None if they are in the region, or an error's text."""
        shared = {"shared_memory_region": memory.name, "shared_memory_byte_size": count}
        output = {"name": "OUTPUT0", "parameters": {"binary_data": True}}
        if place is not None:
            output["parameters"] = {**shared, "shared_memory_offset": place}
        answer = raw_http.infer(self.server, model, {
            "inputs": [{"name": "INPUT0", "datatype": "UINT8", "shape": [count],
                        "parameters": shared}], "outputs": [output]})
        if answer.status != 200:
            return answer.error
        return answer.parts()[1] if place is None else None


class GrpcAsker:
    def __init__(self, server):
        self.client = grpc_client.InferenceServerClient(server.grpc)

    def manage(self, action, memory):
        try:
            if action == "register":
                self.client.register_system_shared_memory(memory.name, memory.key, SIZE)
            else:
                self.client.unregister_system_shared_memory(memory.name)
        except InferenceServerException as error:
            return error.status()
        return 200

    def infer(self, model, memory, count, place):
        tensor = grpc_client.InferInput("INPUT0", [count], "UINT8")
        tensor.set_shared_memory(memory.name, count)
        output = grpc_client.InferRequestedOutput("OUTPUT0")
        if place is not None:
            output.set_shared_memory(memory.name, count, offset=place)
        try:
            result = self.client.infer(model, [tensor], outputs=[output])
        except InferenceServerException as error:
            return error.message()
        return None if place is not None else result.as_numpy("OUTPUT0").tobytes()


# Errors that say what the attacker has done.
EXPECTED = ("became smaller than the region", "bytes now", "Unable to find shared memory region")


class Attacker:
    """One thread sends requests with tensors in the object, the other changes the object."""

    def __init__(self, number, server, stop):
        self.memory = Object(f"a{number}", number + 1)
        self.asker = (HttpAsker, GrpcAsker)[number % 2](server)
        self.manager = HttpAsker(server)
        self.random = random.Random(number)
        self.stop = stop
        self.counts = Counter()
        self.failures = []
        self.threads = [threading.Thread(target=self.guard, args=(work,))
                        for work in (self.send, self.change)]

    def guard(self, work):
        try:
            work()
        except Exception as failure:  # reported by the test
            self.failures.append(repr(failure))
            self.stop.rounds = 0

    def check(self, data, where):
        wrong = set(data) - {0, self.memory.value}
        if wrong:
            self.failures.append(f"{self.memory.name}: {where} has {sorted(wrong)}")

    def send(self):
        choose = random.Random(self.memory.value)
        while not self.stop.is_over():
            count = choose.choice((PAGE, SIZE // 2))
            place = choose.choice((None, SIZE // 2))
            model = choose.choice(("bytes", "queued"))
            got = self.asker.infer(model, self.memory, count, place)
            if isinstance(got, str):
                self.counts["refused"] += 1
                if not any(text in got for text in EXPECTED):
                    self.failures.append(got)
                continue
            self.counts["answered"] += 1
            if got is None:
                self.check(self.memory.read(SIZE // 2, count), "the region")
            else:
                assert len(got) == count
                self.check(got, "the response")

    def change(self):
        manage = self.manager.manage
        manage("register", self.memory)
        while self.stop.take():
            action = self.random.randrange(5)
            if action <= 2:  # cut, and perhaps restore
                self.memory.resize(self.random.randrange(PAGES) * PAGE)
                time.sleep(self.random.random() / 500)
                if action:
                    self.memory.resize(SIZE)
                    self.memory.fill()
            elif action == 3:
                self.memory.unlink()
                time.sleep(self.random.random() / 500)
            if action != 1:
                self.memory.create()  # the region is still of the old object
            manage("unregister", self.memory)
            manage("register", self.memory)
            self.counts["rounds"] += 1


class Stop:
    """Counts down the rounds of all attackers, for a limited time."""

    def __init__(self, rounds, seconds):
        self.rounds, self.end = rounds, time.monotonic() + seconds
        self.lock = threading.Lock()

    def is_over(self):
        return self.rounds <= 0 or time.monotonic() > self.end

    def take(self):
        with self.lock:
            self.rounds -= 1
        return not self.is_over()


class Honest:
    """A client whose region stays as it is: all its requests must succeed."""

    def __init__(self, server, stop):
        self.memory = Object("honest", 0xee)
        self.asker, self.stop, self.failures, self.count = HttpAsker(server), stop, [], 0
        assert self.asker.manage("register", self.memory) == 200
        self.thread = threading.Thread(target=self.run)

    def run(self):
        want = bytes([0xee]) * PAGE
        while not self.stop.is_over() and not self.failures:
            if self.asker.infer("queued", self.memory, PAGE, None) != want:
                self.failures.append("the honest client got something else")
            self.count += 1


def test_changing_objects(request, server, attack, scale):
    given = request.config.option.shm_rounds
    stop = Stop(given or ROUNDS, 3600 if given else SECONDS)
    with attack(server, peak_mib=64, worst_ms=2000):
        attackers = [Attacker(number, server, stop) for number in range(ATTACKERS)]
        honest = Honest(server, stop)
        threads = [honest.thread, *(t for a in attackers for t in a.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for memory in (honest.memory, *(a.memory for a in attackers)):
        honest.asker.manage("unregister", memory)
        memory.unlink()
    counts = sum((a.counts for a in attackers), Counter())
    conftest.FIGURES.append(
        f"{request.node.name}: {counts['rounds']} rounds, {counts['answered']} requests answered, "
        f"{counts['refused']} refused, {honest.count} of the honest client")
    assert not [f for a in (*attackers, honest) for f in a.failures]
    assert counts["rounds"] and counts["answered"] and counts["refused"] and honest.count
    status = raw_http.get(server, "/v2/systemsharedmemory/status")
    assert json.loads(status.body) == []
    # The server has unmapped everything and closed every object.
    maps = open(f"/proc/{server.process.pid}/maps").read()
    assert "nereid_attack" not in maps
    descriptors = f"/proc/{server.process.pid}/fd"
    names = []
    for number in os.listdir(descriptors):
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(f"{descriptors}/{number}"))
    assert not [n for n in names if "nereid_attack" in n]


def test_strings_that_change(request, server, attack):
    """The lengths of strings change between the check and the use: the model gets its own copy."""
    memory = Object("strings", 0)
    element = (4).to_bytes(4, "little") + b"same"
    count = SIZE // len(element)
    good, bad = element * count, (b"\xff\xff\xff\x7f" + b"evil") * count
    asker = HttpAsker(server)
    done = threading.Event()

    def change():
        descriptor = os.open(memory.path, os.O_WRONLY)
        while not done.is_set():
            os.pwrite(descriptor, bad, 0)
            os.pwrite(descriptor, good, 0)
        os.close(descriptor)

    thread = threading.Thread(target=change)
    with attack(server, peak_mib=64, worst_ms=2000):
        assert asker.manage("register", memory) == 200
        thread.start()
        seen = Counter()
        for _ in range(100):
            answer = raw_http.infer(server, "text", {
                "inputs": [{"name": "INPUT0", "datatype": "BYTES", "shape": [count],
                            "parameters": {"shared_memory_region": memory.name,
                                           "shared_memory_byte_size": SIZE}}],
                "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]})
            seen[answer.status] += 1
            if answer.status == 200:
                got = answer.parts()[1]
                assert got[::8] == b"\x04" * count, "the model got lengths that were not checked"
            else:
                assert b"incomplete string" in answer.body or b"string elements" in answer.body
        done.set()
        thread.join()
    asker.manage("unregister", memory)
    memory.unlink()
    conftest.FIGURES.append(f"{request.node.name}: {dict(seen)}")


def test_many_regions(server, attack):
    """Registering without end: the number of regions has a limit, and frees everything again."""
    memory = Object("many", 1)
    asker = HttpAsker(server)
    with attack(server, peak_mib=32, worst_ms=2000):
        statuses = Counter()
        for number in range(1100):
            memory.name = f"many{number}"
            statuses[asker.manage("register", memory)] += 1
        assert set(statuses) == {200, 503}, statuses
        assert statuses[200] <= 1024
        answer = raw_http.request(server, "POST", "/v2/systemsharedmemory/unregister")
        assert answer.status == 200
        assert asker.manage("register", memory) == 200
    asker.manage("unregister", memory)
    memory.unlink()


def test_sparse_object(server, attack):
    """An object of a terabyte without content costs nothing, and is not read."""
    memory = Object("sparse", 0)
    asker = HttpAsker(server)
    huge = 1 << 39
    try:
        memory.resize(huge)
    except OSError:
        pytest.skip("the shared memory of this machine has no such objects")
    path = f"/v2/systemsharedmemory/region/{memory.name}/"
    with attack(server, peak_mib=32, worst_ms=2000):
        body = json.dumps({"key": memory.key, "byte_size": huge})
        assert raw_http.request(server, "POST", path + "register", body).status == 200
        text = asker.infer("bytes", memory, huge, None)
        assert "bytes of the object were ever written" in text
        body = json.dumps({"key": memory.key, "byte_size": huge})
        for number in range(4):
            answer = raw_http.request(
                server, "POST", f"/v2/systemsharedmemory/region/more{number}/register", body)
        assert answer.status == 503  # more than all regions together may have
        assert raw_http.request(server, "POST", "/v2/systemsharedmemory/unregister").status == 200
    memory.unlink()
