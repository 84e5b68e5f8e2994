# SPDX-License-Identifier: Apache-2.0
"""Roles: who may do what through which front end. The matrix comes from the server's own table of
routes (`nereid routes`), so that a new route is tested as soon as it exists."""

import http.client
import json
import os
import re
import subprocess
import time

import grpc
import grpc_raw
import models
import numpy as np
import pytest
import raw_http
import tritonclient.grpc
import tritonclient.http
from server_process import ServerFailed, free_ports
from tritonclient.grpc import service_pb2 as pb

MODEL = "fixed"
ROLES = ["infer", "observe", "manage"]
REFUSED = {"HTTP": (401, 403), "gRPC": ("UNAUTHENTICATED", "PERMISSION_DENIED")}


@pytest.fixture(scope="module", autouse=True)
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton has no roles")


def write(root):
    models.Repository(root).identity(MODEL, [("INT32", [1])])


@pytest.fixture(scope="module")
def nereid(request):
    """Runs a tool of the program and returns its output."""
    command = (request.config.option.server_command or "build/release/bin/nereid serve").split()[0]

    def run(*words):
        return subprocess.run([command, *words], capture_output=True, text=True, check=True).stdout
    return run


class Tokens:
    """An access file with one token for each role, of the same name."""

    def __init__(self, run, path):
        self.run, self.path, self.texts, self.lines = run, path, {}, {}
        for role in ROLES:
            self.add(role, role)

    def add(self, name, roles):
        made = self.run("token", "create", f"--role={roles}", f"--name={name}").splitlines()
        self.texts[name], self.lines[name] = made[1], made[3]
        self.write()

    def write(self):
        new = self.path.with_suffix(".new")
        new.write_text("# tokens of the tests\n" + "\n".join(self.lines.values()) + "\n")
        os.replace(new, self.path)

    def header(self, name):
        return {"Authorization": f"Bearer {self.texts[name]}"}


@pytest.fixture(scope="module")
def tokens(nereid, tmp_path_factory):
    return Tokens(nereid, tmp_path_factory.mktemp("access") / "access")


@pytest.fixture(scope="module")
def start(start_server, tokens):
    """Starts a server with all front ends. Its `ports` are those of the routes' protocols."""
    def start(name, *flags, **wait):
        sagemaker, vertex, console = free_ports(3)
        server = start_server(
            name, write, "--model-control-mode=explicit", f"--load-model={MODEL}",
            f"--auth-file={tokens.path}", "--allow-sagemaker=true", f"--sagemaker-port={sagemaker}",
            "--allow-vertex-ai=true", f"--vertex-ai-port={vertex}", f"--console-port={console}",
            *flags,
            environment={"AIP_HEALTH_ROUTE": "/health", "AIP_PREDICT_ROUTE": "/predict"}, **wait)
        server.ports = {"http": server.http_port, "metrics": server.metrics_port,
                        "sagemaker": sagemaker, "vertex-ai": vertex, "console": console}
        return server
    return start


@pytest.fixture(scope="module")
def guarded(start):
    return start("guarded")


def test_users_of_unix_sockets(start_server, tmp_path):
    """The kernel says who is at the other end: no token is needed."""
    access = tmp_path / "access"
    socket = f"unix:{tmp_path}/http"
    access.write_text(f"uid infer {os.getuid()}\n")
    server = start_server("unix", write, f"--auth-file={access}", f"--http-address={socket}",
                          wait_path="/v2")

    def status(path):
        connection = server._connection()
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    assert (status("/v2"), status("/v2/models/stats")) == (200, 403)
    access.write_text(f"uid observe {os.getuid() + 1}\ngid observe {os.getgid()}\n")
    until(lambda: status("/v2/models/stats") == 200)
    # Over TCP nobody is known.
    with pytest.raises(grpc.RpcError) as failed:
        grpc_raw.call(server, "ServerMetadata")
    assert failed.value.code().name == "UNAUTHENTICATED"


@pytest.fixture(scope="module")
def closed(start):
    """A server whose management has its own address."""
    (port,) = free_ports(1)
    server = start("closed", f"--admin-port={port}")
    server.admin_port = port
    return server


def routes(run):
    return json.loads(run("routes", "--format=json"))


