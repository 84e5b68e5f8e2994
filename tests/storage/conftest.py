# SPDX-License-Identifier: Apache-2.0
import contextlib
import threading

import pytest


@contextlib.contextmanager
def serving(server):
    """Runs a socketserver in a thread."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def serve():
    """Starts servers that end with the test: serve(server) returns the port."""
    with contextlib.ExitStack() as stack:
        yield lambda server: stack.enter_context(serving(server)).server_address[1]


# Keys that exercise the encodings of paths, queries, signatures, XML and JSON.
ODD_KEYS = ["odd/a b", "odd/a+b", "odd/a%20b", "odd/a&b=c", "odd/a'b\"c", "odd/é/ü", "odd/日本語",
            "odd/a;b,c:d@e$f!g*h(i)", "odd/~tilde_-.", "odd/q?x=1#y", "odd/<x>", "odd/[1]{2}|^`\\"]
