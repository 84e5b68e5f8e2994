# SPDX-License-Identifier: Apache-2.0
"""nereid bench against whole servers. No test judges a time."""

import json
import socket as sockets
import threading
import xml.etree.ElementTree

import command_line
import models
import pytest
from certificates import Certificates

QUICK = ("--warmup=0.05", "--window=0.1", "--stability=1000000")


def write(root):
    repository = models.Repository(root)
    repository.identity("numbers", [("FP32", [4])], batch=8)
    repository.identity("steps", [("INT32", [1])], extra="sequence_batching { direct { } }\n",
                        batch=4)


@pytest.fixture(scope="module")
def tool(request):
    return command_line.runner(request.config)


@pytest.fixture(scope="module")
def serving(start_server):
    return start_server("tool-bench", write)


def levels(done):
    return json.loads(done.stdout)["levels"]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_levels(tool, serving, protocol, tmp_path):
    address = serving.http if protocol == "http" else serving.grpc
    done = tool(serving, "bench", "numbers", "--concurrency=1,3", *QUICK, "--batch=2",
                "--svg", tmp_path / "plot.svg", "--format=json", url=f"{protocol}://{address}")
    for level, concurrency in zip(levels(done), (1, 3), strict=True):
        assert level["concurrency"] == concurrency and level["stable"] and level["windows"] == 3
        assert level["errors"] == 0 and level["requests"] > 0
        rate = level["requests"] * 2 / level["seconds"]
        assert level["inferences_per_second"] == pytest.approx(rate, rel=0.02)
        latency = level["latency_ms"]
        assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"]
        # An answer that was on its way when the server was asked belongs to the client's windows.
        assert level["server"]["requests"] >= level["requests"] - concurrency
        assert level["server"]["failed"] == 0 and level["server"]["mean_batch"] >= 2
    assert xml.etree.ElementTree.parse(tmp_path / "plot.svg").getroot().tag.endswith("svg")


def test_a_rate(tool, serving):
    for distribution in ("constant", "poisson"):
        done = tool(serving, "bench", "numbers", "--request-rate=200", "--window=0.5",
                    "--warmup=0.1", "--stability=1000000", f"--distribution={distribution}",
                    "--format=json")
        (level,) = levels(done)
        # A machine that is busy is late, but no request is dropped.
        assert level["request_rate"] == 200 and 100 < level["requests"] < 600


def test_sequences(tool, serving):
    done = tool(serving, "bench", "steps", "--concurrency=2", "--sequence-length=5", *QUICK,
                "--format=json")
    (level,) = levels(done)
    assert level["errors"] == 0 and level["requests"] > 0
    # Without sequences the model refuses every request.
    failed = tool(serving, "bench", "steps", *QUICK, code=2)
    assert "correlation ID" in failed.stderr


def test_the_table(tool, serving):
    done = tool(serving, "bench", "numbers", "--concurrency=1:2", *QUICK, "--input",
                "INPUT0=1,2,3,4")
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["CONCURRENCY", "INFER/S", "MEAN"]
    assert [line.split()[0] for line in lines[1:3]] == ["1", "2"]
    assert "latency in ms over inferences per second: o p50, * p99" in lines


def test_tls_and_a_token(tool, start_server, is_peer, tmp_path):
    if is_peer:
        pytest.skip("Triton has no TLS on HTTP")
    certificates = Certificates(tmp_path).issue("server")
    made = tool(None, "token", "create", "--role=manage", "--name=all", url="unused")
    made = made.stdout.splitlines()
    (tmp_path / "access").write_text(made[3] + "\n")
    server = start_server("tool-bench-tls", write, f"--auth-file={tmp_path}/access",
                          *certificates.flags("http"), *certificates.flags("grpc"),
                          tls=certificates.context())
    for url in (f"https://localhost:{server.http_port}", f"grpcs://localhost:{server.grpc_port}"):
        words = ("bench", "numbers", *QUICK, "--format=json", f"--url={url}")
        done = tool(server, *words, "--ca-file", certificates.ca,
                    environment_more={"NEREID_TOKEN": made[1]})
        assert levels(done)[0]["errors"] == 0
        assert tool(server, *words, code=2).stderr.startswith("nereid bench: ")
        refused = tool(server, *words, "--ca-file", certificates.ca, code=2)
        # libcurl 7.88 may lose the answer to a call that is refused while it is being sent.
        assert any(text in refused.stderr for text in (
            "401", "UNAUTHENTICATED", "refused the request before it had read it")), refused.stderr


def test_a_server_that_vanishes(tool):
    """Metadata, then a few answers, then nothing listens any more."""
    metadata = b'{"name":"m","inputs":[{"name":"a","datatype":"FP32","shape":[1]}],"outputs":[]}'
    listener = sockets.create_server(("127.0.0.1", 0))

    def serve():
        answered = 0
        while answered < 50:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                while request := connection.recv(65536):
                    content = b"{}" if request.startswith(b"POST") else metadata
                    answered += request.startswith(b"POST")
                    if answered == 50:
                        listener.close()
                        break
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
                                       % (len(content), content))

    # One thread for each connection: the tool asks for metadata on another one than the load's.
    threads = [threading.Thread(target=serve, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    done = tool(None, "bench", "m", "--window=5", "--max-windows=3", code=2,
                url=f"127.0.0.1:{listener.getsockname()[1]}")
    assert "cannot connect" in done.stderr or "connection" in done.stderr
