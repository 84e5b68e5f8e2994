# SPDX-License-Identifier: Apache-2.0
"""What the example programs of tritonclient do, with each of its four clients, in the clear and over
TLS."""

import asyncio
import contextlib
import os
import queue
import shutil
import time

import gevent.ssl
import grpc
import models
import numpy as np
import pytest
import sequence_models
import tritonclient.grpc as grpc_client
import tritonclient.grpc.aio as grpc_aio_client
import tritonclient.http as http_client
import tritonclient.http.aio as http_aio_client
import tritonclient.utils.shared_memory as shm
from certificates import Certificates
from clients import TRANSPORTS, Answer, Transport
from onnx import TensorProto, helper
from tritonclient.utils import InferenceServerException, serialize_byte_tensor

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no program openssl")

ONES = np.ones([1, 16], np.int32)
VALUES = np.arange(16, dtype=np.int32).reshape(1, 16)
TEXTS = np.array([b"", b"text", "\N{SNOWMAN}".encode(), b"\xff\x00"] + [b"x" * 1000] * 12,
                 object).reshape(1, 16)
DELAY_MS = 800  # of the model "slow"


def write(root):
    repository = models.Repository(root)
    shape = ["batch", 16]
    repository.onnx("simple", helper.make_graph(
        [helper.make_node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]),
         helper.make_node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"])], "simple",
        [helper.make_tensor_value_info(f"INPUT{i}", TensorProto.INT32, shape) for i in (0, 1)],
        [helper.make_tensor_value_info(f"OUTPUT{i}", TensorProto.INT32, shape) for i in (0, 1)]))
    repository.onnx("classifier", models.classifier_graph(True), models.classifier_config(8),
                    models.LABELS)
    repository.identity("text", [("BYTES", [-1])], batch=8)
    repository.identity("slow", [("INT32", [-1])], extra=models._delay(DELAY_MS))
    repository.identity("loadable", [("INT32", [16])], batch=8)
    sequence_models.accumulator(root, "sequence", sequence_models.state(), has_start=True)


class Client(Transport):
    """An official client, which uses TLS if there are certificates."""

    def __init__(self, name, server, loop, certificates, **options):
        self.certificates = certificates
        self.options = {**self._tls(name), **options}
        super().__init__(name, server, loop)

    def _tls(self, name):
        if self.certificates is None:
            return {}
        ca = str(self.certificates.ca)
        return {"ssl": True, **{
            # Without parameters, for geventhttpclient would pass it another file.
            "http": {"ssl_context_factory": lambda: gevent.ssl.create_default_context(cafile=ca)},
            "http_aio": {"ssl_context": self.certificates.context()},
        }.get(name, {"root_certificates": ca})}

    def connect(self):
        port = self._server.http_port if self.protocol == "http" else self._server.grpc_port
        module = {"http": http_client, "grpc": grpc_client, "http_aio": http_aio_client,
                  "grpc_aio": grpc_aio_client}[self.name]
        options = {**({"concurrency": 8} if self.name == "http" else {}), **self.options}
        if self.aio:
            self.client = self._loop.run(self._make(module, f"localhost:{port}", options))
        else:
            self.client = module.InferenceServerClient(f"localhost:{port}", **options)

    @staticmethod
    async def _make(module, url, options):
        return module.InferenceServerClient(url, **options)

    def run(self, function, *args):
        """Runs a coroutine function with the client."""
        return self._loop.run(function(self.client, *args))


@pytest.fixture(scope="module")
def all_certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates")).issue("server").issue("client")


@pytest.fixture(scope="module", params=["clear", "tls"])
def certificates(request, all_certificates):
    """What clients of the server need for TLS; None: it is in the clear."""
    return all_certificates if request.param == "tls" else None


@pytest.fixture(scope="module")
def server(start_server, is_peer, certificates):
    if is_peer and certificates:
        pytest.skip("Triton has no TLS on HTTP")
    flags = ["--model-control-mode=explicit", "--load-model=*"]
    if not is_peer:
        flags.append("--allow-client-shm=true")
    if certificates is None:
        return start_server("programs", write, *flags)
    return start_server("programs_tls", write, *flags, *certificates.flags("http"),
                        *certificates.flags("grpc"), tls=certificates.context())


@pytest.fixture(scope="module")
def transports(server, loop, certificates):
    made = {name: Client(name, server, loop, certificates) for name in TRANSPORTS}
    yield made
    for client in made.values():
        client.close()


@pytest.fixture
def new_client(server, loop, certificates):
    """new_client(name, ...) makes a client with further options."""
    with contextlib.ExitStack() as stack:
        def make(name, **options):
            made = Client(name, server, loop, certificates, **options)
            stack.callback(made.close)
            return made
        yield make


