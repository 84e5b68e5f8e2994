# SPDX-License-Identifier: Apache-2.0
"""What a new user meets: limits that nobody wrote are explained, and a client alone waits for nobody.
Nereid only."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import raw_http
from models import Repository
from onnx import TensorProto, helper
from raw_http import tensor

NO_WAITING = 'parameters { key: "no_waiting_alone" value { string_value: "true" } }\n'
# So long that a test which waits for it again and again is seen, and so short that it ends.
DELAY = "dynamic_batching { max_queue_delay_microseconds: 20000 }\n"


@pytest.fixture(autouse=True)
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton explains nothing")


def write(root):
    repository = Repository(root)
    repository.identity("waits", [("INT32", [1])], batch=4, extra=DELAY)
    repository.identity("goes", [("INT32", [1])], batch=4, extra=DELAY + NO_WAITING)
    repository.identity("written", [("INT32", [2])], batch=4)
    # Without a configuration: the backend completes it.
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 2]) for name in "xy"]
    repository.onnx("completed", helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "negate",
                                                   values[:1], values[1:]))


@pytest.fixture(scope="module")
def defaults(start_server):
    return start_server("defaults", write)


def ask(server, model, rows=1):
    document = {"inputs": [tensor("INPUT0", "INT32", [rows, 1], [7] * rows)]}
    answer = raw_http.infer(server, model, document)
    assert answer.status == 200, answer.body
    return answer


def closed(server, model):
    """Returns the number of batches by the reason for which they were closed."""
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    found = re.findall(r'nereid_batch_closed_total\{([^}]*)\} (\d+)', page)
    return {re.search('reason="([^"]*)"', labels)[1]: int(count) for labels, count in found
            if f'model="{model}"' in labels and int(count)}


def test_a_client_alone_does_not_wait(defaults):
    """It waits with one request of 1, 2, 4 …, and the others go at once: of 19, the first, the
    third, the sixth and the eleventh wait."""
    for _ in range(19):
        ask(defaults, "goes")
    assert closed(defaults, "goes") == {"delay": 4, "alone": 15}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ask(defaults, "goes"), range(400)))
    stats = raw_http.get(defaults, "/v2/models/goes/stats").json["model_stats"][0]
    assert stats["execution_count"] < stats["inference_count"], "clients in company share batches"


def test_without_the_parameter_it_waits_as_in_triton(defaults):
    for _ in range(3):
        ask(defaults, "waits")
    assert closed(defaults, "waits") == {"delay": 3}


def refusal(server, model, name, datatype):
    """Sends a batch of five and returns the error."""
    answer = raw_http.infer(server, model,
                            {"inputs": [tensor(name, datatype, [5, 2], [0] * 10)]})
    assert answer.status == 400
    return answer.json["error"]


def test_a_batch_limit_that_nobody_wrote_is_explained(defaults):
    """It is in the log of the load and in the error; the error begins with Triton's words."""
    error = refusal(defaults, "completed", "x", "FP32")
    assert error.endswith(
        "inference request batch-size must be <= 4 for 'completed'; the model's backend chose this "
        "limit, because config.pbtxt sets none: set max_batch_size there")
    assert ("model 'completed': max_batch_size is 4, which its backend has chosen; requests with a "
            "larger batch are refused.") in defaults.log.read_text()
    error = refusal(defaults, "written", "INPUT0", "INT32")
    assert error.endswith("inference request batch-size must be <= 4 for 'written'")
