# SPDX-License-Identifier: Apache-2.0
"""The documents and events of the console. test_access.py asks for each of its routes in each role,
and test_console_page.py looks at the page with a browser."""

import http.client
import json
import subprocess
import threading
import time
from urllib.parse import quote

import console_models
import pytest
import raw_http
from certificates import Certificates
from server_process import free_ports

NUMBERS = {"inputs": [raw_http.tensor("INPUT0", "INT32", [1, 4], [1, 2, 3, 4])]}


@pytest.fixture(scope="module", autouse=True)
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton has no console")


@pytest.fixture(scope="module")
def console(start_server, require_backends):
    require_backends("identity", "onnxruntime")
    (port,) = free_ports(1)
    server = start_server("console", console_models.write, f"--console-port={port}",
                          "--model-control-mode=explicit", "--load-model=*",
                          "--exit-on-error=false", "--strict-readiness=false")
    server.console_port = port
    return server


def ask(server, path, method="GET", body=None, headers=None):
    return raw_http.request(server, method, path, body, headers, port=server.console_port)


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return value


class Events:
    """A stream of the console's events."""

    def __init__(self, server, path):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.console_port, timeout=30)
        self.connection.request("GET", path)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200

    def next(self):
        """Returns the name and the value of the next event."""
        name = self.answer.readline().decode().removeprefix("event: ").strip()
        value = json.loads(self.answer.readline().decode().removeprefix("data: "))
        assert self.answer.readline() == b"\n"
        return name, value

    def until(self, name, condition):
        while True:
            found, value = self.next()
            if found == name and condition(value):
                return value


def test_off_unless_asked(start_server):
    server = start_server("without", console_models.write, "--model-control-mode=explicit",
                          "--load-model=numbers")
    assert "console" not in server.log_tail(200).lower()
    assert raw_http.get(server, "/console/v1/session").status == 404


def test_events_have_the_rates_and_percentiles(console):
    events = Events(console, "/console/v1/events")
    assert events.next() == ("hello", {})
    stop = threading.Event()

    def load():
        while not stop.is_set():
            raw_http.infer(console, "numbers", NUMBERS)

    thread = threading.Thread(target=load)
    thread.start()
    fields = ask(console, "/console/v1/series").json["fields"]
    try:
        def is_loaded(sample):
            return any(one["model"] == "numbers" and one["point"][fields.index("requests")] > 0
                       for one in sample["points"])
        sample = events.until("sample", is_loaded)
    finally:
        stop.set()
        thread.join()
    (point,) = [dict(zip(fields, one["point"], strict=True)) for one in sample["points"]
                if one["model"] == "numbers"]
    assert 0 < point["p50_us"] <= point["p90_us"] <= point["p99_us"]
    assert point["inferences"] >= point["executions"] > 0
    assert sample["memory_bytes"] > 1 << 20
    (series,) = ask(console, "/console/v1/models/numbers/series").json["series"]
    assert series["loaded"] and any(one[1] > 0 for one in series["seconds"])


def test_state_says_why_batches_were_closed(console):
    raw_http.infer(console, "numbers", NUMBERS)

    def closed():
        (version,) = ask(console, "/console/v1/models/numbers/state").json["versions"]
        return version if version["closed"] else None
    version = until(closed)
    total = sum(one["count"] for one in version["closed"])
    assert total >= 1 and version["executions"] >= 1
    assert all(one["text"] and one["reason"] for one in version["closed"])
    assert version["cores"][0]["instances"] == 1
    assert version["batch_sizes"][0]["size"] == 1
    assert ask(console, "/console/v1/models/absent/state").status == 400
    metrics = raw_http.get(console, "/metrics", port=console.metrics_port).body.decode()
    assert 'nereid_batch_closed_total{model="numbers"' in metrics


def test_explain_names_the_origin_of_each_value(console):
    fields = {one["path"]: one for one in ask(console, "/console/v1/models/numbers/explain").json["fields"]}
    assert fields["max_batch_size"]["origin"] == "file"
    assert fields["max_batch_size"]["file"].endswith("numbers/config.pbtxt")
    assert fields["max_batch_size"]["line"] == 3
    assert any(one["origin"] == "default" or one["origin"] == "derived" for one in fields.values())
    name = quote(console_models.HOSTILE_NAME)
    assert ask(console, f"/console/v1/models/{name}/explain").status == 200
    assert ask(console, "/console/v1/models/absent/explain").status in (400, 404)


def test_explain_marks_what_a_load_has_changed(console):
    config = ask(console, "/v2/models/texts/config").json
    config["max_batch_size"] = 0
    config["instance_group"][0]["count"] = 2
    body = json.dumps({"parameters": {"config": json.dumps(config)}})
    assert ask(console, "/v2/repository/models/texts/load", "POST", body).status == 200
    fields = {one["path"]: one for one in ask(console, "/console/v1/models/texts/explain").json["fields"]}
    assert fields["instance_group[0].count"]["origin"] == "load"
    assert fields["instance_group[0].count"]["value"] == "2"
    assert "the file has 1" in fields["instance_group[0].count"]["reason"]


