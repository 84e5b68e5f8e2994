# SPDX-License-Identifier: Apache-2.0
"""TLS on HTTP, gRPC and the metrics page: the official clients, curl, and scripts of openssl."""

import asyncio
import http.client
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

import numpy as np
import pytest
import raw_http
import tritonclient.grpc as grpc_client
import tritonclient.grpc.aio as grpc_aio_client
import tritonclient.http as http_client
import tritonclient.http.aio as http_aio_client
from certificates import Certificates
from models import Repository
from server_process import ServerFailed, free_ports
from tritonclient.utils import InferenceServerException

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no program openssl")

GET = b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def write_models(root):
    Repository(root).identity("same", [("INT32", [-1])])


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    made = Certificates(tmp_path_factory.mktemp("certificates"))
    made.authority("other_ca")
    return made.issue("server").issue("client").issue("stranger", "other_ca")


@pytest.fixture(scope="module")
def skip_peer(is_peer):
    if is_peer:
        pytest.skip("Triton has no TLS on HTTP")


@pytest.fixture(scope="module")
def secured(skip_peer, start_server, certificates):
    return start_server("tls", write_models, *certificates.flags("http"),
                        *certificates.flags("grpc"), *certificates.flags("metrics"),
                        tls=certificates.context())


@pytest.fixture(scope="module")
def mutual(skip_peer, start_server, certificates):
    return start_server("mutual", write_models, *certificates.flags("http", mutual=True),
                        *certificates.flags("grpc", mutual=True),
                        tls=certificates.context(certificate="client"))


def http_options(certificates, own=None):
    options = {"ca_certs": str(certificates.ca)}
    if own:
        options.update(certfile=str(certificates.path(f"{own}.crt")),
                       keyfile=str(certificates.path(f"{own}.key")))
    return options


def grpc_options(certificates, own=None):
    options = {"ssl": True, "root_certificates": str(certificates.ca)}
    if own:
        options.update(certificate_chain=str(certificates.path(f"{own}.crt")),
                       private_key=str(certificates.path(f"{own}.key")))
    return options


def http_infer(server, options, values):
    client = http_client.InferenceServerClient(f"localhost:{server.http_port}", ssl=True,
                                               ssl_options=options, network_timeout=60)
    with client:
        tensor = http_client.InferInput("INPUT0", [len(values)], "INT32")
        tensor.set_data_from_numpy(values)
        return client.infer("same", [tensor]).as_numpy("OUTPUT0")


def grpc_infer(server, options, values):
    with grpc_client.InferenceServerClient(f"localhost:{server.grpc_port}", **options) as client:
        tensor = grpc_client.InferInput("INPUT0", [len(values)], "INT32")
        tensor.set_data_from_numpy(values)
        return client.infer("same", [tensor], client_timeout=60).as_numpy("OUTPUT0")


@pytest.mark.parametrize("size", [16, 4_000_000])
def test_tritonclient(secured, certificates, size):
    values = np.arange(size, dtype=np.int32)
    np.testing.assert_array_equal(http_infer(secured, http_options(certificates), values), values)
    np.testing.assert_array_equal(grpc_infer(secured, grpc_options(certificates), values), values)


def test_tritonclient_asyncio(secured, certificates):
    values = np.arange(100_000, dtype=np.int32)

    def tensor(module):
        made = module.InferInput("INPUT0", [len(values)], "INT32")
        made.set_data_from_numpy(values)
        return made

    async def run():
        client = http_aio_client.InferenceServerClient(
            f"localhost:{secured.http_port}", ssl=True, ssl_context=certificates.context())
        async with client:
            answers = await asyncio.gather(
                *(client.infer("same", [tensor(http_client)]) for _ in range(8)))
        client = grpc_aio_client.InferenceServerClient(f"localhost:{secured.grpc_port}",
                                                       **grpc_options(certificates))
        async with client:
            answers += await asyncio.gather(
                *(client.infer("same", [tensor(grpc_client)]) for _ in range(8)))
        return answers

    for answer in asyncio.run(run()):
        np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), values)


def test_grpc_aio_streaming(secured, certificates):
    async def requests():
        for number in range(50):
            tensor = grpc_client.InferInput("INPUT0", [1000], "INT32")
            tensor.set_data_from_numpy(np.full([1000], number, np.int32))
            yield {"model_name": "same", "inputs": [tensor], "request_id": str(number)}

    async def run():
        client = grpc_aio_client.InferenceServerClient(f"localhost:{secured.grpc_port}",
                                                       **grpc_options(certificates))
        async with client:
            seen = []
            async for answer, error in client.stream_infer(requests()):
                assert error is None
                seen.append(int(answer.as_numpy("OUTPUT0")[999]))
            return seen

    assert asyncio.run(run()) == list(range(50))