@pytest.fixture
def region():
    """region(size) creates an object of shared memory."""
    with contextlib.ExitStack() as stack:
        def make(size):
            name = f"nereid_programs_{os.getpid()}_{time.monotonic_ns()}"
            made = shm.create_shared_memory_region(name, name, size, create_only=True)
            stack.callback(shm.destroy_shared_memory_region, made)
            return made
        yield make


def simple_inputs(client, **options):
    return [client.input("INPUT0", VALUES, **options), client.input("INPUT1", ONES, **options)]


def check_simple(answer):
    np.testing.assert_array_equal(answer.array("OUTPUT0"), VALUES + 1)
    np.testing.assert_array_equal(answer.array("OUTPUT1"), VALUES - 1)


# ---- simple_*_infer_client, simple_*_string_infer_client, simple_*_health_metadata ----


def test_infer(client):
    check_simple(client.infer("simple", simple_inputs(client), ["OUTPUT0", "OUTPUT1"],
                              request_id="7", headers={"test": "1"}))
    only = client.infer("simple", simple_inputs(client), ["OUTPUT1"])
    assert only.names == ["OUTPUT1"]
    client.expect("NOT_FOUND", "unknown model: 'absent'", client.infer, "absent",
                  simple_inputs(client))


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_compressed(client, algorithm):
    options = ({"compression_algorithm": algorithm} if client.protocol == "grpc" else
               {"request_compression_algorithm": algorithm,
                "response_compression_algorithm": algorithm})
    check_simple(client.infer("simple", simple_inputs(client), **options))


@pytest.mark.parametrize("binary", [True, False])
def test_strings(client, binary):
    texts = TEXTS if binary else TEXTS[:, :3]  # in JSON a text is UTF-8
    answer = client.infer("text", [client.input("INPUT0", texts, "BYTES", binary=binary)],
                          [client.wanted("OUTPUT0", binary=binary)])
    got = [t if isinstance(t, bytes) else t.encode() for t in answer.array("OUTPUT0").flat]
    assert got == list(texts.flat)


def test_health_and_metadata(client):
    assert client.call("is_server_live") and client.call("is_server_ready")
    assert client.call("is_model_ready", "simple")
    assert "binary_tensor_data" in client.json("get_server_metadata")["extensions"]
    metadata = client.json("get_model_metadata", "simple")
    assert metadata["inputs"][0] == {"name": "INPUT0", "datatype": "INT32", "shape": [-1, 16]}
    config = client.json("get_model_config", "simple")
    assert config.get("config", config)["name"] == "simple"
    assert client.json("get_inference_statistics", "simple")["model_stats"]
    client.expect("NOT_FOUND", "unknown model: 'absent'", client.call, "get_model_metadata", "absent")


def test_model_control(client):
    tensors = [client.input("INPUT0", VALUES)]
    client.call("unload_model", "loadable")
    assert not client.call("is_model_ready", "loadable")
    states = {row["name"]: row.get("state") for row in index_of(client)}
    assert states["simple"] == "READY" and states["loadable"] != "READY"
    client.error(client.infer, "loadable", tensors)
    client.call("load_model", "loadable")
    np.testing.assert_array_equal(client.infer("loadable", tensors).array("OUTPUT0"), VALUES)


def index_of(client):
    rows = client.json("get_model_repository_index")
    return rows["models"] if client.protocol == "grpc" else rows


# ---- simple_*_async_infer_client, simple_*_aio_infer_client ----


def test_many_at_once(client):
    for answer in infer_at_once(client, 40):
        check_simple(Answer(answer, client.protocol))


def infer_at_once(client, count):
    inputs = simple_inputs(client)
    if client.aio:
        async def several(module):
            return await asyncio.gather(*(module.infer("simple", inputs) for _ in range(count)))
        return client.run(several)
    if client.name == "http":
        handles = [client.client.async_infer("simple", inputs) for _ in range(count)]
        return [handle.get_result() for handle in handles]
    done = queue.Queue()
    for _ in range(count):
        client.client.async_infer("simple", inputs, lambda result, error: done.put(error or result))
    return [done.get(timeout=60) for _ in range(count)]


# ---- simple_*_shm_client, simple_*_shm_string_client, reuse_infer_objects_client ----


def test_system_shared_memory(client, region):
    handle = region(256)
    shm.set_shared_memory_region(handle, [VALUES, ONES])
    client.call("register_system_shared_memory", "simple", "/" + handle._shm_key, 256)
    try:
        inputs, outputs = in_region(client, "simple", "INT32", [1, 16], 64)
        client.infer("simple", inputs, outputs)
    finally:
        client.call("unregister_system_shared_memory", "simple")
    for place, expected in ((128, VALUES + 1), (192, VALUES - 1)):
        got = shm.get_contents_as_numpy(handle, np.int32, [1, 16], offset=place)
        np.testing.assert_array_equal(got, expected)


