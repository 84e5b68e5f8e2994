# SPDX-License-Identifier: Apache-2.0
"""The configurations of deploy/envoy, deploy/haproxy and deploy/nginx with the real programs, in front of
three replicas on 127.0.0.1, .2 and .3: sequences stay whole, a replica that leaves drains, and one that
dies takes only its own sequences with it."""

import contextlib
import http.client
import itertools
import json
import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import grpc_raw
import pytest
import raw_http
import replicas as handover
import rollout_models
from server_process import free_ports
from tritonclient.grpc import service_pb2_grpc

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("a", "b", "c")
BALANCERS = {"haproxy": "haproxy/haproxy.cfg", "nginx": "nginx/nginx.conf",
             "envoy": "envoy/envoy.yaml"}
MODEL = "sums"
HEADER = "x-sequence-id"
REPLICA = "x-nereid-replica"
SEQUENCES = 60
NOT_STARTED = "must specify the START flag on the first request of the sequence"


class Replica:
    def __init__(self, name, command, backends, models, folder, http_port, grpc_port, flags):
        self.name = name
        self.address = f"127.0.0.{NAMES.index(name) + 1}"
        self.http_port = http_port
        self.grpc_port = grpc_port
        self.log = folder / f"{name}.log"
        self.arguments = [
            command, "serve", f"--model-repository={models}", f"--backend-directory={backends}",
            f"--http-address={self.address}", f"--http-port={http_port}",
            f"--grpc-address={self.address}", f"--grpc-port={grpc_port}", "--allow-metrics=false",
            "--http-thread-count=1", "--grpc-infer-thread-count=2",
            f"--sequence-id-header={HEADER}", f"--replica-name={name}", "--exit-timeout-secs=5",
            *flags]
        self.start()

    def start(self):
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.arguments, stdout=out, stderr=out,
                                            stdin=subprocess.DEVNULL)

    def ask(self, method, path):
        connection = http.client.HTTPConnection(self.address, self.http_port, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, path)
            return connection.getresponse().status

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.ask("GET", "/v2/health/ready") == 200
        except OSError:
            return False

    def in_flight(self):
        """Returns how many sequences are open there."""
        connection = http.client.HTTPConnection(self.address, self.http_port, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/v2/drain")
            return json.load(connection.getresponse())["in_flight"]

    def is_unused(self):
        return self.in_flight() == 0

    def kill(self):
        self.process.kill()
        self.process.wait()


def handover_flags(folder, http_port):
    """Each replica also asks itself, as behind a name that has the addresses of all."""
    (folder / "token").write_text(handover.TOKEN)
    peers = ",".join(f"127.0.0.{i + 1}:{http_port}" for i in range(len(NAMES)))
    return [f"--sequence-handover-peers={peers}",
            f"--sequence-handover-token-file={folder / 'token'}", "--drain-secs=6",
            "--exit-timeout-secs=20"]


@pytest.fixture
def replicas(request, server_command, backends, test_plugins, tmp_path, wait_for):
    """Three replicas; with the parameter "handover" they hand sequences over."""
    hands_over = getattr(request, "param", None) == "handover"
    add = rollout_models.add_sums_in_states if hands_over else rollout_models.add_sums
    add(tmp_path / "models", MODEL, test_plugins)
    ports = free_ports(2)
    flags = handover_flags(tmp_path, ports[0]) if hands_over else []
    made = {}
    try:
        for name in NAMES:
            made[name] = Replica(name, server_command, backends, tmp_path / "models", tmp_path,
                                 *ports, flags)
        for replica in made.values():
            wait_for(replica.is_ready, lambda: replica.log.read_text())
        yield made
    finally:
        for replica in made.values():
            replica.kill()


class Balancer:
    """One of the three programs with its configuration, whose ports are changed to free ones."""

    def __init__(self, name, replicas, start_tool, tools, folder):
        self.name = name
        replica = replicas["a"]
        self.tools = tools
        self.http_port, self.grpc_port = free_ports(2)
        if name == "envoy":
            self.grpc_port = self.http_port
        self.path = folder / Path(BALANCERS[name]).name
        text = (ROOT / "deploy" / BALANCERS[name]).read_text()
        if any("handover" in argument for argument in replica.arguments):
            # What the comments of the file say: a replica that drains gives its sequences away.
            for left_out in (" error-status L7OKC", " on-marked-down shutdown-sessions"):
                text = text.replace(left_out, "")
        for old, new in ((8000, replica.http_port), (8001, replica.grpc_port), (9000, self.http_port),
                         (9001, self.grpc_port)):
            for before in (":", "port_value: ", "check port "):
                text = text.replace(f"{before}{old}", f"{before}{new}")
        if name == "nginx":  # which wants to write to the folders of its package
            (folder / "nginx").mkdir()
            places = "".join(f"    {kind}_temp_path {folder}/nginx/{kind};\n" for kind in (
                "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            text = (f"pid {folder}/nginx.pid;\nerror_log {folder}/nginx/error.log;\n"
                    + text.replace("http {\n", f"http {{\n    access_log off;\n{places}", 1))
        self.path.write_text(text)
        self.process = start_tool(name, *self.arguments())

    def arguments(self):
        if self.name == "envoy":
            return ["-c", self.path, "--use-dynamic-base-id", "--concurrency", "2", "-l", "warning"]
        if self.name == "haproxy":
            return ["-db", "-f", self.path]
        return ["-c", self.path, "-p", self.path.parent, "-e", self.path.parent / "nginx.start",
                "-g", "daemon off;"]

    def knows_that_it_drains(self, replica):
        """HAProxy says so in its log. Before that it still sends new sequences, and a replica that is gone
        by then takes those along for which HAProxy is just connecting."""
        return f"Server replicas_http/{replica.name} is stopping" in self.process.log.read_text()

    def take_out(self, replica):
        """What an operator does beside the drain: nginx asks no replica."""
        self.mark(replica, " ", " down ")

    def put_back(self, replica):
        self.mark(replica, " down ", " ")

    def mark(self, replica, old, new):
        if self.name != "nginx":
            return
        text = self.path.read_text()
        for port in (replica.http_port, replica.grpc_port):
            name = f"server {replica.address}:{port}"
            assert name + old in text
            text = text.replace(name + old, name + new)
        self.path.write_text(text)
        arguments = [str(a) for a in self.arguments()]
        subprocess.run([self.tools / "run", "nginx", *arguments, "-s", "reload"], check=True)

    def request(self, sequence, value, connection=None, **parameters):
        """Sends one request; the sequence is in the header only. Returns status, body, replica."""
        body = json.dumps({"parameters": parameters, "inputs": [
            raw_http.tensor("INPUT", "INT32", [1], [value])]})
        own = connection or http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=30)
        headers = {HEADER: str(sequence)} if sequence else {}
        own.request("POST", f"/v2/models/{MODEL}/infer", body, headers)
        answer = own.getresponse()
        found = answer.status, answer.read().decode(), answer.getheader(REPLICA)
        if connection is None:
            own.close()
        return found


@pytest.fixture(params=sorted(BALANCERS))
def balancer(request, replicas, start_tool, tools, tmp_path, wait_for):
    made = Balancer(request.param, replicas, start_tool, tools, tmp_path)

    def serves_all():
        assert made.process.poll() is None, made.process.log.read_text()
        try:
            seen = [made.request(None, 1) for _ in range(12)]
        except (OSError, http.client.HTTPException):
            return False
        return {replica for _, _, replica in seen} == set(NAMES)

    wait_for(serves_all, lambda: "not all replicas are in: " + made.process.log.read_text())
    return made


def total(answer):
    status, body, _ = answer
    assert status == 200, (status, body)
    return json.loads(body)["outputs"][0]["data"][0]


class Sequence:
    """One client: counts what its sum must be and which replicas have answered."""

    def __init__(self, balancer, number):
        self.balancer, self.number = balancer, number
        self.sum = 0
        self.steps = 0
        self.replicas = set()
        self.failure = None

    def step(self, last=False):
        value = self.number % 1000 + self.steps
        parameters = {"sequence_start": True} if self.steps == 0 else {}
        if last:
            parameters["sequence_end"] = True
        answer = self.balancer.request(self.number, value, **parameters)
        if answer[0] != 200:
            self.failure = answer
            return
        self.sum += value
        self.steps += 1
        self.replicas.add(answer[2])
        assert total(answer) == self.sum, f"sequence {self.number} was torn: {answer}"


def step_all(sequences, steps, last=False):
    with ThreadPoolExecutor(8) as pool:
        for i in range(steps):
            list(pool.map(lambda s: s.step(last and i == steps - 1), sequences))


def begun(balancer, steps=3, first=1000):
    sequences = [Sequence(balancer, first + i) for i in range(SEQUENCES)]
    step_all(sequences, steps)
    assert [s.failure for s in sequences if s.failure] == []
    assert {frozenset(s.replicas) for s in sequences} == {frozenset(n) for n in NAMES}
    return sequences


def test_sequences_stay_whole(balancer):
    sequences = begun(balancer)
    step_all(sequences, 7, last=True)
    assert all(s.failure is None and s.steps == 10 and len(s.replicas) == 1 for s in sequences)


def test_sequences_of_grpc_stay_whole(balancer, wait_for):
    def message(value, **parameters):
        return grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT", "INT32", [1])],
                                      [value.to_bytes(4, "little")], parameters=parameters)

    with grpc.insecure_channel(f"127.0.0.1:{balancer.grpc_port}") as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)

        def call(sequence, value, **parameters):
            answer, done = stub.ModelInfer.with_call(
                message(value, **parameters), timeout=30, wait_for_ready=True,
                metadata=[(HEADER, str(sequence))])
            seen = dict([*done.initial_metadata(), *done.trailing_metadata()])
            return int.from_bytes(answer.raw_output_contents[0], "little"), seen[REPLICA]

        found = {}
        for step in range(5):
            for sequence in range(1, 31):
                flags = {"sequence_start": True} if step == 0 else {}
                value, replica = call(sequence, sequence, **flags)
                assert value == sequence * (step + 1)
                found.setdefault(sequence, set()).add(replica)
        assert all(len(names) == 1 for names in found.values())
        assert set().union(*found.values()) == set(NAMES)


