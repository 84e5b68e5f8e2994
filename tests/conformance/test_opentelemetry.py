# SPDX-License-Identifier: Apache-2.0
"""Traces as OpenTelemetry's spans: what a receiver gets, and what happens when it is slow, away or
asks for patience."""

import queue
import subprocess
import threading
import time

import numpy as np
import pytest
import raw_http
import tritonclient.grpc as grpc_client
from otlp_receiver import Receiver, parents
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from python_server import interpreter, write_model
from server_process import ServerFailed, free_ports
from test_model_metrics import page
from test_trace import GRPC, HTTP, Client, close_clients, write_models  # noqa: F401

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
HEADERS = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1"}
REQUEST = ["REQUEST_START", "QUEUE_START", "REQUEST_END"]
COMPUTE = ["COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END"]


@pytest.fixture
def receiver():
    made = Receiver().start()
    yield made
    made.may_answer.set()
    made.stop()


@pytest.fixture(params=["http", "grpc"])
def protocol(request):
    return request.param


@pytest.fixture
def traced(start_server):
    """Starts a server that sends its spans to a receiver, soon or after `delay` ms."""

    def start(url, *flags, rate=1, delay=50, level="TIMESTAMPS", environment=None, start=None,
              write=write_models):
        return (start or start_server)(
            "spans", write, "--trace-config=mode=opentelemetry", f"--trace-config=rate={rate}",
            f"--trace-config=level={level}", f"--trace-config=opentelemetry,url={url}",
            f"--trace-config=opentelemetry,bsp_schedule_delay={delay}", *flags,
            environment={"no_proxy": "*", **(environment or {})})

    return start


def metric(server, name):
    (line,) = [line for line in page(server).splitlines() if line.startswith(name + " ")]
    return float(line.rsplit(" ", 1)[1])


DELIVERED = "nereid_trace_spans_delivered_total"
QUEUE_FULL = 'nereid_trace_spans_dropped_total{reason="queue_full"}'
REFUSED = 'nereid_trace_spans_dropped_total{reason="refused"}'
RETRIES = "nereid_trace_export_retries_total"
QUEUED = "nereid_trace_spans_queued"


def without_queue(spans):
    """The spans that Triton has, too."""
    return [span for span in spans if span.name != "queue"]


def of_trace(spans):
    return [s for s in spans if s.trace == spans[0].trace]


def test_a_request_is_a_tree_of_spans(traced, receiver, protocol):
    before = time.time_ns()
    client = Client(traced(receiver.url, "--trace-config=opentelemetry,resource=zone=here"),
                    protocol)
    client.infer(request_id="mine")
    spans = receiver.wait_roots(1)
    assert parents(without_queue(spans)) == {"InferRequest": None, "one": "InferRequest",
                                             "compute": "one"}
    root, model, compute = ({s.name: s for s in spans}[name]
                            for name in ("InferRequest", "one", "compute"))
    front = HTTP if client.is_http else GRPC
    assert root.events == [*front[:2], "INFER_RESPONSE_COMPLETE", *front[2:]]
    assert [e for e in model.events if not e.startswith("BATCH_CLOSED")] == REQUEST
    assert compute.events == COMPUTE
    assert root.attributes == compute.attributes == {}
    assert model.attributes.pop("triton.trace_id") > 0
    assert model.attributes == {"triton.model_name": "one", "triton.model_version": 1,
                                "triton.trace_parent_id": 0, "triton.request_id": "mine"}
    for span in spans:
        assert span.trace == root.trace
        assert span.kind == 2  # SERVER
        assert span.scope == "triton-server"
        assert span.resource["service.name"] == "triton-inference-server"
        assert span.resource["zone"] == "here"
        assert before < root.start <= span.start <= span.end <= root.end < time.time_ns()
        assert span.event_times == sorted(span.event_times)