def in_region(client, name, datatype, shape, size):
    """Returns two inputs and, behind them in the region, two outputs."""
    inputs = [client._module.InferInput(f"INPUT{i}", shape, datatype) for i in (0, 1)]
    outputs = [client.wanted(f"OUTPUT{i}") for i in (0, 1)]
    for i, tensor in enumerate(inputs + outputs):
        tensor.set_shared_memory(name, size, offset=i * size)
    return inputs, outputs


def test_strings_in_shared_memory(client, region):
    serialized = serialize_byte_tensor(TEXTS)
    size = len(serialized.item())
    handle = region(2 * size)
    shm.set_shared_memory_region(handle, [serialized])
    client.call("register_system_shared_memory", "texts", "/" + handle._shm_key, 2 * size)
    tensor = client._module.InferInput("INPUT0", [1, 16], "BYTES")
    tensor.set_shared_memory("texts", size)
    output = client.wanted("OUTPUT0")
    output.set_shared_memory("texts", size, offset=size)
    try:
        client.infer("text", [tensor], [output])
    finally:
        client.call("unregister_system_shared_memory", "texts")
    got = shm.get_contents_as_numpy(handle, np.object_, [1, 16], offset=size)
    assert list(got.flat) == list(TEXTS.flat)


def test_reused_objects(client, region):
    """The same inputs and outputs: values, then a region, then values again."""
    handle = region(256)
    inputs, outputs = simple_inputs(client), [client.wanted(f"OUTPUT{i}") for i in (0, 1)]
    for _ in range(2):
        check_simple(client.infer("simple", inputs, outputs))
    shm.set_shared_memory_region(handle, [VALUES, ONES])
    client.call("register_system_shared_memory", "reused", "/" + handle._shm_key, 256)
    try:
        for i, tensor in enumerate(inputs + outputs):
            tensor.set_shared_memory("reused", 64, offset=64 * i)
        client.infer("simple", inputs, outputs)
        got = shm.get_contents_as_numpy(handle, np.int32, [1, 16], offset=128)
        np.testing.assert_array_equal(got, VALUES + 1)
        for tensor, values in zip(inputs, (VALUES, ONES), strict=True):
            tensor.set_data_from_numpy(values)
        for output in outputs:
            output.unset_shared_memory()
        check_simple(client.infer("simple", inputs, outputs))
    finally:
        client.call("unregister_system_shared_memory", "reused")


# ---- image_client: classes; simple_*_sequence_*: sequences ----


def test_classification(client):
    scores = np.array([[0, 5, 1, 2, 4, 3]], np.float32)
    answer = client.infer("classifier", [client.input("features", scores)],
                          [client.wanted("scores", classes=2)])
    assert list(answer.array("scores").flat) == [b"10.000000:1:dog",
                                                 "8.000000:4:\N{SNOWMAN}".encode()]


SUMS = [11, 18, 23, 26, 28, 29]
TERMS = [11, 7, 5, 3, 2, 1]


@pytest.mark.parametrize("texts", [False, True], ids=["number", "text"])
def test_sequences(client, texts):
    ids = (f"a-{client.name}", f"b-{client.name}") if texts else (1001, 1002)
    sums = {sequence: [] for sequence in ids}
    for place, term in enumerate(TERMS):
        for sign, sequence in zip((1, -1), ids, strict=True):
            tensor = client.input("INPUT", np.array([[sign * term]], np.int32))
            answer = client.infer("sequence", [tensor], sequence_id=sequence,
                                  sequence_start=place == 0,
                                  sequence_end=place == len(TERMS) - 1)
            sums[sequence].append(int(answer.array("OUTPUT")[0][0]))
    assert sums == {ids[0]: SUMS, ids[1]: [-s for s in SUMS]}


def sequence_request(client, place, sequence):
    return {"inputs": [client.input("INPUT", np.array([[TERMS[place]]], np.int32))],
            "model_name": "sequence", "request_id": str(place), "sequence_id": sequence,
            "sequence_start": place == 0, "sequence_end": place == len(TERMS) - 1}


def test_sequence_in_a_stream(transports):
    client, done = transports["grpc"], queue.Queue()
    client.client.start_stream(lambda result, error: done.put(error or result))
    for place in range(len(TERMS)):
        client.client.async_stream_infer(**sequence_request(client, place, 2001))
    answers = [done.get(timeout=60) for _ in TERMS]
    client.client.stop_stream()
    assert [int(a.as_numpy("OUTPUT")[0][0]) for a in answers] == SUMS
    assert [a.get_response().id for a in answers] == [str(i) for i in range(len(TERMS))]


