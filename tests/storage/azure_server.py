# SPDX-License-Identifier: Apache-2.0
"""A server that speaks the part of Azure Blob Storage's protocol that a reader of blobs needs, and
uploads. test_azure.py first shows with Azure's own client that the server is right.

Authorization: Shared Key ("Authorize with Shared Key"), shared access signatures of an account or a
service ("Create a service SAS"), which are compared with those that the official package makes, and
one bearer token. Requests: Put Blob, List Blobs, Get Blob with ranges and conditions.
"""

import base64
import hashlib
import hmac
import itertools
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

ACCOUNT = "testaccount"
KEY = base64.b64encode(b"a key of thirty-two bytes......!").decode()
TOKEN = "entra.token"
STANDARD_FIELDS = ["Content-Encoding", "Content-Language", "Content-Length", "Content-MD5",
                   "Content-Type", "Date", "If-Modified-Since", "If-Match", "If-None-Match",
                   "If-Unmodified-Since", "Range"]


class AzureServer(ThreadingHTTPServer):
    """Serves the containers of one account below the path /ACCOUNT. `signatures` are the queries of
    shared access signatures that are accepted."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), AzureHandler)
        self.lock = threading.Lock()
        self.containers = {"models": {}}
        self.tags = itertools.count(0x8DC0000000)
        self.signatures = set()
        self.page_size = 5000
        self.anonymous = False

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/{ACCOUNT}"

    def put(self, container, name, content):
        with self.lock:
            tag = f"0x{next(self.tags):X}"
            self.containers[container][name] = (content, tag)
        return tag


class AzureHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    # Authorization.

    def string_to_sign(self):
        fields = [self.headers.get(name, "") for name in STANDARD_FIELDS]
        fields[2] = "" if fields[2] == "0" else fields[2]
        extensions = sorted((name.lower().strip(), value.strip())
                            for name, value in self.headers.items()
                            if name.lower().startswith("x-ms-"))
        parts = urllib.parse.urlsplit(self.path)
        parameters = {}
        for name, value in urllib.parse.parse_qsl(parts.query, keep_blank_values=True):
            parameters.setdefault(name.lower(), []).append(value)
        lines = [self.command, *fields, *(f"{name}:{value}" for name, value in extensions),
                 f"/{ACCOUNT}{parts.path}",
                 *(f"{name}:{','.join(sorted(values))}"
                   for name, values in sorted(parameters.items()))]
        return "\n".join(lines)

    def is_authorized(self):
        sent = self.headers.get("Authorization", "")
        if sent.startswith("SharedKey "):
            digest = hmac.digest(base64.b64decode(KEY), self.string_to_sign().encode(), "sha256")
            return sent == f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
        if sent.startswith("Bearer "):
            return sent == f"Bearer {TOKEN}" and bool(self.headers.get("x-ms-version"))
        sent = set(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        return self.server.anonymous or any(set(urllib.parse.parse_qsl(signature)) <= sent
                                            for signature in self.server.signatures)

    # Requests.

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_authorized():
            return self.fail(403, "AuthenticationFailed", "The signature is wrong.")
        container, name = self.names()
        assert self.headers["x-ms-blob-type"] == "BlockBlob"
        tag = self.server.put(container, name, body)
        return self.answer(201, {"ETag": f'"{tag}"', "x-ms-request-server-encrypted": "true"})

    def do_GET(self):
        if not self.is_authorized():
            return self.fail(403, "AuthenticationFailed", "The signature is wrong.")
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        container, name = self.names()
        blobs = self.server.containers.get(container)
        if blobs is None:
            return self.fail(404, "ContainerNotFound", "The container does not exist.")
        if query.get("comp") == "list" and query.get("restype") == "container":
            return self.list(container, blobs, query)
        if name not in blobs:
            return self.fail(404, "BlobNotFound", "The blob does not exist.")
        return self.read(*blobs[name])

    def names(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        _, account, container, *rest = path.split("/", 3)
        assert account == ACCOUNT
        return container, rest[0] if rest else ""

    def read(self, content, tag):
        condition = self.headers.get("If-Match")
        if condition not in (None, "*", f'"{tag}"'):
            return self.fail(412, "ConditionNotMet", "The condition is not met.")
        fields = {"ETag": f'"{tag}"', "x-ms-blob-type": "BlockBlob", "Accept-Ranges": "bytes",
                  "Last-Modified": "Fri, 24 May 2013 00:00:00 GMT",
                  "Content-Type": "application/octet-stream"}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)",
                              self.headers.get("x-ms-range") or self.headers.get("Range") or "")
        if not wanted:
            return self.answer(200, fields, content)
        first = int(wanted[1])
        last = min(int(wanted[2] or len(content)), len(content) - 1)
        if first >= len(content):
            return self.fail(416, "InvalidRange", "The range is not valid.")
        fields["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return self.answer(206, fields, content[first:last + 1])

    def list(self, container, blobs, query):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        entries = {}
        for name in sorted(blobs):
            if not name.startswith(prefix):
                continue
            end = name.find(delimiter, len(prefix)) if delimiter else -1
            if end >= 0:
                entries[name[:end + 1]] = None
            else:
                entries[name] = blobs[name]
        names = sorted(entries)
        start = names.index(query["marker"]) if query.get("marker") else 0
        size = min(int(query.get("maxresults", 5000)), self.server.page_size)
        page, rest = names[start:start + size], names[start + size:]
        lines = ['\ufeff<?xml version="1.0" encoding="utf-8"?><EnumerationResults '
                 f'ServiceEndpoint="{self.server.url}/" ContainerName="{container}">'
                 f"<Prefix>{escape(prefix)}</Prefix><Blobs>"]
        for name in page:
            if entries[name] is None:
                lines.append(f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>")
                continue
            content, tag = entries[name]
            digest = base64.b64encode(hashlib.md5(content).digest()).decode()
            lines.append(f"<Blob><Name>{escape(name)}</Name><Properties>"
                         "<Last-Modified>Fri, 24 May 2013 00:00:00 GMT</Last-Modified>"
                         f"<Etag>{tag}</Etag><Content-Length>{len(content)}</Content-Length>"
                         f"<Content-MD5>{digest}</Content-MD5><BlobType>BlockBlob</BlobType>"
                         "</Properties><OrMetadata /></Blob>")
        marker = f"<NextMarker>{escape(rest[0])}</NextMarker>" if rest else "<NextMarker />"
        lines.append(f"</Blobs>{marker}</EnumerationResults>")
        self.answer(200, {"Content-Type": "application/xml"}, "".join(lines).encode())

    def fail(self, status, code, message):
        body = (f'\ufeff<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>'
                f"{message}\nRequestId:1</Message></Error>").encode()
        self.answer(status, {"x-ms-error-code": code, "Content-Type": "application/xml"}, body)

    def answer(self, status, fields, body=b""):
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body)),
                            "x-ms-version": "2023-11-03"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