def test_grpc_streaming(secured, certificates):
    answers, done = [], threading.Event()

    def on_answer(result, error):
        answers.append(error or int(result.as_numpy("OUTPUT0")[0]))
        if len(answers) == 20:
            done.set()

    with grpc_client.InferenceServerClient(f"localhost:{secured.grpc_port}",
                                           **grpc_options(certificates)) as client:
        client.start_stream(on_answer)
        for number in range(20):
            tensor = grpc_client.InferInput("INPUT0", [1], "INT32")
            tensor.set_data_from_numpy(np.array([number], np.int32))
            client.async_stream_infer("same", [tensor])
        assert done.wait(60)
        client.stop_stream()
    assert answers == list(range(20))


def test_mutual_with_the_clients_certificate(mutual, certificates):
    values = np.arange(1000, dtype=np.int32)
    np.testing.assert_array_equal(
        http_infer(mutual, http_options(certificates, "client"), values), values)
    np.testing.assert_array_equal(
        grpc_infer(mutual, grpc_options(certificates, "client"), values), values)


@pytest.mark.parametrize("own", [None, "stranger"])
def test_mutual_refuses_others(mutual, certificates, own):
    values = np.arange(4, dtype=np.int32)
    with pytest.raises(Exception):  # of ssl, socket or geventhttpclient: by its version
        http_infer(mutual, http_options(certificates, own), values)
    with pytest.raises(InferenceServerException, match="UNAVAILABLE|DEADLINE_EXCEEDED"):
        grpc_infer(mutual, grpc_options(certificates, own), values)
    # The client learns the reason, although it has sent its request by then.
    context = certificates.context(certificate=own)
    with pytest.raises(ssl.SSLError, match="(?i)certificate.required|unknown.ca"):
        connection = socket.create_connection(("127.0.0.1", mutual.http_port), timeout=10)
        with context.wrap_socket(connection, server_hostname="localhost") as wrapped:
            wrapped.sendall(GET)
            while wrapped.recv(1000):
                pass


def test_an_unknown_server_is_refused_by_its_clients(secured, certificates):
    values = np.arange(4, dtype=np.int32)
    options = {"ca_certs": str(certificates.path("other_ca.crt"))}
    with pytest.raises(ssl.SSLError, match="CERTIFICATE_VERIFY_FAILED"):
        http_infer(secured, options, values)
    np.testing.assert_array_equal(http_infer(secured, http_options(certificates), values), values)


def test_metrics(secured, certificates):
    with urllib.request.urlopen(f"https://localhost:{secured.metrics_port}/metrics",
                                context=certificates.context(), timeout=10) as page:
        assert b"nv_inference_request_success" in page.read()


def test_the_clear_port_is_lost(secured):
    """A client without TLS gets no answer, and disturbs nothing."""
    with socket.create_connection(("127.0.0.1", secured.http_port), timeout=10) as plain:
        plain.sendall(GET)
        try:
            assert plain.recv(1000) == b""
        except ConnectionResetError:
            pass


# ---- curl ----


def curl(server, certificates, *words, path="/v2/health/ready"):
    if shutil.which("curl") is None:
        pytest.skip("no program curl")
    return subprocess.run(
        ["curl", "-sS", "--max-time", "20", "--cacert", certificates.ca, "-w",
         "%{http_code} %{http_version} %{ssl_verify_result}", *words,
         f"https://localhost:{server.http_port}{path}"], capture_output=True, text=True)


@pytest.mark.parametrize("words", [(), ("--http1.1",), ("--http1.0",), ("--no-alpn",),
                                   ("--tlsv1.3",), ("--tls-max", "1.2")])
def test_curl(secured, certificates, words):
    version = {("--http1.0",): "1.0|1.1", ("--http1.1",): "1.1", ("--no-alpn",): "1.1"}.get(words, "2")
    done = curl(secured, certificates, *words)
    code, used, verified = done.stdout.split()
    assert (code, verified) == ("200", "0"), done.stderr
    assert used in version.split("|")


def test_curl_mutual(mutual, certificates):
    own = ("--cert", certificates.path("client.crt"), "--key", certificates.path("client.key"))
    assert curl(mutual, certificates, *own).stdout.startswith("200")
    assert not curl(mutual, certificates).stdout.startswith("200")


# ---- openssl s_client ----


def s_client(port, certificates, *words, send=b"", timeout=20):
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"localhost:{port}", "-servername", "localhost",
         "-CAfile", str(certificates.ca), *map(str, words)], input=send, capture_output=True,
        timeout=timeout)
    return (done.stdout + done.stderr).decode("latin-1")


