# SPDX-License-Identifier: Apache-2.0
"""The own metrics of Python models, their statistics and traces."""

import pytest
import raw_http
from python_server import (
    copy_models, metrics, raised, snippet, snippet_once, streamed, texts, wait_until)
from trace_files import head, stamps, traces

MODELS = ["snippets", "snippets_decoupled"]

FAILED = "Failed to process the request for model 'snippets_0', message: "

MAKE = """
def make(kind, name, labels=None, **more):
    family = pb_utils.MetricFamily(name=name, description=f"what {name} counts",
                                   kind=getattr(pb_utils.MetricFamily, kind))
    return family, family.Metric(labels=labels or {"who": "snippets"}, **more)
"""


def run(client, code):
    return snippet(client, MAKE + code)


def refused(client, code):
    return raised(client, MAKE + code).removeprefix("TritonModelException: ")


def name_of(client, kind):
    return f"own_{kind}_{client.name}"


def test_a_counter(python_client, python):
    name = name_of(python_client, "counter")
    assert run(python_client, f"""
model.kept["{name}"] = made = make("COUNTER", "{name}", {{"a": "b", "c": "ü"}})
made[1].increment(2)
made[1].increment(0.5)
return made[1].value()""") == 2.5
    assert metrics(python)[f'{name}{{a="b",c="ü"}}'] == 2.5
    page = raw_http.get(python, "/metrics", port=python.metrics_port).body.decode()
    assert f"# HELP {name} what {name} counts\n# TYPE {name} counter\n" in page


def test_a_gauge(python_client, python):
    name = name_of(python_client, "gauge")
    assert run(python_client, f"""
model.kept["{name}"] = made = make("GAUGE", "{name}")
values = []
for change, value in ((made[1].set, 5), (made[1].increment, 2.5), (made[1].increment, -10)):
    change(value)
    values.append(made[1].value())
return values""") == [5, 7.5, -2.5]
    assert metrics(python)[f'{name}{{who="snippets"}}'] == -2.5


def test_a_histogram(python_client, python):
    name = name_of(python_client, "histogram")
    run(python_client, f"""
model.kept["{name}"] = made = make("HISTOGRAM", "{name}", buckets=[0.1, 1, 2.5])
for value in (0.05, 0.5, 2, 100):
    made[1].observe(value)""")
    shown = metrics(python)
    buckets = [shown[f'{name}_bucket{{who="snippets",le="{le}"}}']
               for le in ("0.1", "1", "2.5", "+Inf")]
    assert buckets == [1, 2, 3, 4]
    assert shown[f'{name}_sum{{who="snippets"}}'] == pytest.approx(102.55)
    assert shown[f'{name}_count{{who="snippets"}}'] == 4


def test_a_histogram_without_buckets(python_client, python):
    name = name_of(python_client, "bare")
    run(python_client, f"""
model.kept["{name}"] = made = make("HISTOGRAM", "{name}", buckets=[])
made[1].observe(3)""")
    assert metrics(python)[f'{name}_bucket{{who="snippets",le="+Inf"}}'] == 1


def test_a_metric_without_labels(python_client, python):
    name = name_of(python_client, "plain")
    run(python_client, f"""
family = pb_utils.MetricFamily("{name}", "d", pb_utils.MetricFamily.COUNTER)
model.kept["{name}"] = family, family.Metric()
model.kept["{name}"][1].increment(1)""")
    assert metrics(python)[name] == 1


def test_the_same_name_and_labels_are_the_same_metric(python_client):
    name = name_of(python_client, "shared")
    assert run(python_client, f"""
first, second = make("COUNTER", "{name}"), make("COUNTER", "{name}")
first[1].increment(1)
second[1].increment(2)
return [first[1].value(), second[1].value()]""") == [3, 3]


def test_metrics_end_with_their_objects(python_client, python):
    name = name_of(python_client, "short")
    run(python_client, f"""
model.kept["{name}"] = make("COUNTER", "{name}")
model.kept["{name}"][1].increment(1)""")
    assert f'{name}{{who="snippets"}}' in metrics(python)
    run(python_client, f"model.kept.pop('{name}')")
    wait_until(lambda: f'{name}{{who="snippets"}}' not in metrics(python), "the end of the metric")


