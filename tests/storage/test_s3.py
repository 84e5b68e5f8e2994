# SPDX-License-Identifier: Apache-2.0
"""S3 against moto's server, signatures judged by AWS's own botocore."""

import hashlib
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
import pytest
import requests
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from conftest import ODD_KEYS
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer
from probe import Probe, ProbeFailed

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "a/secret+key"}


@pytest.fixture(scope="module")
def moto():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def client(moto):
    client = boto3.client("s3", endpoint_url=f"http://{moto}", region_name="us-east-1",
                          aws_access_key_id="a", aws_secret_access_key="b")
    client.create_bucket(Bucket="models")
    return client


@pytest.fixture
def probe(moto, client, tmp_path):
    return Probe(f"s3://{moto}/models", tmp_path, **KEYS)


class Judge(ThreadingHTTPServer):
    """Passes on requests whose signature is the one that botocore computes; 403 for others."""

    daemon_threads = True

    def __init__(self, moto, keys, region="us-east-1", token=None):
        super().__init__(("127.0.0.1", 0), JudgeHandler)
        self.moto, self.region, self.token = moto, region, token
        self.credentials = Credentials(keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"])
        self.judged = 0


class JudgeHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def expected_signature(self):
        names = re.search(r"SignedHeaders=([^,]+)", self.headers["Authorization"])[1].split(";")
        assert {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names)
        fields = {name: self.headers[name] for name in names if name != "host"}
        request = AWSRequest(self.command, f"http://{self.headers['Host']}{self.path}", fields)
        request.context["timestamp"] = self.headers["x-amz-date"]
        auth = S3SigV4Auth(self.server.credentials, "s3", self.server.region)
        text = auth.string_to_sign(request, auth.canonical_request(request))
        return auth.signature(text, request)

    def do_GET(self):
        sent = self.headers.get("Authorization", "")
        right = sent and sent.endswith("Signature=" + self.expected_signature()) and (
            self.headers.get("x-amz-security-token") == self.server.token)
        if not right:
            body = b"<Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message></Error>"
            self.answer(403, {}, body)
            return
        self.server.judged += 1
        reply = requests.get(f"http://{self.server.moto}{self.path}", headers={
            **self.headers, "Host": self.server.moto}, timeout=30)
        self.answer(reply.status_code, reply.headers, reply.content)

    def answer(self, status, fields, body):
        self.send_response(status)
        for name in ("Content-Range", "ETag"):
            if name in fields:
                self.send_header(name, fields[name])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def put_all(client, keys):
    for key in keys:
        client.put_object(Bucket="models", Key=key, Body=key.encode())


def test_lists_levels_and_everything(client, probe):
    put_all(client, ["m/a/1/model.onnx", "m/a/config.pbtxt", "m/b/1/x", "n/c", "m/top"])
    assert probe.keys("m/") == ["m/a/1/model.onnx", "m/a/config.pbtxt", "m/b/1/x", "m/top"]
    assert probe.keys("m/", level=True) == ["m/top", "m/a/", "m/b/"]
    assert probe.keys("nothing/") == []
    entry = probe.list("m/top")[0]
    digest = hashlib.md5(b"m/top").hexdigest()
    assert entry == {"key": "m/top", "size": 5, "version": digest, "page": 0, "md5": digest}


def test_lists_many_pages(client, probe):
    keys = [f"many/{i:05}" for i in range(1001)]
    for key in keys:  # over HTTP this would take half a minute
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object("models", key, b"x")
    entries = probe.list("many/")
    assert [entry["key"] for entry in entries] == keys
    assert {entry["page"] for entry in entries} == {0, 1}


def test_odd_keys_are_signed_as_botocore_does(client, probe, moto, serve):
    put_all(client, ODD_KEYS)
    judge = Judge(moto, KEYS)
    probe.url = f"s3://http://127.0.0.1:{serve(judge)}/models"
    assert probe.keys("odd/") == sorted(ODD_KEYS, key=str.encode)
    for key in ODD_KEYS:
        assert probe.read(key).decode() == key
        assert probe.keys(key)[0] == key
    assert judge.judged >= 1 + 3 * len(ODD_KEYS)


def test_session_tokens_are_signed(client, probe, moto, serve):
    put_all(client, ["t"])
    probe.url = f"s3://127.0.0.1:{serve(Judge(moto, KEYS, token='to/ken=='))}/models"
    with pytest.raises(ProbeFailed):
        probe.read("t")
    probe.environment["AWS_SESSION_TOKEN"] = "to/ken=="
    assert probe.read("t") == b"t"


def test_wrong_keys_give_one_clear_error(client, probe, moto, serve):
    probe.url = f"s3://127.0.0.1:{serve(Judge(moto, KEYS))}/models"
    probe.environment["AWS_SECRET_ACCESS_KEY"] = "another"
    with pytest.raises(ProbeFailed) as failed:
        probe.list("m/")
    assert failed.value.code == "Invalid argument"
    text = str(failed.value)
    assert "AWS_ACCESS_KEY_ID" in text and "s3:ListBucket" in text and "another" not in text
    assert text.count("\n") == 1


def test_profiles_and_the_credential_file(client, probe, moto, serve, tmp_path):
    put_all(client, ["t"])
    probe.url = f"s3://127.0.0.1:{serve(Judge(moto, KEYS, region='eu-west-1'))}/models"
    for name in KEYS:
        del probe.environment[name]
    folder = tmp_path / ".aws"
    folder.mkdir()
    (folder / "credentials").write_text(
        f"[me]\naws_access_key_id = {KEYS['AWS_ACCESS_KEY_ID']}\n"
        f"aws_secret_access_key = {KEYS['AWS_SECRET_ACCESS_KEY']}\n")
    (folder / "config").write_text("[profile me]\nregion = eu-west-1\n")
    probe.environment["AWS_PROFILE"] = "me"
    assert probe.read("t") == b"t"
    file = tmp_path / "cloud.json"
    file.write_text('{"s3": {"": {"profile": "wrong"}, "s3://127.0.0.1": {"profile": "me"}}}')
    probe.environment.update(TRITON_CLOUD_CREDENTIAL_PATH=str(file), AWS_PROFILE="wrong")
    assert probe.read("t") == b"t"


def test_reads_ranges(client, probe):
    content = bytes(range(256)) * 4096
    client.put_object(Bucket="models", Key="range", Body=content)
    for offset, size in [(0, 1), (0, len(content)), (1000, 12345), (len(content) - 1, 1)]:
        assert probe.read("range", offset, size) == content[offset:offset + size]


def test_another_version_is_refused(client, probe):
    client.put_object(Bucket="models", Key="changing", Body=b"one")
    old = probe.list("changing")[0]["version"]
    client.put_object(Bucket="models", Key="changing", Body=b"two")
    with pytest.raises(ProbeFailed) as failed:
        probe.read("changing", version=old)
    assert failed.value.code == "Already exists"
    assert probe.read("changing") == b"two"


def test_uploads_in_parts_have_no_md5(client, probe):
    upload = client.create_multipart_upload(Bucket="models", Key="parts")["UploadId"]
    parts = []
    for number, body in [(1, b"x" * (5 << 20)), (2, b"y")]:
        tag = client.upload_part(Bucket="models", Key="parts", UploadId=upload, PartNumber=number,
                                 Body=body)["ETag"]
        parts.append({"ETag": tag, "PartNumber": number})
    client.complete_multipart_upload(Bucket="models", Key="parts", UploadId=upload,
                                     MultipartUpload={"Parts": parts})
    entry = probe.list("parts")[0]
    assert entry["version"].endswith("-2") and "md5" not in entry
    assert probe.read("parts", (5 << 20) - 1, 2) == b"xy"


def test_what_is_missing_is_not_found(client, probe, moto):
    probe.url = f"s3://{moto}/no-such-bucket"
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Not found"
    assert "NoSuchBucket" in str(failed.value)


def test_web_identities_are_exchanged(client, probe, moto, tmp_path):
    put_all(client, ["t"])
    for name in KEYS:
        del probe.environment[name]
    token = tmp_path / "token"
    token.write_text("a.web.token\n")
    probe.environment.update(AWS_ROLE_ARN="arn:aws:iam::123456789012:role/reader",
                             AWS_WEB_IDENTITY_TOKEN_FILE=str(token),
                             AWS_ENDPOINT_URL_STS=f"http://{moto}")
    assert probe.read("t") == b"t"


def test_no_server_is_temporary(tmp_path):
    with pytest.raises(ProbeFailed) as failed:
        Probe("s3://127.0.0.1:1/models", tmp_path, **KEYS).list()
    assert failed.value.code == "Unavailable"