@pytest.mark.parametrize("words,expected", [
    (("-tls1_3",), "Protocol  : TLSv1.3|New, TLSv1.3"),
    (("-tls1_2",), "Protocol  : TLSv1.2|New, TLSv1.2"),
    (("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"), "ECDHE-ECDSA-AES128-GCM-SHA256"),
    (("-tls1_1", "-cipher", "ALL:@SECLEVEL=0"), "alert protocol version"),
    (("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"), "handshake failure"),
    (("-tls1_2", "-cipher", "AES128-SHA:AES128-GCM-SHA256"), "handshake failure"),
])
def test_versions_and_ciphers(secured, certificates, words, expected):
    for port, alpn in ((secured.http_port, ()), (secured.grpc_port, ("-alpn", "h2"))):
        text = s_client(port, certificates, *words, *alpn)
        assert any(e in text for e in expected.split("|")), text


@pytest.mark.parametrize("port,offered,expected", [
    ("http_port", "h2,http/1.1", "ALPN protocol: h2"),
    ("http_port", "http/1.1,h2", "ALPN protocol: h2"),
    ("http_port", "http/1.1", "ALPN protocol: http/1.1"),
    ("http_port", None, "No ALPN negotiated"),
    ("http_port", "h2", "ALPN protocol: h2"),
    ("http_port", "h3", "no application protocol"),
    ("grpc_port", "h2", "ALPN protocol: h2"),
    ("grpc_port", "http/1.1,h2", "ALPN protocol: h2"),
    ("grpc_port", "http/1.1", "no application protocol"),
    ("grpc_port", None, "no application protocol"),
])
def test_alpn(secured, certificates, port, offered, expected):
    words = ("-alpn", offered) if offered else ()
    assert expected in s_client(getattr(secured, port), certificates, *words)


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
@pytest.mark.parametrize("which", ["secured", "mutual"])
def test_sessions_are_resumed(request, certificates, tmp_path, version, which):
    port = request.getfixturevalue(which).http_port
    session = tmp_path / "session"
    own = ("-cert", certificates.path("client.crt"), "-key", certificates.path("client.key"))
    words = (version, "-ign_eof", *(own if which == "mutual" else ()))
    first = s_client(port, certificates, *words, "-sess_out", session, send=GET)
    assert "New, TLSv1" in first and "200 OK" in first, first
    # The connection is one of any of the server's loops.
    for _ in range(4):
        again = s_client(port, certificates, *words, "-sess_in", session, send=GET)
        assert "Reused, TLSv1" in again and "200 OK" in again, again


def test_early_data_is_refused(secured, certificates, tmp_path):
    session, early = tmp_path / "session", tmp_path / "early"
    early.write_bytes(GET)
    words = ("-tls1_3", "-ign_eof")
    first = s_client(secured.http_port, certificates, *words, "-sess_out", session, send=GET)
    assert "Max Early Data: 0" in first, first
    again = s_client(secured.http_port, certificates, *words, "-sess_in", session, "-early_data",
                     early, send=GET)
    assert "Early data was not sent" in again or "Early data was rejected" in again, again


