# SPDX-License-Identifier: Apache-2.0
"""The attacked servers, and the measurements during an attack: memory, and the waiting times of
another client."""

import contextlib
import itertools
import json
import os
import shlex
import socket
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "conformance"))

import decoupled_models  # noqa: E402
import models  # noqa: E402
from config_models import put_plugin  # noqa: E402
from server_process import ServerProcess, sanitized  # noqa: E402

FIGURES = []
SHORTEST = 0.5  # minimum seconds for which the other client is measured


def pytest_addoption(parser):
    group = parser.getgroup("server under attack")
    group.addoption("--server-command", default=os.environ.get("NEREID_SERVER"),
                    help="command that starts the server (default: NEREID_SERVER, else the "
                         "'nereid serve' of build/release)")
    group.addoption("--backend-directory", default=os.environ.get("NEREID_BACKENDS"),
                    help="passed to the server (default: NEREID_BACKENDS, else the backends of "
                         "the command's build)")
    group.addoption("--scale", type=float,
                    help="factor for the bounds of time and memory (default: 1, for a server with "
                         "a sanitizer 8)")
    group.addoption("--reference", type=float, metavar="SECONDS",
                    help="measure the other client for SECONDS, also without an attack; the "
                         "attackers run only on idle CPUs, as if they were on another machine "
                         "(needs root)")
    group.addoption("--shm-rounds", type=int, metavar="N",
                    help="carry out N changes of shared-memory objects, however long it takes "
                         "(default: 400, for 20 seconds at most)")


def pytest_configure(config):
    Bystander.waits_for_a_cpu = not config.option.reference


def pytest_terminal_summary(terminalreporter):
    if FIGURES:
        terminalreporter.write_sep("-", "figures")
    for figure in FIGURES:
        terminalreporter.write_line(figure)


@pytest.fixture(scope="session")
def command(request):
    given = request.config.option.server_command
    if given:
        return shlex.split(given)
    return [str(HERE.parents[1] / "build" / "release" / "bin" / "nereid"), "serve"]


@pytest.fixture(scope="session")
def backends(request, command) -> Path:
    given = request.config.option.backend_directory
    return Path(given).resolve() if given else Path(command[0]).resolve().parents[1] / "backends"


@pytest.fixture(scope="session")
def test_plugins(backends) -> Path:
    """The folder of the plug-ins for tests, beside the backends' folder."""
    return backends.parent / "tests" / "plugins"


@pytest.fixture(scope="session")
def start_server(command, backends, tmp_path_factory):
    """start_server(name, write, *flags) starts a server over the repository that `write` makes. All
    servers are ended with the session and must end without an error."""
    started = []

    def start(name, write, *flags, environment=None, tls=None):
        folder = tmp_path_factory.mktemp(name)
        write(folder / "models")
        flags = [f"--backend-directory={backends}", *flags]
        server = ServerProcess(command, folder / "models", folder / "server.log", flags,
                               environment=environment, tls=tls)
        server.start()
        started.append(server)
        return server

    yield start
    failures = []
    for server in started:
        try:
            server.stop()
        except Exception as error:  # all servers are ended before the first failure is reported
            failures.append(str(error))
    assert not failures, "\n".join(failures)


IP_BIND_ADDRESS_NO_PORT = 24  # socket has it since Python 3.12
ATTACKERS = itertools.count()


def attacker(port, timeout=None) -> socket.socket:
    """Returns a connection of a client with an address of its own. From one address, a kernel that
    has used up most ports searches for a free one for milliseconds, in which nothing else gets the
    CPU: something that clients on other machines do not take from the server."""
    number = next(ATTACKERS) % 0x7f0000
    one = socket.socket()
    try:
        one.settimeout(timeout)
        one.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        one.bind((f"127.{1 + (number >> 16)}.{number >> 8 & 0xff}.{number & 0xff}", 0))
        one.connect(("127.0.0.1", port))
    except OSError:
        one.close()
        raise
    return one


AT_ONCE = 16 << 10  # bytes that an attacker sends with one system call, see push()


def push(wire, data) -> bool:
    """Sends all bytes. Returns False if the server has closed the connection or does not read any
    more. In pieces, because most kernels let nothing else have the CPU before a system call is over,
    and to copy a megabyte takes a good part of a millisecond."""
    view = memoryview(data)
    try:
        for begin in range(0, len(view), AT_ONCE):
            wire.socket.sendall(view[begin:begin + AT_ONCE])
        return True
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        return False


def write_victims(plugins):
    """Writes identities of any length: "plain" and "bystander" of INT32, "bytes" of UINT8, "floats"
    of FP32, "text" of BYTES. "many" is decoupled, of UINT8 with one instance
    (tests/plugins/decoupled_faults.cc), and so is "many_responses", which is not declared as
    decoupled."""
    def write(root):
        repository = models.Repository(root)
        repository.identity("plain", [("INT32", [-1])])
        repository.identity("bystander", [("INT32", [-1])])
        for name, datatype in (("bytes", "UINT8"), ("floats", "FP32"), ("text", "BYTES")):
            repository.identity(name, [(datatype, [-1])])
        for name, extra in (("many", decoupled_models.DECOUPLED), ("many_responses", "")):
            repository.identity(name, [("UINT8", [-1])], extra=extra + models.ONE_CPU_INSTANCE,
                                backend="decoupled_faults")
            put_plugin(root / name, plugins / "libtriton_decoupled_faults.so")
    return write


@pytest.fixture(scope="session")
def server(start_server, test_plugins):
    """The server that most attacks share."""
    return start_server("victims", write_victims(test_plugins))


