# SPDX-License-Identifier: Apache-2.0
"""A host that records the calls of the objects under test, and answers as the test says."""

import gc
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runtime"))

from nereid_worker import host as hosts


def pytest_collection_finish():
    gc.freeze()  # each test collects garbage; the modules that are loaded need not be searched


class FakeStream(hosts.ResponseStream):
    """A stream whose responses are known before."""

    def __init__(self, responses):
        self.responses = list(responses)
        self.cancelled = self.closed = False

    def next(self):
        return self.responses.pop(0) if self.responses else None

    def next_future(self, loop):
        future = loop.create_future()
        loop.call_soon(lambda: future.done() or future.set_result(self.next()))
        return future

    def cancel(self):
        self.cancelled = True

    def close(self):
        self.closed = True


class FakeHost(hosts.Host):
    """Records each call as (name, arguments). A call whose name is in `failures` raises that text."""

    instance_name = "m_0"
    model_directory = "/models/m/1"
    decoupled = False

    def __init__(self):
        self.calls = []
        self.failures = {}
        self.cancelled = set()
        self.streams = []
        self.handles = 0

    def _record(self, name, *arguments):
        self.calls.append((name, *arguments))
        if name in self.failures:
            raise hosts.HostError(self.failures[name])

    def named(self, name):
        return [call[1:] for call in self.calls if call[0] == name]

    def log(self, level, message, file, line):
        self._record("log", level, message, file, line)

    def is_cancelled(self, handle):
        self._record("is_cancelled", handle)
        return handle in self.cancelled

    def send(self, handle, response, flags, requested):
        self._record("send", handle, response, flags, requested)

    def abandon(self, handle):
        self._record("abandon", handle)

    def infer(self, request, decoupled):
        self._record("infer", request, decoupled)
        return self.streams.pop(0)

    def trace_context(self, trace):
        self._record("trace_context", trace)
        return f"context {trace}"

    def load_model(self, name, config, files):
        self._record("load_model", name, config, files)

    def unload_model(self, name, unload_dependents):
        self._record("unload_model", name, unload_dependents)

    def is_model_ready(self, name, version):
        self._record("is_model_ready", name, version)
        return name == "ready"

    def _new_handle(self):
        self.handles += 1
        return self.handles

    def new_metric_family(self, name, description, kind):
        self._record("new_metric_family", name, description, kind)
        return self._new_handle()

    def delete_metric_family(self, family):
        self._record("delete_metric_family", family)

    def new_metric(self, family, labels, buckets):
        self._record("new_metric", family, labels, buckets)
        return self._new_handle()

    def delete_metric(self, metric):
        self._record("delete_metric", metric)

    def change_metric(self, metric, operation, value):
        self._record("change_metric", metric, operation, value)

    def metric_value(self, metric):
        self._record("metric_value", metric)
        return 2.5


@pytest.fixture
def host():
    made = FakeHost()
    hosts.set_current(made)
    yield made
    gc.collect()  # exceptions keep the objects of the test until here
    hosts.set_current(None)


@pytest.fixture
def stream():
    """Returns the class of streams."""
    return FakeStream
