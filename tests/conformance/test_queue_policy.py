# SPDX-License-Identifier: Apache-2.0
"""The queue policy of the dynamic batcher: a full queue, and requests that wait too long."""

import threading

import numpy as np
from test_batching import request, together
from test_statistics import counted, counts, difference, wait_for_counts


def test_full_queue_refuses(server, transports):
    """One instance busy for 400 ms and room for one: of six at once, some are refused."""
    client = transports["http"]
    before = counted(client, "queued")
    results = together(server, [request(i, "queued", 4) for i in range(6)])
    refused = [r for r in results if hasattr(r, "code")]
    assert 1 <= len(refused) < 6
    for error in refused:
        assert error.code().name == "UNAVAILABLE"
        assert "Exceeds maximum queue size" in error.details()
    after = wait_for_counts(client, "queued", counts(before)["success"] + 6 - len(refused))
    assert difference(counts(before), counts(after))["success"] == 6 - len(refused)
    assert counts(after)["fail"] == counts(before)["fail"]  # a refusal is no failure


def test_queue_timeout_rejects(server, transports):
    client = transports["http"]
    before = counted(client, "expiring")
    results = together(server, [request(i, "expiring", 4) for i in range(3)])
    rejected = [r for r in results if hasattr(r, "code")]
    assert 1 <= len(rejected) < 3
    for error in rejected:
        assert error.code().name == "UNAVAILABLE"
        assert "Request timeout expired" in error.details()
    after = wait_for_counts(client, "expiring", counts(before)["success"] + 3 - len(rejected))
    assert counts(after)["fail"] - counts(before)["fail"] == len(rejected)


def test_http_status_of_a_full_queue(transports, server):
    client = transports["http_aio"]
    errors, answers = [], []

    def ask():
        made = [client.input("INPUT0", np.zeros((4, 4), np.int32))]
        try:
            answers.append(client.infer("queued", made))
        except Exception as error:  # looked at below
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers and errors
    for error in errors:
        assert error.status() == "503"
        assert "Exceeds maximum queue size" in error.message()
