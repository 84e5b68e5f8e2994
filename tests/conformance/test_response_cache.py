# SPDX-License-Identifier: Apache-2.0
"""The response cache with the local cache: what is a hit, what is counted, what is never stored."""

import itertools
import queue
import threading
import time

import ensembles
import explicit_models
import models
import numpy as np
import onnx
import pytest
import raw_http
import tritonclient.grpc as grpc_client
from clients import TRANSPORTS, Transport
from server_process import ServerFailed
from test_statistics import complete, difference

FRESH = itertools.count(1)


def cache_flags(request, *settings):
    """Returns the flags that enable the local cache; on the peer with Triton's own default
    directory."""
    return [f"--cache-config=local,{setting}" for setting in settings] + cache_directory(request)


def cache_directory(request):
    option = request.config.getoption("--cache-directory")
    return [f"--cache-directory={option}"] if option else []


@pytest.fixture(scope="module")
def cached(start_server, request):
    return start_server("cached", models.write_cached, *cache_flags(request, "size=1048576"))


@pytest.fixture(scope="module", params=TRANSPORTS)
def client(request, cached, loop):
    transport = Transport(request.param, cached, loop)
    yield transport
    transport.close()


def fresh(*shape, dtype=np.float32):
    """Returns an array that no earlier request contained."""
    array = np.zeros(shape, dtype)
    array.flat[0] = next(FRESH)
    return array


def statistics(client, model):
    return complete(client.json("get_inference_statistics", model, "")["model_stats"][0])


def counts(model):
    values = {k: v["count"] for k, v in model["inference_stats"].items()}
    return values | {"inferences": model["inference_count"], "executions": model["execution_count"]}


def changed(client, model, before, successes):
    """Returns the counts since `before`. An answer may arrive shortly before it is counted."""
    end = time.monotonic() + 10
    while True:
        now = counts(statistics(client, model))
        if now["success"] - before["success"] >= successes or time.monotonic() > end:
            return difference(before, now)
        time.sleep(0.01)


MISS = {"success": 1, "queue": 1, "compute_input": 1, "compute_infer": 1, "compute_output": 1,
        "cache_miss": 1, "inferences": 1, "executions": 1}
HIT = {"success": 1, "queue": 1, "cache_hit": 1}


def test_hit_and_miss_are_counted(client):
    array = fresh(2, 3)
    for kind in (MISS, HIT, HIT):
        before = counts(statistics(client, "cached"))
        answer = client.infer("cached", [client.input("INPUT0", array)], request_id="mine")
        assert (answer.array("OUTPUT0") == array).all()
        assert answer.output("OUTPUT0") == {"name": "OUTPUT0", "datatype": "FP32",
                                            "shape": [2, 3]}
        assert answer.header["id"] == "mine"
        assert changed(client, "cached", before, 1) == kind


def test_durations(client):
    array = fresh(1, 1)
    for _ in range(2):
        client.infer("cached", [client.input("INPUT0", array)])
    now = statistics(client, "cached")["inference_stats"]
    assert 0 < now["cache_hit"]["ns"] < now["success"]["ns"]
    assert now["cache_miss"]["ns"] > 0


def test_each_answer_has_its_own_id(client):
    array = fresh(1, 1)
    for request_id in ("one", "two", ""):
        answer = client.infer("cached", [client.input("INPUT0", array)], request_id=request_id)
        assert answer.header.get("id", "") == request_id


def test_shape_is_in_the_key(client):
    array = fresh(1, 4)
    for shape in ([1, 4], [2, 2], [4, 1]):
        answer = client.infer("cached", [client.input("INPUT0", array.reshape(shape))])
        assert answer.output("OUTPUT0")["shape"] == shape


def test_requested_outputs_are_in_the_key(client):
    inputs = [client.input("INPUT0", fresh(4, dtype=np.int32)),
              client.input("INPUT1", np.array([b"text", b""], np.object_))]
    for _ in range(2):
        assert client.infer("cached_pair", inputs, ["OUTPUT1"]).names == ["OUTPUT1"]
        assert client.infer("cached_pair", inputs, ["OUTPUT0"]).names == ["OUTPUT0"]
        assert sorted(client.infer("cached_pair", inputs).names) == ["OUTPUT0", "OUTPUT1"]
    assert client.infer("cached_pair", inputs).array("OUTPUT1").tolist() == [b"text", b""]


def test_batches(client):
    array = fresh(3, 4, dtype=np.int32)
    before = counts(statistics(client, "cached_batch"))
    for _ in range(2):
        answer = client.infer("cached_batch", [client.input("INPUT0", array)])
        assert (answer.array("OUTPUT0") == array).all()
    assert changed(client, "cached_batch", before, 2) == {
        "success": 2, "queue": 2, "compute_input": 1, "compute_infer": 1, "compute_output": 1,
        "cache_miss": 1, "cache_hit": 1, "inferences": 3, "executions": 1}