def test_a_metric_does_not_outlive_its_family(python_client):
    name = name_of(python_client, "orphan")
    assert refused(python_client, f"""
family, metric = make("COUNTER", "{name}")
del family
metric.increment(1)""") == (
        "Failed to increment metric value: Invalid metric operation as the corresponding "
        "'MetricFamily' has been deleted. The "
        "'MetricFamily' object should be deleted AFTER its corresponding 'Metric' objects have "
        "been deleted.")


@pytest.mark.parametrize("code, text", [
    ("make('COUNTER', 'n', labels=[1])", "Failed to create metric. Labels must be a dictionary."),
    ("make('HISTOGRAM', 'h', buckets=(1.0,))", "Failed to create metric. Buckets must be a list."),
    ("make('COUNTER', 'n', buckets=[1.0])", "Failed to create metric. Unexpected buckets found."),
    ("make('HISTOGRAM', 'h')", "Failed to create metric. Missing required buckets."),
], ids=["labels", "tuple", "unexpected", "missing"])
def test_metrics_that_cannot_be(python_client, code, text):
    assert refused(python_client, code) == text


@pytest.mark.parametrize("code, text", [
    ("make('COUNTER', 'no name')", "Error when creating MetricFamily: {}"),
    ("make('COUNTER', 'twice'), make('GAUGE', 'twice')", "Error when creating MetricFamily: {}"),
    ("make('COUNTER', 'l', {'a': 1})",
     "Error when creating Metric: {}attempt to access JSON non-string as string"),
    ("make('HISTOGRAM', 'u', buckets=[2, 1])",
     "Error when creating Metric: {}"),
    ("m = make('COUNTER', 'c'); m[1].increment(-1)",
     "Failed to increment metric value: {}"),
    ("m = make('COUNTER', 'c'); m[1].set(1)",
     "Failed to set metric value: {}"),
    ("m = make('COUNTER', 'c'); m[1].observe(1)",
     "Failed to observe metric value: {}"),
    ("m = make('GAUGE', 'g'); m[1].observe(1)", "Failed to observe metric value: {}"),
    ("m = make('HISTOGRAM', 'o', buckets=[1]); m[1].set(1)", "Failed to set metric value: {}"),
    ("m = make('HISTOGRAM', 'o', buckets=[1]); m[1].increment(1)",
     "Failed to increment metric value: {}"),
    ("m = make('HISTOGRAM', 'o', buckets=[1]); m[1].value()", "Failed to get metric value: {}"),
], ids=["name", "kind", "label", "unsorted", "decrement", "set_counter", "observe_counter",
        "observe_gauge", "set_histogram", "increment_histogram", "value_histogram"])
def test_what_the_server_refuses(python_grpc, code, text):
    """The text ends with the server's own words."""
    assert refused(python_grpc, code).startswith(text.format(FAILED))


@pytest.mark.parametrize("code", [
    "pb_utils.MetricFamily('n', 'd', 0)", "pb_utils.MetricFamily(3, 'd', pb_utils.MetricFamily.GAUGE)",
    "pb_utils.MetricFamily('n', 'd')", "make('GAUGE', 'g')[1].set('text')",
])
def test_metrics_of_other_types(python_client, code):
    assert refused(python_client, code).startswith("TypeError: ")


def test_many_failures_do_no_harm(python_http, python):
    """300 failing operations: each raises its exception, and the server serves on."""
    assert run(python_http, """
family, counter = make("COUNTER", "many_counter")
other, histogram = make("HISTOGRAM", "many_histogram", buckets=[1])
failed = 0
for i in range(100):
    for call in (lambda: counter.set(1), histogram.value, lambda: make("GAUGE", "many_counter")):
        try:
            call()
        except pb_utils.TritonModelException:
            failed += 1
counter.increment(1)
return [failed, counter.value()]""") == [300, 1]
    assert metrics(python)


def test_threads_change_one_counter(python_http):
    assert run(python_http, """
from concurrent.futures import ThreadPoolExecutor
family, counter = make("COUNTER", "threads")
with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda i: counter.increment(1), range(400)))
return counter.value()""") == 400


# Statistics


def stats(server, model):
    (told,) = raw_http.get(server, f"/v2/models/{model}/stats").json["model_stats"]
    return told