def leaves(balancer, replica, wait_for):
    """Drains a replica, and waits until new sequences avoid it."""
    assert replica.ask("POST", "/v2/drain") == 200
    balancer.take_out(replica)
    number = [100_000]

    def avoided():
        for _ in range(20):
            number[0] += 1
            status, _, name = balancer.request(number[0], 1, sequence_start=True,
                                               sequence_end=True)
            if status != 200 or name == replica.name:
                return False
        return True

    wait_for(avoided, lambda: "new sequences still begin at the replica that drains", 30)


def test_a_replica_that_leaves_drains(balancer, replicas, wait_for):
    sequences = begun(balancer)
    leaves(balancer, replicas["b"], wait_for)
    step_all(sequences, 4, last=True)
    on_b = [s for s in sequences if "b" in s.replicas]
    assert all(s.failure is None and s.steps == 7 and len(s.replicas) == 1
               for s in sequences if s not in on_b)
    if balancer.name == "haproxy":
        # It knows the sequences: those of the replica end there.
        assert all(s.failure is None and s.steps == 7 and s.replicas == {"b"} for s in on_b)
        return
    # A hash knows no sequences: another replica is asked, and refuses.
    for sequence in on_b:
        status, body, name = sequence.failure
        assert (status, name != "b") == (400, True)
        assert NOT_STARTED in body