def test_the_other_model_is_not_cached(client):
    array = fresh(4, dtype=np.int32)
    before = counts(statistics(client, "not_cached"))
    for _ in range(2):
        client.infer("not_cached", [client.input("INPUT0", array)])
    assert changed(client, "not_cached", before, 2)["executions"] == 2


def document(array, **parameters):
    return {"inputs": [raw_http.tensor("INPUT0", "FP32", array.shape, array.flatten().tolist())],
            "parameters": parameters}


def test_parameters_are_in_the_key_and_in_the_answer(cached):
    array = fresh(1, 2)
    for value in (1, 2, 1, 2):
        answer = raw_http.infer(cached, "cached", document(array, which=value)).json
        assert answer["parameters"] == {"which": value}


def test_what_no_answer_depends_on_is_not_in_the_key(cached, client):
    array = fresh(1, 2)
    before = counts(statistics(client, "cached"))
    for more in ({}, {"priority": 1}, {"timeout": 10_000_000}):
        assert raw_http.infer(cached, "cached", document(array, **more)).status == 200
    found = changed(client, "cached", before, 3)
    assert (found["cache_miss"], found["cache_hit"]) == (1, 2)


def test_errors_are_not_stored(cached):
    array = fresh(1, 2)
    for _ in range(2):
        answer = raw_http.infer(cached, "cached", document(array, fail="as asked"))
        assert (answer.status, answer.error) == (500, "as asked")


def test_a_sequence_is_not_answered_from_memory(cached, client):
    array = fresh(1, 2)
    before = counts(statistics(client, "cached"))
    for _ in range(2):
        answer = raw_http.infer(cached, "cached", document(array, sequence_id=7))
        assert answer.status == 200
    found = changed(client, "cached", before, 2)
    assert found["executions"] == 2
    assert "cache_hit" not in found and "cache_miss" not in found


def page(server):
    return raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()


def test_metrics(cached, client):
    array = fresh(1, 3)
    for _ in range(2):
        client.infer("cached", [client.input("INPUT0", array)])
    lines = page(cached).splitlines()
    found = {}
    for line in lines:
        if line.startswith("nv_cache_") and 'model="' in line:
            name, labels = line.split("{", 1)
            assert 'model="not_cached"' not in labels
            if 'model="cached"' in labels:
                found[name] = float(line.rsplit(" ", 1)[1])
    assert set(found) == {"nv_cache_num_hits_per_model", "nv_cache_num_misses_per_model",
                          "nv_cache_hit_duration_per_model", "nv_cache_miss_duration_per_model"}
    now = statistics(client, "cached")["inference_stats"]
    assert found["nv_cache_num_hits_per_model"] == now["cache_hit"]["count"]
    assert found["nv_cache_num_misses_per_model"] == now["cache_miss"]["count"]
    success = [line for line in lines if line.startswith("nv_inference_request_success{")
               and 'model="cached"' in line]
    assert float(success[0].rsplit(" ", 1)[1]) == now["success"]["count"]


def test_metrics_of_the_local_cache(cached, client):
    client.infer("cached", [client.input("INPUT0", fresh(1, 1))])
    values = {line.split(" ")[0]: float(line.split(" ")[1])
              for line in page(cached).splitlines()
              if line.startswith("nv_cache_") and "{" not in line}
    assert values["nv_cache_num_lookups"] == (values["nv_cache_num_hits"]
                                              + values["nv_cache_num_misses"]) > 0
    assert values["nv_cache_num_entries"] > 0
    assert 0 < values["nv_cache_util"] <= 1


def test_order_is_kept_over_hits_and_misses(cached):
    """A miss, a hit and a miss on one stream are answered in that order."""
    client = grpc_client.InferenceServerClient(cached.grpc)
    answers = queue.Queue()

    def request(array):
        tensor = grpc_client.InferInput("INPUT0", [1, 4], "INT32")
        tensor.set_data_from_numpy(array)
        return [tensor]

    known = fresh(1, 4, dtype=np.int32)
    client.infer("cached_ordered", request(known))
    client.start_stream(lambda result, error: answers.put((result, error)))
    arrays = [fresh(1, 4, dtype=np.int32), known, fresh(1, 4, dtype=np.int32), known]
    for i, array in enumerate(arrays):
        client.async_stream_infer("cached_ordered", request(array), request_id=str(i))
    results = [answers.get(timeout=30) for _ in arrays]
    client.stop_stream()
    client.close()
    assert [error for _, error in results] == [None] * len(arrays)
    assert [result.get_response().id for result, _ in results] == ["0", "1", "2", "3"]
    for (result, _), array in zip(results, arrays):
        assert (result.as_numpy("OUTPUT0") == array).all()