def test_the_wait_in_the_queue_is_a_span(traced, receiver, protocol, is_peer):
    if is_peer:
        pytest.skip("Triton has no such span")
    Client(traced(receiver.url), protocol).infer()
    spans = receiver.wait_roots(1)
    (wait,) = [s for s in spans if s.name == "queue"]
    (model,) = [s for s in spans if s.name == "one"]
    (compute,) = [s for s in spans if s.name == "compute"]
    assert wait.parent == model.id
    assert wait.start == model.event_times[model.events.index("QUEUE_START")]
    assert wait.end == compute.start


def test_a_client_can_continue_its_trace_whatever_the_rate(traced, receiver, protocol):
    client = Client(traced(receiver.url, rate=0), protocol)
    client.infer()
    client.infer(headers=dict(HEADERS))
    client.infer(headers={"traceparent": HEADERS["traceparent"][:-3]})
    client.infer(headers={**HEADERS, "traceparent": f"00-{'0' * 31}1-{PARENT}-00"})
    spans = receiver.wait_roots(2)
    first, second = [s for s in spans if s.name == "InferRequest"]
    assert (first.trace, first.parent, first.state) == (TRACE, PARENT, "vendor=1")
    assert (second.trace, second.parent) == ("0" * 31 + "1", PARENT)
    assert {s.state for s in spans} == {"vendor=1"}
    assert len(without_queue(of_trace(spans))) == 3


def test_a_traced_request_is_an_exemplar_of_the_histogram(traced, receiver, protocol, is_peer):
    if is_peer:
        pytest.skip("Triton has no exemplars")
    server = traced(receiver.url, "--metrics-config=histogram_latencies=true", rate=0)
    client = Client(server, protocol)
    client.infer()
    client.infer(headers=dict(HEADERS))
    text = raw_http.get(server, "/metrics", port=server.metrics_port,
                        headers={"Accept": "application/openmetrics-text"}).body.decode()
    exemplars = [sample.exemplar for family in parse_open(text) for sample in family.samples
                 if sample.exemplar is not None]
    assert [exemplar.labels for exemplar in exemplars] == [{"trace_id": TRACE}]
    assert abs(float(exemplars[0].timestamp) - time.time()) < 600
    assert "trace_id" not in page(server)


def test_one_request_in_so_many_and_so_many_in_all(traced, receiver, protocol):
    client = Client(traced(receiver.url, "--trace-config=count=2", rate=2), protocol)
    for number in range(1, 9):
        client.infer(request_id=str(number))
    client.infer(request_id="mine", headers=dict(HEADERS))
    spans = receiver.wait_roots(3)
    assert sorted(s.attributes["triton.request_id"] for s in spans if s.name == "one") == \
        ["2", "4", "mine"]


def test_steps_of_an_ensemble_are_inside_of_it(traced, receiver, protocol):
    Client(traced(receiver.url), protocol).infer("pipeline", name="IN", headers=dict(HEADERS))
    spans = without_queue(receiver.wait_roots(1))
    names = {s.id: s.name for s in spans}
    tree = sorted((names.get(s.parent, "client"), s.name) for s in spans)
    assert tree == [("InferRequest", "pipeline"), ("client", "InferRequest"), ("one", "compute"),
                    ("pipeline", "one"), ("pipeline", "two"), ("two", "compute")]
    assert {s.trace for s in spans} == {TRACE}
    ids = {s.name: s.attributes for s in spans if s.attributes}
    for step in ("one", "two"):
        assert ids[step]["triton.trace_parent_id"] == ids["pipeline"]["triton.trace_id"]


BLS_MODEL = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            call = pb_utils.InferenceRequest(
                model_name="one", requested_output_names=["OUTPUT0"],
                inputs=[pb_utils.Tensor("INPUT0", pb_utils.get_input_tensor_by_name(
                    request, "INPUT0").as_numpy())],
                trace=request.trace())
            call.exec()
            text = np.array([request.trace().get_context()], np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("CONTEXT", text)]))
        return responses