def counts(server, model):
    """Returns the numbers of inferences and executions, and those by batch size, in that order."""
    told = stats(server, model)
    batches = {batch["batch_size"]: batch for batch in told["batch_stats"]}
    return [told["inference_count"], told["execution_count"],
            batches.get(1, {}).get("compute_infer", {}).get("count", 0),
            told["inference_stats"]["success"]["count"], told["inference_stats"]["fail"]["count"]]


def test_failed_executions_are_counted_as_executions(python, python_client):
    """The number of inferences has only those that succeeded."""
    before = counts(python, "snippets")
    for code in ("return 1", "raise SystemExit(1)", "return 2", "raise SystemExit(2)",
                 "raise SystemExit(3)"):
        tensor = python_client.input("CODE", texts(code))
        if code.startswith("return"):
            python_client.infer("snippets", [tensor])
        else:
            python_client.error(python_client.infer, "snippets", [tensor])
    expected = [old + new for old, new in zip(before, [2, 5, 5, 2, 3])]
    wait_until(lambda: counts(python, "snippets") == expected, f"the statistics {expected}")


def test_statistics_of_a_decoupled_model(python):
    """A request is one inference and one execution, whatever the number of its responses. Its time
    is at least that of execute()."""
    def times():
        told = stats(python, "snippets_decoupled")["inference_stats"]
        return {key: (told[key]["count"], told[key]["ns"]) for key in
                ("success", "queue", "compute_input", "compute_infer", "compute_output")}

    before, counted = times(), counts(python, "snippets_decoupled")
    values, errors = streamed(python, "snippets_decoupled", """
import time
for i in range(3):
    sender.send(told(i))
time.sleep(0.02)
sender.send(flags=FINAL)""")
    assert (values, errors) == ([0, 1, 2], [])
    assert streamed(python, "snippets_decoupled", "sender.send(flags=FINAL)") == ([], [])
    expected = [old + new for old, new in zip(counted, [2, 2, 2, 2, 0])]
    wait_until(lambda: counts(python, "snippets_decoupled") == expected,
               f"the statistics {expected}")
    after = times()
    assert {key: after[key][0] - before[key][0] for key in after} == dict.fromkeys(after, 2)
    spent = {key: after[key][1] - before[key][1] for key in after}
    assert spent["compute_infer"] >= 20_000_000
    assert spent["success"] >= spent["compute_infer"]


# Traces


CALL = """
response = pb_utils.InferenceRequest(
    model_name="chain", requested_output_names=["VALUE"], request_id="called",
    inputs=[pb_utils.Tensor("CODE", np.array([b"return 1"], np.object_))]{}).exec()
return response.has_error()"""


def test_traces_of_calls(start_python, tmp_path):
    """A call that is given the trace of the caller's request is its child, with times within those
    of the caller. A call without it has no trace."""
    server = start_python(
        "traced", lambda root: copy_models(root, "snippets", "chain"),
        "--trace-config=level=TIMESTAMPS", "--trace-config=rate=1",
        f"--trace-config=triton,file={tmp_path / 't'}")
    for trace in (", trace=request.trace()", ""):
        assert snippet_once(server, CALL.format(trace)) is False
    server.stop()

    found = [trace for file in tmp_path.iterdir() for trace in traces(file)]
    order = ["REQUEST_START", "QUEUE_START", "COMPUTE_START", "COMPUTE_INPUT_END",
             "COMPUTE_OUTPUT_START", "COMPUTE_END"]
    for trace in found:
        way = [stamps(trace)[name] for name in order]
        assert way == sorted(way)
        assert stamps(trace)["REQUEST_END"] >= way[0]
    callers = sorted((t for t in found if head(t)["model_name"] == "snippets"),
                     key=lambda trace: head(trace)["id"])
    (called,) = [trace for trace in found if head(trace)["model_name"] == "chain"]
    assert [head(trace).get("parent_id", 0) for trace in callers] == [0, 0] and len(found) == 3
    assert head(called)["parent_id"] == head(callers[0])["id"]
    assert head(called)["request_id"] == "called"
    assert stamps(callers[0])["COMPUTE_INPUT_END"] <= stamps(called)["REQUEST_START"]
    assert stamps(called)["COMPUTE_END"] <= stamps(callers[0])["COMPUTE_OUTPUT_START"]