def test_sequence_in_a_stream_of_asyncio(transports):
    client = transports["grpc_aio"]

    async def run(module):
        async def requests():
            for place in range(len(TERMS)):
                yield sequence_request(client, place, 3001)
        return [(int(answer.as_numpy("OUTPUT")[0][0]), error)
                async for answer, error in module.stream_infer(requests())]

    assert client.run(run) == [(s, None) for s in SUMS]


# ---- Time-outs of the clients ----


@pytest.mark.parametrize("name", TRANSPORTS)
def test_client_timeout(new_client, transports, name):
    """The client gives up, and the server goes on."""
    options = {"http": {"network_timeout": 0.3}, "http_aio": {"conn_timeout": 0.3}}.get(name, {})
    more = {} if options else {"client_timeout": 0.3}
    client = new_client(name, **options)
    tensors = [client.input("INPUT0", np.arange(4, dtype=np.int32))]
    with pytest.raises((InferenceServerException, OSError, asyncio.TimeoutError)) as failed:
        client.infer("slow", tensors, **more)
    if client.protocol == "grpc":
        assert "Deadline Exceeded" in str(failed.value)
    check_simple(transports[name].infer("simple", simple_inputs(client)))


def test_timeout_of_an_asynchronous_call(transports):
    client, done = transports["grpc"], queue.Queue()
    tensors = [client.input("INPUT0", np.arange(4, dtype=np.int32))]
    client.client.async_infer("slow", tensors, lambda result, error: done.put(error),
                              client_timeout=0.2)
    assert "Deadline Exceeded" in str(done.get(timeout=60))
    call = client.client.async_infer("slow", tensors, lambda result, error: done.put(error))
    call.cancel()
    assert "ancel" in str(done.get(timeout=60))


def test_timeout_of_a_stream(new_client):
    client, done = new_client("grpc"), queue.Queue()
    client.client.start_stream(lambda result, error: done.put(error), stream_timeout=0.3)
    client.client.async_stream_infer("slow", [client.input("INPUT0", np.arange(4, dtype=np.int32))])
    assert "Deadline Exceeded" in str(done.get(timeout=60))
    client.client.stop_stream()


# ---- simple_grpc_keepalive_client, simple_grpc_custom_args_client, simple_http_infer with ssl ----


@pytest.mark.parametrize("name", ["grpc", "grpc_aio"])
def test_keepalive_options(new_client, name):
    """Pings while a request takes its time, and none is answered with GOAWAY."""
    client = new_client(name, keepalive_options=grpc_client.KeepAliveOptions(
        keepalive_time_ms=200, keepalive_timeout_ms=20_000, keepalive_permit_without_calls=True,
        http2_max_pings_without_data=2))
    check_simple(client.infer("simple", simple_inputs(client)))
    client.infer("slow", [client.input("INPUT0", np.arange(4, dtype=np.int32))])
    check_simple(client.infer("simple", simple_inputs(client)))


@pytest.mark.parametrize("name", ["grpc", "grpc_aio"])
def test_channel_arguments(new_client, name):
    client = new_client(name, channel_args=[
        ("grpc.primary_user_agent", "test"), ("grpc.max_receive_message_length", -1),
        ("grpc.enable_retries", 0), ("grpc.http2.bdp_probe", 1)])
    check_simple(client.infer("simple", simple_inputs(client)))


only_tls = pytest.mark.parametrize("certificates", ["tls"], indirect=True)


def http_tls(certificates, kind):
    ca = str(certificates.ca)
    return {
        "ssl_options": {"ssl_context_factory": None, "ssl_options": {"ca_certs": ca}},
        "both": {"ssl_context_factory": gevent.ssl.create_default_context,
                 "ssl_options": {"ca_certs": ca, "keyfile": str(certificates.path("client.key")),
                                 "certfile": str(certificates.path("client.crt"))}},
        # The name is not compared with the certificate.
        "insecure": {"ssl_context_factory": None, "ssl_options": {"ca_certs": ca},
                     "insecure": True},
    }[kind]


@only_tls
@pytest.mark.parametrize("kind", ["ssl_options", "both", "insecure"])
def test_options_of_tls_for_http(new_client, certificates, kind):
    client = new_client("http", **http_tls(certificates, kind))
    check_simple(client.infer("simple", simple_inputs(client)))


@only_tls
@pytest.mark.parametrize("name", ["grpc", "grpc_aio"])
def test_credentials_of_grpc(new_client, certificates, name):
    """`creds` takes the place of the other options."""
    made = grpc.ssl_channel_credentials(
        root_certificates=certificates.ca.read_bytes(),
        private_key=certificates.path("client.key").read_bytes(),
        certificate_chain=certificates.path("client.crt").read_bytes())
    client = new_client(name, creds=made, root_certificates=None)
    check_simple(client.infer("simple", simple_inputs(client)))