def test_renegotiation_is_refused(secured, certificates):
    process = subprocess.Popen(
        ["openssl", "s_client", "-connect", f"localhost:{secured.http_port}", "-tls1_2", "-CAfile",
         str(certificates.ca)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    for line in process.stdout:
        if b"Verify return code" in line:
            break
    process.stdin.write(b"R\n")
    process.stdin.flush()
    output, _ = process.communicate(timeout=20)
    assert b"no renegotiation" in output, output


def test_the_end_is_announced(secured, certificates):
    context = certificates.context()
    connection = socket.create_connection(("127.0.0.1", secured.http_port), timeout=10)
    with context.wrap_socket(connection, server_hostname="localhost",
                             suppress_ragged_eofs=False) as wrapped:
        wrapped.sendall(GET)
        received = b""
        while more := wrapped.recv(1000):  # an end without close_notify would raise SSLEOFError
            received += more
    assert received.startswith(b"HTTP/1.1 200")


# ---- Files that change, files that are wrong ----


def served_name(port, certificates, *protocols) -> str:
    context = certificates.context(*protocols)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, \
            context.wrap_socket(connection, server_hostname="localhost") as wrapped:
        return dict(pair[0] for pair in wrapped.getpeercert()["subject"])["commonName"]


def wait_for_name(port, certificates, name, *protocols):
    end = time.monotonic() + 20
    while served_name(port, certificates, *protocols) != name:
        assert time.monotonic() < end, f"'{name}' is not served"
        time.sleep(0.2)


def test_reload_under_load(skip_peer, start_server, tmp_path):
    """The certificate changes while connections are in use: none is dropped, new ones get it."""
    certificates = Certificates(tmp_path).issue("first").issue("second").issue("third")
    certificates.install("first", "server")
    server = start_server("reload", write_models, *certificates.flags("http"),
                          *certificates.flags("grpc"), tls=certificates.context())
    assert served_name(server.http_port, certificates) == "first"
    stop, failures, counts = threading.Event(), [], [0, 0]

    def keep_http():
        connection = server.http_connection(timeout=30)
        connection.auto_open = False  # a dropped connection is a failure
        connection.connect()
        while not stop.is_set():
            connection.request("GET", "/v2/health/live")
            response = connection.getresponse()
            response.read()
            assert response.status == 200
            counts[0] += 1

    def keep_grpc():
        answered = threading.Event()
        with grpc_client.InferenceServerClient(f"localhost:{server.grpc_port}",
                                               **grpc_options(certificates)) as client:
            def on_answer(result, error):
                if error:
                    failures.append(error)
                counts[1] += 1
                answered.set()
            client.start_stream(on_answer)  # the stream ends with its connection
            while not stop.is_set():
                tensor = grpc_client.InferInput("INPUT0", [1], "INT32")
                tensor.set_data_from_numpy(np.array([1], np.int32))
                client.async_stream_infer("same", [tensor])
                assert answered.wait(30)
                answered.clear()
            client.stop_stream()

    def guarded(body):
        try:
            body()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(body,)) for body in (keep_http, keep_grpc)]
    for thread in threads:
        thread.start()
    certificates.install("second", "server")
    wait_for_name(server.http_port, certificates, "second")
    wait_for_name(server.grpc_port, certificates, "second", "h2")
    # A key that does not belong to the certificate.
    certificates.path("server.key").write_bytes(certificates.path("third.key").read_bytes())
    time.sleep(1.1)  # files are looked at once a second
    assert served_name(server.http_port, certificates) == "second"
    assert served_name(server.http_port, certificates) == "second"
    certificates.install("third", "server")
    wait_for_name(server.http_port, certificates, "third")
    before = list(counts)
    time.sleep(0.2)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert all(now > earlier > 0 for now, earlier in zip(counts, before))
    assert "does not belong to the certificate" in server.log_tail()


@pytest.mark.parametrize("service", ["http", "grpc", "metrics"])
@pytest.mark.parametrize("flag,value,text", [
    ("server-cert", "", "is missing"),
    ("server-cert", "/no/such/file", "/no/such/file"),
    ("server-key", "/no/such/file", "/no/such/file"),
    ("root-cert", "/no/such/file", "/no/such/file"),
    ("server-key", "client.key", "does not belong to the certificate"),
    ("server-cert", "client.key", "has no certificate in PEM form"),
])
def test_wrong_files(skip_peer, start_server, certificates, service, flag, value, text):
    if value and not value.startswith("/"):
        value = certificates.path(value)
    flags = [f for f in certificates.flags(service, mutual=True) if flag not in f]
    with pytest.raises(ServerFailed) as failed:
        start_server("wrong", write_models, *flags, f"--{service}-{flag}={value}")
    assert f"--{service}-{flag}" in str(failed.value), failed.value
    assert text in str(failed.value), failed.value


def test_a_stop_does_not_wait_for_handshakes(skip_peer, start_server, certificates):
    server = start_server("stop", write_models, *certificates.flags("http"),
                          *certificates.flags("grpc"), tls=certificates.context())
    silent = [socket.create_connection(("127.0.0.1", port), timeout=10)
              for port in (server.http_port, server.grpc_port) for _ in range(3)]
    assert raw_http.Wire(server).socket.version() == "TLSv1.3"  # those before it are accepted
    begin = time.monotonic()
    server.stop()
    assert time.monotonic() - begin < 8
    for connection in silent:
        connection.close()


def test_http_connection_kept(secured):
    connection = secured.http_connection(timeout=10)
    assert isinstance(connection, http.client.HTTPSConnection)
    for _ in range(100):
        connection.request("GET", "/v2")
        response = connection.getresponse()
        assert response.status == 200 and response.read()
    connection.close()


def test_the_front_ends_of_clouds_use_the_tls_of_http(skip_peer, start_server, certificates):
    (port,) = free_ports(1)
    start_server("tls_clouds", write_models, *certificates.flags("http"), "--allow-sagemaker=true",
                 f"--sagemaker-port={port}", tls=certificates.context())
    connection = http.client.HTTPSConnection("localhost", port, context=certificates.context(),
                                             timeout=60)
    connection.request("GET", "/ping")
    assert connection.getresponse().status == 200
    connection.close()
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        raw_http.request(None, "GET", "/ping", port=port)