@pytest.fixture(scope="session")
def scale(request, command) -> float:
    given = request.config.option.scale
    if given:
        return given

    class Program:
        pass

    Program.command = command
    return 8.0 if sanitized(Program) else 1.0


def memory_of(server, field) -> float:
    """Returns a size of /proc/PID/status in MiB: VmRSS, VmHWM (the peak), VmSize."""
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"the server is gone:\n{server.log_tail()}")


def forget_peak(server):
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")


def settled_memory(server) -> float:
    """Returns the server's memory when earlier work is over, that is, when it shrinks no further.
    """
    last = memory_of(server, "VmRSS")
    for _ in range(30):
        time.sleep(0.1)
        now = memory_of(server, "VmRSS")
        if abs(now - last) < 1:
            break
        last = now
    return last


def before_all_others():
    """Lets this process have a CPU as soon as it wants one."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


class Bystander:
    """The client of bystander.py. With --reference it does not wait for a CPU, as if it were on
    another machine: only the server's work and the network's are in its waiting times."""
    waits_for_a_cpu = True

    def __init__(self, server, model="bystander", ca=None):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "bystander.py"), str(server.http_port),
             str(server.grpc_port), model, *([str(ca)] if ca else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=None if self.waits_for_a_cpu else before_all_others)
        assert self.process.stdout.readline() == "ready\n"

    def report(self):
        output, _ = self.process.communicate("\n", timeout=120)
        return json.loads(output)


@dataclass
class Watch:
    """The measurements of one attack, set after the attack."""
    grown_mib: float = 0.0
    worst_ms: float = 0.0
    p99_ms: float = 0.0
    count: int = 0


@contextlib.contextmanager
def only_on_idle_cpus():
    """Lets this thread, and the threads and processes that it starts, run only when neither the
    server nor the other client wants the CPU. An attacker on another machine takes no CPU from
    them, either."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@pytest.fixture(scope="session")
def reference(request):
    """Measures the p99 of the waiting times of the other client without an attack, in ms. Returns
    the median of what was measured for this server and model so far, because a single measurement
    differs by a third; nothing without --reference."""
    known = {}
    seconds = request.config.option.reference

    def measure(server, model, ca):
        if not seconds:
            return None
        measured = known.setdefault((server.process.pid, model), [])
        bystander = Bystander(server, model, ca)
        time.sleep(seconds)
        measured.append(bystander.report()["p99_ms"])
        return statistics.median(measured)

    return measure


@pytest.fixture
def least(request):
    """`least(server, flood, ca)` calls flood(PORT) with the port of a program that only accepts and
    closes, and returns the p99 of the other client of `server` meanwhile, in ms: what a flood of
    connections costs on this machine whatever the server does. Nothing without --reference."""
    def measure(server, flood, ca=None, model="bystander"):
        if not request.config.option.reference:
            return None
        with subprocess.Popen([sys.executable, str(HERE / "only_accepts.py")],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            port = int(program.stdout.readline())
            bystander = Bystander(server, model, ca)
            begin = time.monotonic()
            try:
                with only_on_idle_cpus():
                    flood(port)
                    time.sleep(max(0.0, begin + request.config.option.reference - time.monotonic()))
            except BaseException:
                bystander.process.kill()
                program.kill()
                raise
            report = bystander.report()
            program.communicate()
        return report["p99_ms"]

    return measure


@pytest.fixture
def attack(request, scale, reference):
    """`with attack(server, peak_mib=..., worst_ms=...)` limits the effects of the attack inside.
    `peak_mib`: the memory that the server may take in addition; `worst_ms`: the maximum time of a
    single request of another client. Both are generous, for a busy machine with two cores, and are
    multiplied by --scale. The other client must get answers; errors are permitted only if they
    contain `may_refuse`. `ca`: the file of the authority of a server that speaks TLS. `floor`: the
    result of `least`."""
    @contextlib.contextmanager
    def watch(server, *, peak_mib, worst_ms, model="bystander", may_refuse="", ca=None,
              floor=None):
        seen = Watch()
        shortest = request.config.option.reference or SHORTEST
        usual = reference(server, model, ca)
        bystander = Bystander(server, model, ca)
        before = settled_memory(server)
        forget_peak(server)
        begin = time.monotonic()
        failed = True
        try:
            with only_on_idle_cpus() if usual else contextlib.nullcontext():
                yield seen
                time.sleep(max(0.0, begin + shortest - time.monotonic()))
            failed = False
        finally:
            seconds = time.monotonic() - begin
            if failed:
                bystander.process.kill()
        seen.grown_mib = memory_of(server, "VmHWM") - before
        report = bystander.report()
        seen.count, seen.p99_ms, seen.worst_ms = (report[k] for k in
                                                  ("count", "p99_ms", "worst_ms"))
        FIGURES.append(
            f"{request.node.name}: {seconds:.1f} s, memory +{seen.grown_mib:.0f} MiB "
            f"(bound {peak_mib * scale:.0f}), other client: {seen.count} requests, p99 "
            f"{seen.p99_ms} ms, worst {seen.worst_ms} ms (bound {worst_ms * scale:.0f})")
        if usual:
            FIGURES[-1] += (f"; without an attack p99 {usual:.2f} ms: {seen.p99_ms / usual:.2f} x")
        if floor:
            FIGURES[-1] += (f"; beside a program that only accepts and closes p99 {floor} ms: "
                            f"{seen.p99_ms / floor:.2f} x")
        assert server.alive(), server.log_tail()
        failures = [f for f in report["failures"] if not may_refuse or may_refuse not in f]
        assert not failures, failures
        assert seen.count > 0
        assert seen.grown_mib <= peak_mib * scale, FIGURES[-1]
        assert seen.worst_ms <= worst_ms * scale, FIGURES[-1]

    return watch