def test_log_has_the_last_lines_and_their_events(console):
    document = ask(console, "/console/v1/log").json
    assert any("broken" in line["message"] for line in document["lines"])
    numbers = [line["number"] for line in document["lines"]]
    assert numbers == list(range(numbers[0], document["last"] + 1))
    assert ask(console, f"/console/v1/log?after={document['last']}").json["lines"] == []
    events = Events(console, "/console/v1/log/events")
    assert events.next()[0] == "hello"
    assert ask(console, "/v2/repository/models/broken/load", "POST", "{}").status >= 400
    events.until("lines", lambda value: any("broken" in line["message"] for line in value["lines"]))


def test_the_trace_of_an_ensemble_has_its_steps(console):
    identity = "4bf92f3577b34da6a3ce929d0e0e4736"
    body = json.dumps({"inputs": [raw_http.tensor("x", "INT32", [4], [1, 2, 3, 4])]})
    answer = ask(console, "/v2/models/chain/infer", "POST", body,
                 {"traceparent": f"00-{identity}-00f067aa0ba902b7-01"})
    assert answer.json["outputs"][0]["data"] == [1, 2, 3, 4]

    def complete():
        answer = ask(console, f"/console/v1/traces/{identity}")
        return answer.json if answer.status == 200 and answer.json["complete"] else None
    trace = until(complete)
    spans = {span["name"]: span for span in trace["spans"]}
    assert {"InferRequest", "chain", "a", "b"} <= set(spans)
    assert spans["a"]["parent"] == spans["b"]["parent"] == spans["chain"]["id"]
    assert spans["chain"]["parent"] == spans["InferRequest"]["id"]
    assert spans["InferRequest"]["parent"] == ""
    assert spans["a"]["start_us"] <= spans["b"]["start_us"]
    listed = ask(console, "/console/v1/traces").json["traces"]
    assert identity in [one["id"] for one in listed]


def test_other_pages_cannot_use_a_browser(console):
    load = "/v2/repository/models/numbers/load"
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                    {"Host": "evil.example"}, {"Host": "evil.example",
                                               "Origin": "http://evil.example"}):
        for method, path in (("GET", "/"), ("GET", "/console/v1/log"), ("POST", load)):
            answer = ask(console, path, method, b"{}" if method == "POST" else None, headers)
            assert answer.status == 403, (headers, path)
    own = f"http://127.0.0.1:{console.console_port}"
    assert ask(console, load, "POST", b"{}", {"Origin": own}).status == 200
    rules = ask(console, "/v2").headers["content-security-policy"]
    assert "default-src 'none'" in rules and "frame-ancestors 'none'" in rules


def test_viewers_that_do_not_read_are_dropped_and_bounded(console):
    def connect():
        connection = http.client.HTTPConnection("127.0.0.1", console.console_port, timeout=30)
        connection.request("GET", "/console/v1/log/events")
        return connection, connection.getresponse().status

    made = [connect() for _ in range(40)]
    statuses = [status for _, status in made]
    # A viewer of an earlier test may have a place for a moment.
    assert 31 <= statuses.count(200) <= 32 and statuses[-1] == 503
    for connection, _ in made:
        connection.close()

    def has_room():
        connection, status = connect()
        connection.close()
        return status == 200
    until(has_room)


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_over_tls_as_browsers_do(start_server, tmp_path, version):
    certificates = Certificates(tmp_path).issue("server")
    (port,) = free_ports(1)
    server = start_server("console_tls", console_models.write, f"--console-port={port}",
                          "--model-control-mode=explicit", "--load-model=numbers",
                          *certificates.flags("http"), tls=certificates.context())
    url = f"https://localhost:{port}"

    def curl(path, *options):
        # A stream of events ends with the time that curl gives it.
        done = subprocess.run(["curl", "-sk", version, "--max-time", "5", url + path, *options],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.stdout
    assert "<main id=" in curl("/")
    assert '"roles"' in curl("/console/v1/session", "-H", f"Origin: {url}")
    assert "its own pages only" in curl("/v2", "-H", "Origin: https://evil.example")
    assert "IP address or localhost" in curl("/v2", "-H", "Host: evil.example")
    events = curl("/console/v1/events")
    assert events.startswith("event: hello\n") and "event: sample\n" in events
    assert server.alive()


def test_a_stop_does_not_wait_for_viewers(start_server):
    (port,) = free_ports(1)
    server = start_server("stopped", console_models.write, f"--console-port={port}",
                          "--model-control-mode=explicit", "--load-model=numbers")
    server.console_port = port
    events = Events(server, "/console/v1/events")
    server.process.terminate()
    assert server.process.wait(30) == 0
    while events.answer.read(1000):
        pass
    server.process = None
