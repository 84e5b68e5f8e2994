# SPDX-License-Identifier: Apache-2.0
"""Helpers of the tests that load models: they change a repository and read the results."""

import os
import shutil
import time
from unittest.mock import ANY

# The reason of a version that serves although a later load has failed: Triton has none.
FAILED_RELOAD = ANY


class _OrEmpty(str):
    """Equals its text and the empty text."""

    def __eq__(self, other):
        return str(other) in ("", str(self))

    __hash__ = str.__hash__


# The entry of a model without a version whose load has failed. Triton's has its name only.
FAILED_MODEL = ("", _OrEmpty("UNAVAILABLE"), ANY)

EXPLICIT = ("--model-control-mode=explicit",)


_latest = 0


def _touch(*paths):
    """Gives files a modification time later than every earlier one. The kernel's own times have a
    resolution of a few milliseconds, and Triton compares them."""
    global _latest
    _latest = max(time.time_ns(), _latest + 1_000_000)
    for path in paths:
        os.utime(path, ns=(_latest, _latest))


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    _touch(path, path.parent)


def edit(path, *replacements):
    """Replaces texts in a file; each text must occur."""
    text = path.read_text()
    for old, new in replacements:
        assert old in text, f"{path} does not hold {old!r}"
        text = text.replace(old, new)
    write(path, text)


def remove(path):
    shutil.rmtree(path)
    _touch(path.parent)


def statistics(client, model):
    """Returns for each version (inferences, executions, batch sizes)."""
    answer = client.json("get_inference_statistics", model)
    return {m["version"]: (m.get("inference_count", 0), m.get("execution_count", 0),
                           sorted(b["batch_size"] for b in m.get("batch_stats", [])))
            for m in answer["model_stats"]}


def inferences(client, model):
    """Returns the number of inferences for each version."""
    return {version: counts[0] for version, counts in statistics(client, model).items()}


def configuration(client, model):
    config = client.json("get_model_config", model)
    return config["config"] if client.protocol == "grpc" else config


def groups(client, model):
    """Returns (name, count) of each instance group."""
    return [(g["name"], g["count"]) for g in configuration(client, model)["instance_group"]]


def index(client, model):
    """Returns the entries of a model in the repository index: version, state and reason."""
    answer = client.json("get_model_repository_index")
    lines = answer.get("models", []) if client.protocol == "grpc" else answer
    return [(line.get("version", ""), line.get("state", ""), line.get("reason", ""))
            for line in lines if line["name"] == model]


def wait_for_index(client, model, expected):
    """Waits until the index has the expected entries, because unloading continues after its call
    has returned."""
    end = time.monotonic() + 20
    while index(client, model) != expected and time.monotonic() < end:
        time.sleep(0.01)
    assert index(client, model) == expected
