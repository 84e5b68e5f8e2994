# SPDX-License-Identifier: Apache-2.0
"""The tools that ask a server: nereid models, load, unload and status. The peer is asked by Nereid's
tools, too."""

import json
import socket as sockets
import threading

import command_line
import models
import pytest
import raw_http
from server_process import free_ports


def write(root):
    repository = models.Repository(root)
    repository.identity("good", [("INT32", [1])])
    repository.identity("spare", [("INT32", [1])])
    repository.identity("broken", [("INT32", [1])], backend="no_such_backend")


@pytest.fixture(scope="module")
def tool(request):
    return command_line.runner(request.config)


@pytest.fixture(scope="module")
def explicit(start_server):
    return start_server("tools", write, "--model-control-mode=explicit", "--load-model=good")


def rows(done):
    """The rows of a table without its head, as lists of words."""
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["MODEL", "VERSION", "STATE"]
    return [line.split() for line in lines[1:]]


def test_models(tool, explicit):
    listed = rows(tool(explicit, "models"))
    assert ["good", "1", "READY"] == next(row[:3] for row in listed if row[0] == "good")
    assert ["spare", "-", "not", "loaded"] == next(row[:4] for row in listed if row[0] == "spare")
    (only,) = rows(tool(explicit, "models", "--ready"))
    assert only[0] == "good"
    document = json.loads(tool(explicit, "models", "good", "--format", "json").stdout)
    assert [(row["name"], row["state"]) for row in document] == [("good", "READY")]
    assert "no_such" in tool(explicit, "models", "no_such", code=1).stderr


def test_load_and_unload(tool, explicit):
    loaded = tool(explicit, "load", "spare")
    assert rows(loaded)[0][:3] == ["spare", "1", "READY"]
    assert raw_http.get(explicit, "/v2/models/spare/ready").status == 200
    unloaded = tool(explicit, "unload", "spare")
    assert rows(unloaded)[0][:3] == ["spare", "1", "UNAVAILABLE"]
    assert raw_http.get(explicit, "/v2/models/spare/ready").status == 400


def test_load_with_a_configuration(tool, explicit, tmp_path):
    config = tmp_path / "config.json"
    asked = raw_http.get(explicit, "/v2/models/good/config").json
    config.write_text(json.dumps({**asked, "name": "spare", "max_batch_size": 0,
                                  "parameters": {"added": {"string_value": "yes"}}}))
    tool(explicit, "load", "spare", "--config", str(config))
    answer = raw_http.get(explicit, "/v2/models/spare/config").json
    assert answer["parameters"]["added"] == {"string_value": "yes"}
    tool(explicit, "unload", "spare")


def test_a_load_that_fails(tool, explicit):
    failed = tool(explicit, "load", "broken", code=1)
    assert "broken" in failed.stderr and failed.stdout == ""
    assert "no_such" in tool(explicit, "load", "no_such", code=1).stderr


def test_status(tool, explicit):
    document = json.loads(tool(explicit, "status", "--format=json",
                               code=status_code(explicit)).stdout)
    assert document["name"] and document["version"] and "classification" in document["extensions"]
    assert document["live"]["yes"] is True


def status_code(server):
    return 0 if raw_http.get(server, "/v2/health/ready").status == 200 else 1


def test_status_says_why(tool, start_server, is_peer):
    server = start_server("tools-status", write, "--exit-on-error=false",
                          wait_path="/v2/models/good/ready")
    done = tool(server, "status", code=1)
    assert "model broken version 1 UNAVAILABLE" in done.stdout
    if is_peer:
        return
    raw_http.request(server, "POST", "/v2/drain", b"{}")
    assert "draining: the server drains" in tool(server, "status", code=1).stdout


def test_no_server(tool, explicit):
    (port,) = free_ports(1)
    for name in ("models", "status"):
        done = tool(explicit, name, code=2, url=f"127.0.0.1:{port}")
        assert f"nereid {name}: " in done.stderr and done.stdout == ""
    assert tool(explicit, "load", "good", code=2, url=f"127.0.0.1:{port}").stdout == ""


def test_a_unix_socket_and_a_token(tool, start_server, is_peer, tmp_path):
    if is_peer:
        pytest.skip("Triton has no Unix sockets and no tokens")
    made = tool(None, "token", "create", "--role=observe", "--name=observer",
                url="unused").stdout.splitlines()
    access, token = tmp_path / "access", tmp_path / "token"
    access.write_text(made[3] + "\n")
    token.write_text(made[1] + "\n")
    socket = f"unix:{tmp_path}/http"
    server = start_server("tools-unix", write, "--model-control-mode=explicit",
                          "--load-model=good", f"--auth-file={access}",
                          f"--http-address={socket}")
    refused = tool(server, "models", code=2, url=socket)
    assert "401" in refused.stderr
    listed = tool(server, "models", "good", f"--token-file={token}", url=socket)
    assert rows(listed)[0][:3] == ["good", "1", "READY"]
    listed = tool(server, "models", "good", environment_more={"NEREID_TOKEN": made[1]}, url=socket)
    assert rows(listed)[0][:3] == ["good", "1", "READY"]
    assert "403" in tool(server, "load", "spare", f"--token-file={token}", url=socket,
                         code=2).stderr
    # Health is open to everyone, its reasons are not.
    assert "ready       yes" in tool(server, "status", url=socket).stdout


HOSTILE = [
    b"", b"x", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n[",
    b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"[" * 20000,
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
]


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_server(tool, answer):
    with sockets.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        done = tool(None, "models", code=2, url=f"127.0.0.1:{listener.getsockname()[1]}")
        assert done.stderr.startswith("nereid models: ") and done.stdout == ""
        thread.join(20)