def test_a_replica_that_dies_takes_only_its_own_sequences(balancer, replicas, wait_for):
    sequences = begun(balancer)
    replicas["c"].kill()
    step_all(sequences, 4, last=True)
    for sequence in sequences:
        if sequence.replicas == {"c"}:
            status, body, _ = sequence.failure
            assert status in (502, 503, 504) or (status == 400 and NOT_STARTED in body)
        else:
            assert sequence.failure is None and sequence.steps == 7
    begun_later = 0
    for number in range(200_000, 200_030):
        status, _, _ = balancer.request(number, 1, sequence_start=True, sequence_end=True)
        begun_later += status == 200
    assert begun_later >= 28  # the first ones may find out that the replica is gone

    # The replica comes back and gets sequences again.
    replicas["c"].start()
    wait_for(replicas["c"].is_ready, lambda: replicas["c"].log.read_text())
    number = [300_000]

    def is_back():
        number[0] += 1
        return balancer.request(number[0], 1, sequence_start=True, sequence_end=True)[2] == "c"

    wait_for(is_back, lambda: "the replica gets no sequences", 30)


class SharedNumbers:
    """An iterator over 1, 2, … as long as `goes_on` of the number is true. Several threads may use it."""

    def __init__(self, goes_on):
        self._numbers = itertools.takewhile(goes_on, itertools.count(1))
        self._lock = threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            return next(self._numbers)


class Client(threading.Thread):
    """Runs one sequence after the other, each on the connection of this client. The first request is
    sent again while it is refused with 503, as the page says."""

    def __init__(self, balancer, numbers, steps):
        super().__init__()
        self.balancer, self.numbers, self.steps = balancer, numbers, steps
        self.done, self.refused, self.wrong = 0, 0, []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.balancer.http_port, timeout=60)
        with contextlib.closing(connection):
            for number in self.numbers:
                try:
                    self.sequence(number, connection)
                    self.done += 1
                except (AssertionError, OSError, http.client.HTTPException) as error:
                    self.wrong.append(f"{number}: {error!r}")
                    connection.close()

    def sequence(self, number, connection):
        expected = 0
        for step in range(self.steps):
            parameters = {"sequence_start": step == 0, "sequence_end": step == self.steps - 1}
            while True:
                answer = self.balancer.request(number, step + number % 7, connection, **parameters)
                if step > 0 or answer[0] != 503:
                    break
                self.refused += 1
                time.sleep(0.05)  # a client that is refused does not ask at once again
            expected += step + number % 7
            assert total(answer) == expected