@pytest.mark.parametrize("size", [2048, 600])
def test_a_response_that_does_not_fit_is_answered_and_logged(start_server, request, loop, size):
    server = start_server(f"tiny_cache_{size}", models.write_cached,
                          *cache_flags(request, f"size={size}"))
    client = Transport("http", server, loop)
    array = fresh(30, 30)
    for _ in range(2):
        answer = client.infer("cached", [client.input("INPUT0", array)])
        assert (answer.array("OUTPUT0") == array).all()
    found = counts(statistics(client, "cached"))
    assert (found["cache_hit"], found["cache_miss"], found["executions"]) == (0, 2, 2)
    log = server.log_tail(1000)
    assert "Failed to insert key [" in log
    assert f"is greater than total cache size: {size}" in log
    client.close()


@pytest.mark.parametrize("setting,text", [
    ("size=0", "'size' is '0'"), ("size=lots", "'size' is 'lots'"), ("colour=red", "'colour'")])
def test_a_bad_setting_ends_the_start(start_server, request, setting, text):
    with pytest.raises(ServerFailed, match=text):
        start_server("bad_cache", models.write_cached, *cache_flags(request, setting))


def test_an_unknown_cache_ends_the_start(start_server, request):
    with pytest.raises(ServerFailed, match="libtritoncache_absent.so"):
        start_server("no_cache", models.write_cached, "--cache-config=absent,x=y",
                     *cache_directory(request))


def test_without_a_cache_the_models_serve(start_server, loop):
    server = start_server("cacheless", models.write_cached)
    client = Transport("http", server, loop)
    array = fresh(1, 2)
    for _ in range(2):
        client.infer("cached", [client.input("INPUT0", array)])
    assert counts(statistics(client, "cached"))["executions"] == 2
    values = [line.rsplit(" ", 1) for line in page(server).splitlines()
              if line.startswith("nv_cache_")]
    assert values and {value for _, value in values} == {"0"}
    assert not any('model="not_cached"' in name for name, _ in values)
    client.close()


def test_a_changed_model_does_not_find_its_old_answers(start_server, request, loop):
    server = start_server("changing", models.write_cached, "--model-control-mode=explicit",
                          "--load-model=cached", *cache_flags(request, "size=1048576"))
    client = Transport("http", server, loop)
    array = fresh(1, 2)
    client.infer("cached", [client.input("INPUT0", array)])
    (server.repository / "cached" / "1" / "weights").write_text("new")
    client.call("load_model", "cached")
    client.infer("cached", [client.input("INPUT0", array)])
    found = counts(statistics(client, "cached"))
    assert (found["cache_hit"], found["cache_miss"]) == (0, 1)
    client.close()


def product_bytes(factor):
    """Returns the ONNX model y = factor * x."""
    x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Mul", ["x", "factor"], ["y"])], "product", [x], [y],
        [onnx.helper.make_tensor("factor", onnx.TensorProto.FLOAT, [1], [factor])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def write_product(root):
    folder = root / "product" / "1"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(product_bytes(2))
    (root / "product" / "config.pbtxt").write_text(
        'backend: "onnxruntime"\n' + models.ONE_CPU_INSTANCE)
    x, y = {"x": ("FP32", [1])}, {"y": ("FP32", [1])}
    step = ensembles.step("product", {"x": "x"}, {"y": "y"})
    ensembles.write_ensemble(root, "inner", [step], x, y)
    ensembles.write_ensemble(root, "whole", [step], x, y, extra=models.CACHED)
    ensembles.write_ensemble(root, "nested", [ensembles.step("inner", {"x": "x"}, {"y": "y"})],
                             x, y, extra=models.CACHED)


@pytest.mark.parametrize("ensemble", ["whole", "nested"])
def test_a_reload_that_is_undone_leaves_no_answers(start_server, request, loop, ensemble):
    """The member of a cached ensemble is replaced and put back while requests run. The answers of
    the other member are not given to later requests."""
    server = start_server("undone", write_product, "--model-control-mode=explicit",
                          f"--load-model={ensemble}", *cache_flags(request, "size=1048576"))
    answers, done = {}, threading.Event()

    def ask(client, value):
        array = np.array([value], np.float32)
        return float(client.infer(ensemble, [client.input("x", array)]).array("y")[0])

    def keep_asking():
        client = Transport("http", server, None)
        while not done.is_set():
            value = next(FRESH)
            answers[value] = ask(client, value)
        client.close()

    client = Transport("http", server, loop)
    threads = [threading.Thread(target=keep_asking) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        for factor in (3, 2):
            explicit_models.write(server.repository / "product" / "1" / "model.onnx",
                                  product_bytes(factor))
            client.call("load_model", "product")
    done.set()
    for thread in threads:
        thread.join()
    others = [value for value, answer in answers.items() if answer == 3 * value]
    assert others, "the other member has answered"
    assert [v for v in others if ask(client, v) != 2 * v] == []
    before = counts(statistics(client, ensemble))
    assert ask(client, others[-1]) == 2 * others[-1]
    assert counts(statistics(client, ensemble))["cache_hit"] - before["cache_hit"] == 1
    client.close()
