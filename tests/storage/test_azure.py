# SPDX-License-Identifier: Apache-2.0
"""Azure Blob Storage against azure_server.py, which Azure's own client judges first."""

import datetime
import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ClientAuthenticationError, ResourceModifiedError
from azure.storage.blob import BlobServiceClient, generate_container_sas
from azure_server import ACCOUNT, KEY, TOKEN, AzureServer
from conftest import ODD_KEYS
from probe import Probe, ProbeFailed

# Azure takes a backslash in a name for a slash.
NAMES = [key for key in ODD_KEYS if "\\" not in key]


@pytest.fixture
def azure(serve):
    server = AzureServer()
    serve(server)
    return server


@pytest.fixture
def probe(azure, tmp_path):
    return Probe(f"as://{ACCOUNT}/models", tmp_path, AZURE_STORAGE_ACCOUNT=ACCOUNT,
                 AZURE_STORAGE_KEY=KEY, AZURE_STORAGE_SERVICE_ENDPOINT=azure.url)


def official(azure, credential):
    return BlobServiceClient(azure.url, credential=credential,
                             retry_total=0).get_container_client("models")


def shared_key(key):
    return {"account_name": ACCOUNT, "account_key": key}


def signature():
    start = datetime.datetime.now(datetime.timezone.utc)
    return generate_container_sas(ACCOUNT, "models", account_key=KEY, permission="rl",
                                  expiry=start + datetime.timedelta(hours=1))


def test_the_official_client_accepts_the_server(azure):
    client = official(azure, shared_key(KEY))
    for name in NAMES:
        client.upload_blob(name, name.encode())
    azure.page_size = 5
    assert [blob.name for blob in client.list_blobs(name_starts_with="odd/")] == sorted(NAMES)
    assert [entry.name for entry in client.walk_blobs(delimiter="/")] == ["odd/"]
    for name in NAMES:
        assert client.download_blob(name).readall().decode() == name
    assert client.download_blob("odd/a b", offset=4, length=2).readall() == b"a "
    blob = client.get_blob_client("odd/a b")
    with pytest.raises(ResourceModifiedError):
        blob.download_blob(etag='"0x1"', match_condition=MatchConditions.IfNotModified)
    with pytest.raises(ClientAuthenticationError):
        list(official(azure, shared_key("d3Jvbmc=")).list_blobs())
    query = signature()
    with pytest.raises(ClientAuthenticationError):
        list(official(azure, query).list_blobs())
    azure.signatures.add(query)
    assert len(list(official(azure, query).list_blobs())) == len(NAMES)


def test_lists_levels_and_everything(azure, probe):
    for key in ["m/a/1/model.onnx", "m/a/config.pbtxt", "m/b/1/x", "n/c", "m/top"]:
        azure.put("models", key, key.encode())
    azure.page_size = 2
    assert probe.keys("m/") == ["m/a/1/model.onnx", "m/a/config.pbtxt", "m/b/1/x", "m/top"]
    assert sorted(probe.keys("m/", level=True)) == ["m/a/", "m/b/", "m/top"]
    assert probe.keys("nothing/") == []
    entry = probe.list("m/top")[0]
    assert entry["size"] == 5
    assert entry["md5"] == hashlib.md5(b"m/top").hexdigest()
    assert entry["version"].startswith("0x")


def test_odd_names(azure, probe):
    for name in NAMES:
        azure.put("models", name, name.encode())
    assert probe.keys("odd/") == sorted(NAMES)
    for name in NAMES:
        assert probe.read(name).decode() == name


def test_reads_ranges(azure, probe):
    content = bytes(range(256)) * 4096
    azure.put("models", "range", content)
    for offset, size in [(0, 1), (0, len(content)), (1000, 12345), (len(content) - 1, 1)]:
        assert probe.read("range", offset, size) == content[offset:offset + size]


def test_another_version_is_refused(azure, probe):
    old = azure.put("models", "changing", b"one")
    azure.put("models", "changing", b"two")
    with pytest.raises(ProbeFailed) as failed:
        probe.read("changing", version=old)
    assert failed.value.code == "Already exists"
    assert probe.read("changing") == b"two"


def test_shared_access_signatures(azure, probe):
    azure.put("models", "a b", b"content")
    for name in ("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT"):
        del probe.environment[name]
    query = signature()
    azure.signatures.add(query)
    with pytest.raises(ProbeFailed):
        probe.list()
    probe.environment["AZURE_STORAGE_SAS_TOKEN"] = query
    assert probe.read("a b") == b"content"
    del probe.environment["AZURE_STORAGE_SAS_TOKEN"]
    probe.url += "/?" + query
    assert probe.read("a b") == b"content"
    azure.signatures.clear()
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Invalid argument"
    assert "sig=" not in str(failed.value)


def test_public_containers_need_no_credentials(azure, probe):
    azure.put("models", "a", b"content")
    azure.anonymous = True
    for name in ("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT"):
        del probe.environment[name]
    assert probe.read("a") == b"content"


def test_wrong_keys_give_one_clear_error(azure, probe):
    probe.environment["AZURE_STORAGE_KEY"] = "d3Jvbmc="
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Invalid argument"
    text = str(failed.value)
    assert "AuthenticationFailed" in text and "AZURE_STORAGE_KEY" in text and "d3Jvbmc" not in text


def test_what_is_missing_is_not_found(azure, probe):
    probe.url = f"as://{ACCOUNT}/other"
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Not found"


class Identity(ThreadingHTTPServer):
    """The metadata service of a virtual machine."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), IdentityHandler)
        self.paths = []


class IdentityHandler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.paths.append(self.path)
        body = json.dumps({"access_token": TOKEN, "expires_in": "86399"}).encode()
        self.send_response(200 if self.headers["Metadata"] == "true" else 400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_managed_identities(azure, probe, serve, tmp_path):
    azure.put("models", "a", b"content")
    identity = Identity()
    host = f"http://127.0.0.1:{serve(identity)}"
    probe.environment.update(AZURE_STORAGE_AUTH_TYPE="managed_identity",
                             AZURE_STORAGE_CLIENT_ID="mine", AZURE_POD_IDENTITY_AUTHORITY_HOST=host)
    assert probe.read("a") == b"content"
    assert identity.paths == ["/metadata/identity/oauth2/token?api-version=2018-02-01&"
                              "client_id=mine&resource=https%3A%2F%2Fstorage.azure.com%2F"]
    file = tmp_path / "cloud.json"
    file.write_text(json.dumps({"as": {f"as://{ACCOUNT}": {"auth_type": "managed_identity"}}}))
    probe.environment["AZURE_STORAGE_AUTH_TYPE"] = "key"
    probe.environment["TRITON_CLOUD_CREDENTIAL_PATH"] = str(file)
    assert probe.read("a") == b"content"