def paths(form):
    """Returns the paths of a form: with and without each optional part, and with each word."""
    alternatives = re.search(r"\(([^()]*)\)", form)
    if alternatives:
        return [path for word in alternatives[1].split("|")
                for path in paths(form.replace(alternatives[0], word, 1))]
    optional = re.search(r"\[([^\[\]]*)\]", form)
    if optional:
        return (paths(form.replace(optional[0], optional[1], 1))
                + paths(form.replace(optional[0], "", 1)))
    # A name that no model has, where the operation would change something.
    model = "absent" if form.startswith("/v2/repository") else MODEL
    values = {"model": model, "version": "1", "region": "r", "repository": "store",
              "AIP_HEALTH_ROUTE": "/health", "AIP_PREDICT_ROUTE": "/predict",
              "file": "main.js", "trace": "0" * 32}
    return [re.sub(r"\{(\w+)\}", lambda name: values[name[1]], form)]


def grpc_messages(route):
    """Returns the name of the method and a message for it."""
    method = route["path"].rsplit("/", 1)[1]
    if route["change"]:
        message = getattr(pb, f"{method}Request")()
        if method == "LogSettings":
            message.settings["log_verbose_level"].uint32_param = 0
        else:
            message.settings["trace_rate"].value.append("1000")
        return message.SerializeToString()
    if method in ("ModelInfer", "ModelStreamInfer"):
        return grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT0", "INT32", [1])],
                                      [b"\1\0\0\0"]).SerializeToString()
    return b""


def call(server, route, headers):
    """Calls a gRPC method by its path, and returns the name of the status."""
    metadata = [(name.lower(), value) for name, value in headers.items()]
    message = grpc_messages(route)
    with grpc_raw.channel(server) as made:
        try:
            if route["path"].endswith(("StreamInfer", "Info", "Watch")):
                answers = made.stream_stream(route["path"])(iter([message]), metadata=metadata,
                                                            timeout=60)
                next(answers, None)
                answers.cancel()
            else:
                made.unary_unary(route["path"])(message, metadata=metadata, timeout=60)
        except grpc.RpcError as error:
            return error.code().name
    return "OK"


