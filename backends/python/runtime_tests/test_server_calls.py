# SPDX-License-Identifier: Apache-2.0
import gc
import inspect
import threading

import c_python_backend_utils as c_utils
import numpy as np
import pytest
import triton_python_backend_utils as pb_utils

FAILED = "Failed to process the request for model 'm_0', message: "


def refused(text, function, *arguments, **named):
    with pytest.raises(pb_utils.TritonModelException) as caught:
        function(*arguments, **named)
    assert str(caught.value) == text


# Models


def test_models(host):
    pb_utils.load_model("a")
    pb_utils.load_model(model_name="b", config="{}", files={"file:1/x": b"y"})
    assert host.named("load_model") == [("a", "", None), ("b", "{}", {"file:1/x": b"y"})]
    pb_utils.unload_model("a")
    pb_utils.unload_model(model_name="b", unload_dependents=True)
    assert host.named("unload_model") == [("a", False), ("b", True)]
    assert pb_utils.is_model_ready("ready") is True
    assert pb_utils.is_model_ready(model_name="other", model_version="3") is False
    assert host.named("is_model_ready") == [("ready", ""), ("other", "3")]
    assert pb_utils.get_model_dir() == "/models/m/1"


@pytest.mark.parametrize("call, prefix, function, arguments", [
    ("load_model", "Failed to load model: ", pb_utils.load_model, ("a",)),
    ("unload_model", "Failed to unload model: ", pb_utils.unload_model, ("a",)),
    ("is_model_ready", "Failed to check model readiness: ", pb_utils.is_model_ready, ("a", "x")),
])
def test_models_that_the_server_refuses(host, call, prefix, function, arguments):
    host.failures[call] = "no"
    refused(f"{prefix}{FAILED}no", function, *arguments)


def test_texts_may_be_bytes(host):
    pb_utils.load_model(b"m", b"{}", {b"file:x": b"content"})
    assert host.named("load_model") == [("m", "{}", {"file:x": b"content"})]
    pb_utils.unload_model(b"m", np.bool_(True))
    assert host.named("unload_model") == [("m", True)]
    assert pb_utils.is_model_ready(b"ready", b"1")
    assert host.named("is_model_ready") == [("ready", "1")]
    pb_utils.Logger.log_info(b"a line")
    pb_utils.Logger.log(b"\xffnother", pb_utils.Logger.ERROR)
    assert [call[1] for call in host.named("log")] == ["a line", "\ufffdnother"]
    family = pb_utils.MetricFamily(b"family", b"its text", pb_utils.MetricFamily.COUNTER)
    assert host.named("new_metric_family") == [("family", "its text", 0)]
    del family


def test_files_must_be_a_dictionary(host):
    refused("failed to load model 'm', files should be a dictionary of file paths and file contents",
            pb_utils.load_model, "m", "{}", ["file:1/x"])


@pytest.mark.parametrize("function, arguments", [
    (pb_utils.load_model, (3,)), (pb_utils.load_model, ("a", {})),
    (pb_utils.load_model, ("a", "{}", {"file:x": "text"})),
    (pb_utils.load_model, ("a", "{}", {3: b""})), (pb_utils.unload_model, (None,)),
    (pb_utils.unload_model, ("a", None)), (pb_utils.unload_model, ("a", "yes")),
    (pb_utils.is_model_ready, ("a", 1)),
])
def test_arguments_of_other_types(host, function, arguments):
    with pytest.raises(TypeError):
        function(*arguments)


# Metrics


def family(kind=pb_utils.MetricFamily.COUNTER):
    return pb_utils.MetricFamily(name="f", description="d", kind=kind)


def test_metrics(host):
    made = family()
    metric = made.Metric(labels={"a": "b"})
    metric.increment(1)
    metric.set(2.5)
    metric.observe(3)
    assert metric.value() == 2.5
    assert host.named("new_metric_family") == [("f", "d", 0)]
    assert host.named("new_metric") == [(1, {"a": "b"}, None)]
    assert host.named("change_metric") == [(2, "increment", 1.0), (2, "set", 2.5),
                                           (2, "observe", 3.0)]
    assert host.named("metric_value") == [(2,)]


