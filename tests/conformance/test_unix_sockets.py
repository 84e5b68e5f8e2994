# SPDX-License-Identifier: Apache-2.0
"""HTTP, gRPC and metrics over Unix sockets: the official gRPC client, curl, and what becomes of the
sockets' files."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
from pathlib import Path

import models
import numpy as np
import pytest
import tritonclient.grpc as grpcclient
import tritonclient.grpc.aio as grpcclient_aio
from certificates import Certificates
from raw_http import infer_path, tensor
from server_process import UnixConnection

VALUES = np.arange(4, dtype=np.int32)
DOCUMENT = json.dumps({"inputs": [tensor("INPUT0", "INT32", [4], VALUES.tolist())]})


@pytest.fixture(autouse=True)
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton has no Unix sockets")


def write(root):
    models.Repository(root).identity("plain", [("INT32", [-1])])


@pytest.fixture
def folder():
    """A directory with a short path: that of a socket has at most 107 characters."""
    with tempfile.TemporaryDirectory(prefix="nereid") as name:
        yield Path(name)


def flags(folder, *more):
    return [f"--http-address=unix:{folder}/http", f"--grpc-address=unix:{folder}/grpc",
            f"--metrics-address=unix:{folder}/metrics", *more]


@pytest.fixture
def sockets(start_server, folder):
    """A server that listens on no port at all."""
    server = start_server("unix_sockets", write, *flags(folder))
    server.folder = folder
    return server


def ask(path, method, target, body=None):
    """Returns the status and the body of the answer over a Unix socket."""
    with contextlib.closing(UnixConnection(path)) as connection:
        connection.request(method, target, body)
        answer = connection.getresponse()
        return answer.status, answer.read()


def infer_over_http(folder):
    status, body = ask(folder / "http", "POST", infer_path("plain"), DOCUMENT)
    assert status == 200, body
    return json.loads(body)["outputs"][0]["data"]


def grpc_inputs():
    given = grpcclient.InferInput("INPUT0", [4], "INT32")
    given.set_data_from_numpy(VALUES)
    return [given]


def infer_over_grpc(folder):
    with grpcclient.InferenceServerClient(f"unix:{folder}/grpc") as client:
        return client.infer("plain", grpc_inputs(), client_timeout=60).as_numpy("OUTPUT0").tolist()


def serves(folder):
    assert infer_over_http(folder) == VALUES.tolist()
    assert infer_over_grpc(folder) == VALUES.tolist()


def listens_on_ports(server) -> bool:
    """Returns whether the process has a listening socket of TCP."""
    inodes = set()
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(link))
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{server.process.pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                return True
    return False


def test_every_service(sockets):
    folder = sockets.folder
    serves(folder)
    status, page = ask(folder / "metrics", "GET", "/metrics")
    assert status == 200
    assert b'nv_inference_request_success{model="plain",version="1"} 2' in page
    assert not listens_on_ports(sockets)
    log = sockets.log.read_text()
    for line in (f"Started GRPCInferenceService at unix:{folder}/grpc",
                 f"Started HTTPService at unix:{folder}/http",
                 f"Started Metrics Service at unix:{folder}/metrics"):
        assert line + '"' in log


def test_curl(sockets):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    answer = subprocess.run(
        ["curl", "-sS", "--fail", "--unix-socket", str(sockets.folder / "http"),
         "http://localhost" + infer_path("plain"), "-d", DOCUMENT],
        check=True, capture_output=True, timeout=60)
    assert json.loads(answer.stdout)["outputs"][0]["data"] == VALUES.tolist()


def test_tls(start_server, folder):
    """curl with a certificate of its own, and the official gRPC client."""
    if shutil.which("curl") is None or shutil.which("openssl") is None:
        pytest.skip("curl or openssl is not installed")
    made = Certificates(folder / "certificates").issue("server").issue("client")
    own = made.path("client.crt"), made.path("client.key")
    start_server("unix_tls", write, *flags(folder), *made.flags("http", mutual=True),
                 *made.flags("grpc", mutual=True), tls=made.context(certificate="client"))

    def curl(*words):
        return subprocess.run(["curl", "-sS", "--unix-socket", folder / "http", "--cacert", made.ca,
                               *words, "https://localhost" + infer_path("plain"), "-d", DOCUMENT],
                              capture_output=True, timeout=60)

    answer = curl("--cert", own[0], "--key", own[1])
    assert json.loads(answer.stdout)["outputs"][0]["data"] == VALUES.tolist(), answer.stderr
    assert curl().returncode != 0
    with grpcclient.InferenceServerClient(
            f"unix:{folder}/grpc", ssl=True, root_certificates=str(made.ca),
            certificate_chain=str(own[0]), private_key=str(own[1]),
            channel_args=[("grpc.ssl_target_name_override", "localhost")]) as client:
        found = client.infer("plain", grpc_inputs(), client_timeout=60).as_numpy("OUTPUT0")
    assert found.tolist() == VALUES.tolist()


def test_large_tensors(sockets):
    """More than a socket's buffer holds, in both directions."""
    values = np.arange(2 << 20, dtype=np.int32)
    given = grpcclient.InferInput("INPUT0", [len(values)], "INT32")
    given.set_data_from_numpy(values)
    with grpcclient.InferenceServerClient(f"unix:{sockets.folder}/grpc") as client:
        assert (client.infer("plain", [given]).as_numpy("OUTPUT0") == values).all()
    document = {"inputs": [tensor("INPUT0", "INT32", [200_000], values[:200_000].tolist())]}
    status, body = ask(sockets.folder / "http", "POST", infer_path("plain"), json.dumps(document))
    assert status == 200
    assert json.loads(body)["outputs"][0]["data"] == values[:200_000].tolist()


