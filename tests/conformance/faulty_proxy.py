# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy in front of one server that damages a share of its responses."""

import http.client
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS = ("error", "drop", "cut", "corrupt")
# Headers of one connection only.
OWN_HEADERS = {"connection", "transfer-encoding", "content-length", "keep-alive", "date", "server"}


class FaultyProxy:
    """Passes requests to `host:port`. `share` of them, from 0 to 1, get a fault: a status of 500, no
    response at all, a body that ends early, or a body with a changed byte (only bodies of 1000
    bytes and more, which are contents of objects)."""

    def __init__(self, host, port, share=0.0, seed=1):
        self.share = share
        self.requests = 0
        self.faults = 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                proxy.pass_on(self, host, port)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def _fault(self, has_content):
        with self._lock:
            self.requests += 1
            if self._random.random() >= self.share:
                return None
            fault = self._random.choice(FAULTS if has_content else FAULTS[:3])
            self.faults += 1
            return fault

    def pass_on(self, handler, host, port):
        length = int(handler.headers.get("Content-Length") or 0)
        upstream = http.client.HTTPConnection(host, port, timeout=60)
        headers = {k: v for k, v in handler.headers.items() if k.lower() != "connection"}
        upstream.request(handler.command, handler.path, handler.rfile.read(length), headers)
        response = upstream.getresponse()
        body = bytearray(response.read())
        upstream.close()
        fault = self._fault(len(body) >= 1000 and handler.command == "GET")
        handler.close_connection = fault is not None
        if fault == "drop":
            return
        if fault == "error":
            handler.send_response_only(500)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in OWN_HEADERS:
                handler.send_header(name, value)
        announced = response.getheader("Content-Length") if handler.command == "HEAD" else len(body)
        handler.send_header("Content-Length", str(announced or 0))
        handler.end_headers()
        if fault == "corrupt":
            body[len(body) // 2] ^= 1
        if handler.command != "HEAD":
            handler.wfile.write(body[: len(body) // 2] if fault == "cut" else body)