@pytest.mark.parametrize("balancer", ["haproxy"], indirect=True)
def test_a_rolling_restart_loses_no_sequence(balancer, replicas, wait_for):
    """NEREID_SEQUENCES=1000x50 runs that many sequences of that many steps (default 240x10), and more of
    them as long as the restart takes."""
    count, steps = map(int, os.environ.get("NEREID_SEQUENCES", "240x10").split("x"))
    restarted = threading.Event()
    numbers = SharedNumbers(lambda n: n <= count or not restarted.is_set())
    clients = [Client(balancer, numbers, steps) for _ in range(12)]
    for client in clients:
        client.start()
    try:
        for replica in replicas.values():
            assert replica.ask("POST", "/v2/drain") == 200
            wait_for(lambda: balancer.knows_that_it_drains(replica), balancer.process.log.read_text)
            wait_for(replica.is_unused, lambda: f"{replica.name} is still used", 120)
            replica.process.terminate()
            assert replica.process.wait(60) == 0
            replica.start()
            wait_for(replica.is_ready, lambda: replica.log.read_text())
            wait_for(lambda: replica.in_flight() > 0, lambda: f"{replica.name} gets nothing")
    finally:
        restarted.set()
        for client in clients:
            client.join()
    assert [wrong for client in clients for wrong in client.wrong] == []
    done = sum(client.done for client in clients)
    assert done >= count
    print(f"{done} sequences of {steps} steps, {sum(c.refused for c in clients)} refused starts")


class GroupClient(threading.Thread):
    """Runs groups of sequences, each request on a connection of its own: all sequences of a group are open
    at the same time. A request that is refused with 503 was not executed, and is sent again."""

    GROUP = 20

    def __init__(self, balancer, numbers, steps):
        super().__init__()
        self.balancer, self.numbers, self.steps = balancer, numbers, steps
        self.done, self.moved, self.refused, self.wrong = 0, 0, 0, []

    def run(self):
        while group := list(itertools.islice(self.numbers, self.GROUP)):
            sums = dict.fromkeys(group, 0)
            places = {number: set() for number in group}
            for step in range(self.steps):
                for number in list(sums):
                    try:
                        sums[number] += step + number % 7
                        places[number].add(self.step(number, step, sums[number]))
                    except (AssertionError, OSError, http.client.HTTPException) as error:
                        self.wrong.append(f"{number}, step {step}: {error!r}")
                        del sums[number]
            self.done += len(sums)
            self.moved += sum(len(places[number]) > 1 for number in sums)

    def step(self, number, step, expected):
        parameters = {"sequence_start": step == 0, "sequence_end": step == self.steps - 1}
        while True:
            answer = self.balancer.request(number, step + number % 7, **parameters)
            if answer[0] != 503:
                break
            self.refused += 1
            time.sleep(0.05)  # a client that is refused does not ask at once again
        assert total(answer) == expected
        return answer[2]


@pytest.mark.parametrize("replicas", ["handover"], indirect=True)
def test_a_rolling_restart_with_handover(balancer, replicas, wait_for):
    """Every replica is stopped and started again while clients run sequences all the time, many of which
    are open. NEREID_SEQUENCES as above, by default 240x50: longer than a load balancer needs to notice that a
    replica leaves."""
    count, steps = map(int, os.environ.get("NEREID_SEQUENCES", "240x50").split("x"))
    restarted = threading.Event()
    numbers = SharedNumbers(lambda n: n <= count or not restarted.is_set())
    clients = [GroupClient(balancer, numbers, steps) for _ in range(8)]
    for client in clients:
        client.start()
    try:
        for replica in replicas.values():
            wait_for(lambda: replica.in_flight() > 0, lambda: f"{replica.name} gets nothing")
            balancer.take_out(replica)
            replica.process.terminate()
            assert replica.process.wait(60) == 0, replica.log.read_text()
            replica.start()
            wait_for(replica.is_ready, lambda: replica.log.read_text())
            balancer.put_back(replica)
    finally:
        restarted.set()
        for client in clients:
            client.join()
    assert [wrong for client in clients for wrong in client.wrong] == []
    done = sum(client.done for client in clients)
    moved = sum(client.moved for client in clients)
    assert done >= count and moved > 0
    print(f"{balancer.name}: {done} sequences of {steps} steps, {moved} moved, "
          f"{sum(c.refused for c in clients)} refused requests")


def test_the_configurations_are_valid(run_tool, tmp_path):
    run_tool("haproxy", "-c", "-f", ROOT / "deploy" / BALANCERS["haproxy"])
    run_tool("envoy", "--mode", "validate", "-c", ROOT / "deploy" / BALANCERS["envoy"])


def test_the_page_shows_the_configurations():
    page = (ROOT / "docs" / "user" / "load_balancing.md").read_text()
    assert all(f"deploy/{path}" in page for path in BALANCERS.values())
    assert NOT_STARTED in page