def test_histograms(host):
    made = family(pb_utils.MetricFamily.HISTOGRAM)
    made.Metric(buckets=[1, 2.5])
    made.Metric(buckets=[])
    assert [call[2] for call in host.named("new_metric")] == [[1.0, 2.5], []]


def test_metrics_end_with_their_objects(host):
    made = family()
    metric = made.Metric()
    del metric
    gc.collect()
    assert host.named("delete_metric") == [(2,)]
    del made
    gc.collect()
    assert host.named("delete_metric_family") == [(1,)]


def test_a_family_ends_its_metrics(host):
    metric = family().Metric()
    gc.collect()
    assert [call[0] for call in host.calls[-2:]] == ["delete_metric", "delete_metric_family"]
    text = ("Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The "
            "'MetricFamily' object should be deleted AFTER its corresponding 'Metric' objects have "
            "been deleted.")
    refused(f"Failed to increment metric value: {text}", metric.increment, 1)
    refused(f"Failed to get metric value: {text}", metric.value)
    del metric
    gc.collect()
    assert len(host.named("delete_metric")) == 1


@pytest.mark.parametrize("kind, arguments, text", [
    ("COUNTER", {"labels": [1]}, "Failed to create metric. Labels must be a dictionary."),
    ("GAUGE", {"buckets": [1.0]}, "Failed to create metric. Unexpected buckets found."),
    ("HISTOGRAM", {}, "Failed to create metric. Missing required buckets."),
    ("HISTOGRAM", {"buckets": (1.0,)}, "Failed to create metric. Buckets must be a list."),
    ("COUNTER", {"labels": {"a": 1}},
     f"Error when creating Metric: {FAILED}attempt to access JSON non-string as string"),
])
def test_metrics_that_cannot_be(host, kind, arguments, text):
    refused(text, family(getattr(pb_utils.MetricFamily, kind)).Metric, **arguments)


@pytest.mark.parametrize("call, operate, text", [
    ("new_metric_family", lambda metric: family(), "Error when creating MetricFamily"),
    ("new_metric", lambda metric: family().Metric(), "Error when creating Metric"),
    ("change_metric", lambda metric: metric.increment(-1), "Failed to increment metric value"),
    ("change_metric", lambda metric: metric.set(1), "Failed to set metric value"),
    ("change_metric", lambda metric: metric.observe(1), "Failed to observe metric value"),
    ("metric_value", lambda metric: metric.value(), "Failed to get metric value"),
])
def test_metrics_that_the_server_refuses(host, call, operate, text):
    made = family()
    metric = made.Metric()
    host.failures[call] = "no"
    refused(f"{text}: {FAILED}no", operate, metric)


@pytest.mark.parametrize("operate", [
    lambda: family(0), lambda: pb_utils.MetricFamily(1, "", pb_utils.MetricFamily.COUNTER),
    lambda: pb_utils.MetricFamily("f", "d"), c_utils.Metric,
    lambda: family().Metric().increment("1"),
])
def test_metrics_of_other_types(host, operate):
    with pytest.raises(TypeError):
        operate()


# Log


def test_the_log_names_the_line_of_the_model(host):
    logger = pb_utils.Logger
    line = inspect.currentframe().f_lineno
    logger.log("plain")
    logger.log_info("info")
    logger.log_warn("warn")
    logger.log_error("error")
    logger.log_verbose("verbose")
    logger.log("level", logger.ERROR)
    logger.log(message="named", level=logger.VERBOSE)
    file = "test_server_calls.py"
    assert host.named("log") == [
        (0, "plain", file, line + 1), (0, "info", file, line + 2), (1, "warn", file, line + 3),
        (2, "error", file, line + 4), (3, "verbose", file, line + 5), (2, "level", file, line + 6),
        (3, "named", file, line + 7)]


def test_threads_write_to_the_log(host):
    thread = threading.Thread(target=lambda: pb_utils.Logger.log_info("there"))
    thread.start()
    thread.join()
    assert host.named("log")[0][1] == "there"


@pytest.mark.parametrize("arguments", [(3,), (None,), ("text", 0), ("text", "INFO"), ()])
def test_lines_of_other_types(host, arguments):
    with pytest.raises(TypeError):
        pb_utils.Logger.log(*arguments)


def test_the_logger_has_no_objects():
    with pytest.raises(TypeError):
        pb_utils.Logger()