"""
BLS_CONFIG = """
max_batch_size: 0
input { name: "INPUT0" data_type: TYPE_INT32 dims: [ -1 ] }
output { name: "CONTEXT" data_type: TYPE_STRING dims: [ 1 ] }
"""


def test_requests_of_a_python_model_are_inside_of_it(traced, receiver, python_setting):
    """A model gets the context of its span, and the requests that it makes with its trace are
    inside of its span."""
    def write(root):
        write_models(root)
        write_model(root, "bls", BLS_MODEL, BLS_CONFIG)

    folder, flags = python_setting
    with interpreter(folder):
        server = traced(receiver.url, *flags, write=write)
    answer = Client(server, "http").infer("bls", headers=dict(HEADERS))
    context = answer.as_numpy("CONTEXT")[0].decode()
    spans = without_queue(receiver.wait_roots(1))
    names = {s.id: s.name for s in spans}
    tree = sorted((names.get(s.parent, "client"), s.name) for s in spans)
    assert tree == [("InferRequest", "bls"), ("bls", "compute"), ("bls", "one"),
                    ("client", "InferRequest"), ("one", "compute")]
    (model,) = [s for s in spans if s.name == "bls"]
    assert f'"traceparent":"00-{TRACE}-{model.id}-01"' in context
    assert '"tracestate":"vendor=1"' in context


def test_requests_of_a_stream_are_traced(traced, receiver):
    client = Client(traced(receiver.url, rate=0), "grpc")
    answers = queue.Queue()
    client.client.start_stream(lambda result, error: answers.put((result, error)),
                               headers=dict(HEADERS))
    for number in range(3):
        tensor = grpc_client.InferInput("INPUT0", [1], "INT32")
        tensor.set_data_from_numpy(np.array([number], np.int32))
        client.client.async_stream_infer("one", [tensor], request_id=str(number))
    for _ in range(3):
        assert answers.get(timeout=20)[1] is None
    client.client.stop_stream()
    roots = [s for s in receiver.wait_roots(3) if s.name == "InferRequest"]
    for root in roots:
        assert (root.trace, root.parent) == (TRACE, PARENT)
        assert set(GRPC) <= set(root.events)


def test_a_refused_request_leaves_its_span(traced, receiver, protocol):
    client = Client(traced(receiver.url), protocol)
    with pytest.raises(Exception, match="NOT_THERE"):
        client.infer(name="NOT_THERE")
    assert [s.name for s in receiver.wait_roots(1)] == ["InferRequest"]


def test_settings_show_the_mode_and_its_options(traced, receiver, protocol, is_peer):
    client = Client(traced(receiver.url, "--trace-config=opentelemetry,resource=zone=here",
                           rate=3), protocol)
    expected = {"trace_level": ["TIMESTAMPS"], "trace_rate": "3", "trace_count": "-1",
                "trace_mode": "opentelemetry", "url": receiver.url, "resource": "zone=here",
                "bsp_max_queue_size": "2048", "bsp_schedule_delay": "50",
                "bsp_max_export_batch_size": "512"}
    assert client.get() == expected
    assert client.get("one") == expected
    # Accepted, without effect in this mode.
    assert client.set({"log_frequency": "7", "url": "http://elsewhere", "trace_mode": "triton"}) \
        == expected
    with pytest.raises(Exception, match="trace file location can not be updated"):
        client.set({"trace_file": "/x"})
    with pytest.raises(Exception, match="sample rate must be non-zero"):
        client.set({"trace_rate": "0"}, "one")
    assert client.set({"trace_rate": "1"}, "one")["trace_rate"] == "1"
    assert client.set({"trace_level": ["OFF"]}, "two")["trace_level"] == ["OFF"]
    client.infer("two", headers=dict(HEADERS))
    client.infer("one")
    assert "two" not in {s.name for s in receiver.wait_roots(1)}


def wait_until(holds, timeout=30):
    end = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def infer_many(client, ids):
    for number in ids:
        client.infer(request_id=str(number))


def ids_of(spans):
    return sorted(int(s.attributes["triton.request_id"]) for s in spans if s.name == "one")


def test_each_request_arrives_once_through_restarts_and_refusals(traced, receiver, protocol,
                                                                 is_peer):
    """The receiver restarts, asks for patience and is away; what waits fits into the queue."""
    if is_peer:
        pytest.skip("Triton's exporter does not send again")
    server = traced(receiver.url, "--trace-config=opentelemetry,bsp_max_export_batch_size=16")
    client = Client(server, protocol)
    infer_many(client, range(40))
    receiver.wait_roots(40)
    receiver.stop()
    infer_many(client, range(40, 100))
    receiver.answer = lambda number: (200, {}) if number % 3 == 0 else (503, {"Retry-After": "1"})
    receiver.start()
    infer_many(client, range(100, 120))
    receiver.wait(lambda spans: len(spans) > 160)
    receiver.answer = lambda number: (200, {}) if number % 2 == 0 else (429, {})
    receiver.stop()
    infer_many(client, range(120, 140))
    receiver.answer = lambda number: (200, {})
    receiver.start()
    spans = receiver.wait_roots(140, timeout=90)
    assert ids_of(spans) == list(range(140))
    assert len({s.id for s in spans}) == len(spans) == 140 * 4
    of_request = {}
    for span in spans:
        of_request.setdefault(span.trace, []).append(span)
    assert len(of_request) == 140
    for tree in of_request.values():
        assert parents(tree) == {"InferRequest": None, "one": "InferRequest", "queue": "one",
                                 "compute": "one"}
    wait_until(lambda: metric(server, DELIVERED) == 560)
    assert metric(server, QUEUE_FULL) == metric(server, REFUSED) == 0
    assert metric(server, RETRIES) >= 2


def test_a_receiver_that_does_not_answer_delays_nobody(traced, receiver, protocol, is_peer):
    if is_peer:
        pytest.skip("needs our metrics")
    receiver.may_answer.clear()
    server = traced(receiver.url, "--trace-config=opentelemetry,bsp_max_queue_size=40",
                    "--trace-config=opentelemetry,bsp_max_export_batch_size=20")
    client = Client(server, protocol)
    infer_many(client, range(5))
    assert receiver.asked.acquire(timeout=20)  # the receiver holds the first batch
    infer_many(client, range(5, 50))  # answered although nothing can be delivered
    # The last span of a request is made when its response is sent.
    wait_until(lambda: metric(server, QUEUE_FULL) == 50 * 4 - 40)
    assert metric(server, QUEUED) == 40
    assert metric(server, DELIVERED) == 0
    receiver.may_answer.set()
    spans = receiver.wait(lambda spans: len(spans) >= 40)
    assert len({s.id for s in spans}) == 40
    assert "bsp_max_queue_size" in server.log.read_text()


def test_a_refused_batch_is_dropped_and_counted(traced, receiver, is_peer):
    if is_peer:
        pytest.skip("needs our metrics")
    receiver.answer = lambda number: (400, {}) if number == 1 else (200, {})
    server = traced(receiver.url, "--trace-config=opentelemetry,bsp_max_export_batch_size=4",
                    delay=600_000)
    client = Client(server, "http")
    client.infer(request_id="1")
    wait_until(lambda: metric(server, REFUSED) == 4)
    client.infer(request_id="2")  # fills the next batch
    assert ids_of(receiver.wait_roots(1)) == [2]
    assert "answered with the HTTP status 400" in server.log.read_text()


def test_a_receiver_that_is_not_there_harms_nobody(traced, is_peer):
    (port,) = free_ports(1)
    server = traced(f"http://127.0.0.1:{port}/v1/traces",
                    "--trace-config=opentelemetry,bsp_max_queue_size=8")
    client = Client(server, "grpc")
    infer_many(client, range(50))
    client.client.close()
    began = time.monotonic()
    server.stop()
    if not is_peer:
        assert time.monotonic() - began < 15
        assert "were not delivered" in server.log.read_text()


def test_spans_that_wait_are_sent_at_the_end(traced, receiver):
    server = traced(receiver.url, delay=600_000)
    client = Client(server, "http")
    infer_many(client, range(3))
    client.client.close()
    assert receiver.requests == 0
    server.stop()
    assert ids_of(receiver.wait_roots(3)) == [0, 1, 2]


def test_many_clients_at_once(traced, receiver, is_peer):
    server = traced(receiver.url, "--trace-config=opentelemetry,bsp_max_queue_size=20000")
    errors = []

    def work(name, kind):
        client = Client(server, kind)
        try:
            infer_many(client, range(name * 50, name * 50 + 50))
        except Exception as error:  # shown by the assertion
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n, "http" if n % 2 else "grpc"))
               for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    spans = receiver.wait_roots(400)
    assert ids_of(spans) == list(range(400))
    assert len({s.id for s in spans}) == len(spans)
    assert len({s.trace for s in spans}) == 400


def test_the_environment_of_opentelemetry_is_followed(start_server, receiver, is_peer):
    """Headers and resource attributes, which the command line does not have, or not alone."""
    if is_peer:
        pytest.skip("would need the receiver at the default port")
    server = start_server(
        "environment", write_models, "--trace-config=mode=opentelemetry",
        "--trace-config=rate=1", "--trace-config=level=TIMESTAMPS",
        environment={"no_proxy": "*",
                     "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url.removesuffix("/v1/traces"),
                     "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20secret",
                     "OTEL_BSP_SCHEDULE_DELAY": "20",
                     "OTEL_RESOURCE_ATTRIBUTES": "zone=here,service.name=other"})
    client = Client(server, "http")
    client.infer()
    (span,) = [s for s in receiver.wait_roots(1) if s.name == "InferRequest"]
    assert span.resource["zone"] == "here"
    assert span.resource["service.name"] == "triton-inference-server"
    assert receiver.headers[0]["x-key"] == "a secret"
    shown = client.get()
    assert shown["bsp_schedule_delay"] == "20" and "url" not in shown


def test_https_trusts_the_given_authority_only(traced, tmp_path, is_peer):
    if is_peer:
        pytest.skip("Triton takes no certificate here")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=receiver",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    receiver = Receiver((certificate, key)).start()
    trusting = traced(receiver.url,
                      environment={"OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate)})
    wary = traced(receiver.url)
    Client(wary, "http").infer(request_id="1")
    Client(trusting, "http").infer(request_id="2")
    assert ids_of(receiver.wait_roots(1)) == [2]
    receiver.stop()


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "http://host:port/"])
def test_a_start_with_an_unusable_url_fails(traced, url, is_peer):
    if is_peer:
        pytest.skip("Triton starts, and sends nothing")
    with pytest.raises(ServerFailed, match="--trace-config mode=opentelemetry: the URL"):
        traced(url)


def test_passwords_in_the_url_are_not_shown(traced, receiver, is_peer):
    if is_peer:
        pytest.skip("Triton shows them")
    url = receiver.url.replace("//", "//user:secret@")
    server = traced(url)
    client = Client(server, "http")
    assert client.get()["url"] == receiver.url
    client.infer()
    receiver.wait_roots(1)
    assert receiver.headers[0]["Authorization"].startswith("Basic ")
    assert "secret" not in server.log.read_text()


@pytest.mark.parametrize("headers", [
    {"traceparent": "x" * 8000}, {"traceparent": "00-" * 20}, {"traceparent": "\xff\xfe"},
    {"traceparent": HEADERS["traceparent"], "tracestate": "=" * 4000},
    {"traceparent": HEADERS["traceparent"], "tracestate": "\xff"},
])
def test_hostile_headers_change_nothing(traced, receiver, headers):
    server = traced(receiver.url)
    body = b'{"inputs":[{"name":"INPUT0","shape":[1],"datatype":"INT32","data":[1]}]}'
    answer = raw_http.request(server, "POST", "/v2/models/one/infer", body, headers=headers)
    assert answer.status == 200
    (root,) = [s for s in receiver.wait_roots(1) if s.name == "InferRequest"]
    assert root.state == ""
    assert (root.trace == TRACE) == headers["traceparent"].endswith("-01")