def test_streams_and_the_asynchronous_client(sockets):
    address = f"unix:{sockets.folder}/grpc"
    answers, done = [], threading.Semaphore(0)

    def take(result, error):
        answers.append(error or result.as_numpy("OUTPUT0").tolist())
        done.release()

    with grpcclient.InferenceServerClient(address) as client:
        client.start_stream(take)
        for _ in range(3):
            client.async_stream_infer("plain", grpc_inputs())
        for _ in range(3):
            assert done.acquire(timeout=60)
        client.stop_stream()
    assert answers == [VALUES.tolist()] * 3

    async def several():
        async with grpcclient_aio.InferenceServerClient(address) as client:
            found = await asyncio.gather(*(client.infer("plain", grpc_inputs())
                                           for _ in range(10)))
        return [one.as_numpy("OUTPUT0").tolist() for one in found]

    assert asyncio.run(several()) == [VALUES.tolist()] * 10


def test_many_clients(sockets):
    """Every loop of the server gets some of them."""
    connections = [UnixConnection(sockets.folder / "http") for _ in range(100)]
    for _ in range(2):
        for connection in connections:
            connection.request("POST", infer_path("plain"), DOCUMENT)
        for connection in connections:
            answer = connection.getresponse()
            assert answer.status == 200
            assert json.loads(answer.read())["outputs"][0]["data"] == VALUES.tolist()
    for connection in connections:
        connection.close()
    serves(sockets.folder)


@pytest.mark.parametrize("more,mode", [([], 0o660), (["--unix-socket-mode=0600"], 0o600),
                                       (["--unix-socket-mode=666"], 0o666)])
def test_modes(start_server, folder, more, mode):
    start_server("unix_modes", write, *flags(folder, *more))
    for name in ("http", "grpc", "metrics"):
        found = os.stat(folder / name).st_mode
        assert stat.S_ISSOCK(found)
        assert stat.S_IMODE(found) == mode


def test_other_users_cannot_connect(sockets):
    """The mode keeps out who is neither the server's user nor in its group."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    os.chmod(sockets.folder, 0o755)
    program = ("import os, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); "
               "socket.socket(socket.AF_UNIX).connect(sys.argv[1])")
    result = subprocess.run(["python3", "-c", program, str(sockets.folder / "http")],
                            capture_output=True, text=True, timeout=60)
    assert "PermissionError" in result.stderr
    serves(sockets.folder)


def run_second(server, *arguments):
    """Runs a server that must not start, and returns its output."""
    result = subprocess.run([*server.command, f"--model-repository={server.repository}",
                             *server.flags, *arguments],
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_a_second_server_is_refused(sockets):
    output = run_second(sockets)
    assert f"Socket 'unix:{sockets.folder}/grpc' already in use " in output
    serves(sockets.folder)


def test_a_file_that_is_no_socket_stays(sockets):
    precious = sockets.folder / "precious"
    precious.write_text("text")
    output = run_second(sockets, f"--grpc-address=unix:{precious}")
    assert "the file exists and is not a socket" in output
    assert precious.read_text() == "text"


@pytest.mark.parametrize("address,reason", [
    ("unix:", "must name a Unix socket with 1 to 107 characters, but it has 0"),
    ("unix:/tmp/" + "x" * 200, "must name a Unix socket with 1 to 107 characters, but it has 205"),
    ("unix:/no/such/directory/s", "No such file or directory"),
], ids=["empty", "long", "directory"])
def test_impossible_addresses(sockets, address, reason):
    assert reason in run_second(sockets, f"--grpc-address={address}")


def test_the_files_end_with_the_server(start_server, folder):
    server = start_server("unix_stop", write, *flags(folder))
    serves(folder)
    server.stop()
    assert list(folder.iterdir()) == []


def test_the_files_of_a_killed_server_are_replaced(start_server, folder):
    server = start_server("unix_killed", write, *flags(folder))
    server.kill()
    assert {path.name for path in folder.iterdir()} == {"http", "grpc", "metrics"}
    server.restart()
    serves(folder)


def test_files_that_have_replaced_them_stay(start_server, folder):
    server = start_server("unix_replaced", write, *flags(folder))
    (folder / "http").unlink()
    (folder / "http").write_text("another program's")
    server.stop()
    assert [path.name for path in folder.iterdir()] == ["http"]
    assert (folder / "http").read_text() == "another program's"


def test_a_stop_closes_idle_connections(start_server, folder):
    server = start_server("unix_drain", write, *flags(folder))
    with contextlib.closing(UnixConnection(folder / "http")) as idle:
        idle.request("GET", "/v2/health/live")
        assert idle.getresponse().read() == b""
        server.process.send_signal(signal.SIGTERM)
        assert idle.sock.recv(1) == b""
    server.process.wait(60)
    assert server.process.returncode == 0
    server.process = None


def test_abstract_names(start_server, folder):
    name = f"nereid-{os.getpid()}-{folder.name}"
    start_server("unix_abstract", write, f"--grpc-address=unix-abstract:{name}")
    with grpcclient.InferenceServerClient(f"unix-abstract:{name}") as client:
        found = client.infer("plain", grpc_inputs()).as_numpy("OUTPUT0")
    assert found.tolist() == VALUES.tolist()


def test_metrics_beside_a_unix_socket_are_on_this_machine_only(start_server, folder):
    server = start_server("unix_metrics", write, f"--http-address=unix:{folder}/http")
    assert f"Started Metrics Service at 127.0.0.1:{server.metrics_port}" in server.log.read_text()
    with socket.create_connection(("127.0.0.1", server.metrics_port), timeout=60):
        pass
