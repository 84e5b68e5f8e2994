# SPDX-License-Identifier: Apache-2.0
"""The histogram of first responses: when it exists, what it counts, and which buckets it has."""

import models
import numpy as np
import pytest
import raw_http
from clients import TRANSPORTS

FAMILY = "nv_inference_first_response_histogram_ms"
TENSORS = [("FP32", [4])]
# Every execution takes much longer than this, so the bucket of each observation is certain.
SLOW = ('parameters { key: "execute_delay_ms" value: { string_value: "120" } }\n'
        + models.ONE_CPU_INSTANCE)


def control_of(family, buckets):
    return (f'metric_control {{ metric_identifier {{ family: "{family}" }} '
            f"histogram_options {{ buckets: [ {buckets} ] }} }}\n")


def chosen(control):
    return "model_metrics { " + control + "}\n"


def write_models(root):
    repo = models.Repository(root)
    repo.identity("usual", TENSORS, extra=SLOW)
    repo.identity("chosen", TENSORS, extra=SLOW + chosen(control_of(FAMILY, "0.5, 60, 3600000"))
                  + 'metric_tags { key: "team" value: "a" }\n')
    repo.identity("elsewhere", TENSORS,
                  extra=models.ONE_CPU_INSTANCE + chosen(control_of("nv_other_histogram", "7")))
    repo.identity("wrong", TENSORS,
                  extra=models.ONE_CPU_INSTANCE + chosen(control_of(FAMILY, "9, 8")))


@pytest.fixture(scope="module")
def keeping(start_server):
    return start_server("keeping", write_models, "--metrics-config=histogram_latencies=true")


@pytest.fixture(scope="module")
def not_keeping(start_server):
    return start_server("not_keeping", write_models)


@pytest.fixture(params=TRANSPORTS)
def client(request, keeping, connect):
    return connect(request.param, keeping)


def page(server):
    return raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()


def histogram(server, model):
    """Returns the model's lines: {"count": n, "sum": s, "labels": text, "buckets": {bound: n}}."""
    found = {"buckets": {}}
    for line in page(server).splitlines():
        if not line.startswith(FAMILY + "_") or f'model="{model}"' not in line:
            continue
        name, _, rest = line.removeprefix(FAMILY + "_").partition("{")
        labels, _, value = rest.rpartition("} ")
        if name == "bucket":
            bound = labels.split('le="')[1].split('"')[0]
            found["buckets"][bound] = int(value)
        else:
            found[name] = float(value)
            found["labels"] = labels
    return found


def infer(client, model, count):
    """Returns when the answers have arrived, and therefore are counted."""
    array = np.arange(4, dtype=np.float32)
    for _ in range(count):
        answer = client.infer(model, [client.input("INPUT0", array)])
        assert (answer.array("OUTPUT0") == array).all()


def added(server, model, work):
    before = histogram(server, model)
    work()
    after = histogram(server, model)
    return ({k: n - before["buckets"][k] for k, n in after["buckets"].items()},
            after["count"] - before["count"], after["sum"] - before["sum"])


def test_the_usual_buckets(client, keeping):
    buckets, count, total = added(keeping, "usual", lambda: infer(client, "usual", 2))
    assert list(buckets) == ["100", "500", "2000", "5000", "+Inf"]
    assert count == 2 and buckets["+Inf"] == 2
    assert buckets["100"] == 0, "each took 120 ms and more"
    assert list(buckets.values()) == sorted(buckets.values())
    assert total >= 240 and total == int(total)


def test_the_configuration_chooses_the_buckets(client, keeping):
    buckets, count, _ = added(keeping, "chosen", lambda: infer(client, "chosen", 2))
    assert count == 2
    assert buckets == {"0.5": 0, "60": 0, "3600000": 2, "+Inf": 2}
    assert histogram(keeping, "chosen")["labels"] == '_team="a",model="chosen",version="1"'


def test_a_refused_request_leaves_no_sample(client, keeping):
    def refused():
        wrong = client.input("INPUT0", np.zeros(5, np.float32))
        client.error(client.infer, "usual", [wrong])
    assert added(keeping, "usual", refused)[1] == 0


def test_the_family_is_a_histogram(keeping):
    text = page(keeping)
    assert text.count(f"# TYPE {FAMILY} histogram\n") == 1
    assert text.count(f"# HELP {FAMILY} ") == 1


@pytest.mark.parametrize("model,text", [
    ("elsewhere", "no histogram of elsewhere is called 'nv_other_histogram'"),
    ("wrong", f"the buckets of '{FAMILY}' of wrong do not ascend"),
])
def test_what_cannot_be_used_is_told_and_the_usual_buckets_stay(keeping, model, text):
    assert list(histogram(keeping, model)["buckets"]) == ["100", "500", "2000", "5000", "+Inf"]
    assert text in keeping.log.read_text()


def test_the_server_has_none_unless_asked(connect, not_keeping):
    infer(connect("http", not_keeping), "chosen", 1)
    assert FAMILY not in page(not_keeping)
    log = not_keeping.log.read_text()
    assert "model 'chosen': model_metrics gives buckets, but the server keeps no histograms" in log
    assert "model 'usual': model_metrics" not in log