def status_of_events(port, path, headers):
    """Returns the status of a stream that does not end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def statuses(server, route, headers, http_port=None):
    """Returns the status of each request that belongs to a route, with the protocol's word for
    "not authenticated" and for "forbidden" made equal."""
    words = {401: "nobody", "UNAUTHENTICATED": "nobody", 403: "forbidden",
             "PERMISSION_DENIED": "forbidden"}
    if route["protocol"] == "grpc":
        got = [call(server, route, headers)]
    else:
        port = http_port or server.ports[route["protocol"]]
        body = b"{}" if route["method"] == "POST" else None
        got = [status_of_events(port, path, headers) if path.endswith("/events")
               else raw_http.request(server, route["method"], path, body, headers, port=port).status
               for path in paths(route["path"])]
    return {words.get(status, "allowed") for status in got}


def callers(tokens):
    """Returns (headers, roles) of everyone who may come. No roles: the server does not know who it
    is."""
    wrong = tokens.texts["infer"][:-1] + ("A" if tokens.texts["infer"][-1] != "A" else "B")
    found = [({}, None)]
    for text in ("", "Bearer", f"Bearer {wrong}", "Bearer nobody." + "a" * 43, "Basic YTpi",
                 f"Bearer {tokens.texts['manage']}x", tokens.texts["manage"]):
        found.append(({"Authorization": text}, None))
    for role in ROLES:
        found.append((tokens.header(role), {role}))
    return found


def test_every_role_route_and_protocol(guarded, tokens, nereid):
    table = routes(nereid)
    assert {route["protocol"] for route in table} == {"http", "grpc", "metrics", "sagemaker",
                                                      "vertex-ai", "console"}
    for route in table:
        assert route["roles"], route
        for headers, roles in callers(tokens):
            if route["probe"] or route["public"]:
                expected = "allowed"
            elif roles is None:
                expected = "nobody"
            else:
                expected = "allowed" if roles & set(route["roles"]) else "forbidden"
            assert statuses(guarded, route, headers) == {expected}, (route, headers)
            if route["protocol"] == "http" and route["path"].startswith("/v2"):
                # The console serves these, too.
                assert statuses(guarded, route, headers, http_port=guarded.ports["console"]) == {
                    expected}, (route, headers)


def test_the_table_has_every_path_that_is_served(guarded, nereid, tokens):
    """What the server answers with anything but "Not Found" is in the table: the paths that the
    documentation of the protocol names."""
    table = {path for route in routes(nereid) if route["protocol"] == "http"
             for path in paths(route["path"])}
    for path in ["/v2", "/v2/health/live", f"/v2/models/{MODEL}/infer",
                 f"/v2/models/{MODEL}/versions/1/generate", "/v2/models/stats",
                 "/v2/repository/store/index", "/v2/cudasharedmemory/region/r/register"]:
        assert path in table
    for path in ["/v3", "/metrics", "/v2/models", "/v2/unknown"]:
        assert raw_http.get(guarded, path).status == 404


def test_management_has_its_own_address(closed, tokens, nereid):
    headers = tokens.header("manage")
    for route in routes(nereid):
        if route["protocol"] == "metrics":
            continue
        is_management = route["roles"] == ["manage"]
        assert statuses(closed, route, headers) == {
            "forbidden" if is_management else "allowed"}, route
        if route["protocol"] == "http":
            if route["path"].startswith("/v2"):
                assert statuses(closed, route, headers, http_port=closed.ports["console"]) == {
                    "forbidden" if is_management else "allowed"}, route
            assert statuses(closed, route, headers, http_port=closed.admin_port) == {"allowed"}
            expected = "allowed" if route["probe"] else "nobody"
            assert statuses(closed, route, {}, http_port=closed.admin_port) == {expected}


def test_health_can_be_closed(start, tokens, nereid):
    server = start("health", "--auth-protect-health=true", wait_path="/v2/health/ready",
                   wait_status=401)
    for route in routes(nereid):
        if route["probe"]:
            assert statuses(server, route, {}) == {"nobody"}
            assert statuses(server, route, tokens.header("infer")) == {"allowed"}


def test_the_reply_says_how_to_authenticate(guarded, tokens):
    reply = raw_http.get(guarded, "/v2")
    assert reply.headers["www-authenticate"] == "Bearer"
    assert reply.error == ("this operation needs one of the roles 'infer' or 'observe' or 'manage': "
                           "send a valid token as 'Authorization: Bearer <token>'")
    assert "www-authenticate" not in raw_http.get(guarded, "/v2/models/stats",
                                                  headers=tokens.header("infer")).headers


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_the_file_is_read_again(start_server, nereid, tmp_path):
    own = Tokens(nereid, tmp_path / "access")
    server = start_server("reread", write, f"--auth-file={own.path}")

    def status(name):
        return raw_http.get(server, "/v2", headers=own.header(name)).status

    own.add("late", "infer")
    until(lambda: status("late") == 200)
    assert status("infer") == 200
    del own.lines["infer"]
    own.write()
    until(lambda: status("infer") == 401)
    # A fault leaves everything as it was.
    own.path.write_text("token infer\n")
    until(lambda: "line 1: a token's name has" in server.log_tail())
    assert (status("late"), status("infer")) == (200, 401)
    own.write()
    until(lambda: "Read '" in server.log_tail(1))
    assert status("late") == 200


def test_faulty_files_stop_the_start(start_server, tmp_path):
    path = tmp_path / "access"
    path.write_text("# fine\nuid nobody 1\n")
    with pytest.raises(ServerFailed, match="line 2: unknown role 'nobody', expected infer"):
        start_server("faulty", write, f"--auth-file={path}")
    with pytest.raises(ServerFailed, match="--auth-file: the access file"):
        start_server("missing", write, f"--auth-file={tmp_path}/absent")
    with pytest.raises(ServerFailed, match=r"--grpc-header-forward-pattern: 'a\(' is not"):
        start_server("pattern", write, "--grpc-header-forward-pattern=a(")


def test_official_clients_with_tokens(guarded, tokens):
    for module, url in ((tritonclient.http, guarded.http), (tritonclient.grpc, guarded.grpc)):
        headers = tokens.header("infer")
        if module is tritonclient.grpc:
            headers = {name.lower(): value for name, value in headers.items()}
        client = module.InferenceServerClient(url)
        tensor = module.InferInput("INPUT0", [1], "INT32")
        tensor.set_data_from_numpy(np.array([7], np.int32))
        assert client.infer(MODEL, [tensor], headers=headers).as_numpy("OUTPUT0")[0] == 7
        with pytest.raises(Exception, match="this operation needs one of the roles"):
            client.infer(MODEL, [tensor])
        with pytest.raises(Exception, match="this operation needs the role 'manage'"):
            client.load_model(MODEL, headers=headers)
        client.close()
