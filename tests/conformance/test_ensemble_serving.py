# SPDX-License-Identifier: Apache-2.0
"""Further features with ensembles: several responses, caches, labels, a repository that changes,
and thousands of requests at once."""

import asyncio
import re
from pathlib import Path

import grpc
import grpc_raw
import models
import numpy as np
import pytest
from config_models import put_plugin
from ensembles import X, Y, chain, step, tensors, write_ensemble
from onnx import TensorProto, helper
from server_process import sanitized
from test_generate import ask as generate
from test_generate import events
from test_poll_mode import eventually
from test_response_cache import cache_flags
from test_statistics import complete
from tritonclient.grpc import service_pb2_grpc

MANY = 5000


def write(plugins):
    def write_models(root):
        repository = models.Repository(root)
        one = models.ONE_CPU_INSTANCE
        for name, extra in (("a", ""), ("b", ""), ("kept", models.CACHED)):
            repository.identity(name, [("INT32", [4])], batch=8, extra=one + extra)
        square = ('backend: "square"\n' + tensors("input", {"IN": ("INT32", [1])})
                  + tensors("output", {"OUT": ("INT32", [1])}) + one
                  + "model_transaction_policy { decoupled: true }\n")
        put_plugin(repository._write("square", square, (1,)), plugins / "libtriton_square.so")
        write_ensemble(root, "squares", [step("square", {"IN": "x"}, {"OUT": "y"})],
                       {"x": ("INT32", [1])}, {"y": ("INT32", [1])})
        write_ensemble(root, "keeps_a_step", chain("a", "kept"), X, Y, batch=8)
        write_ensemble(root, "keeps_all", chain("a", "b"), X, Y, batch=8, extra=models.CACHED)
        repository.onnx("classifier", models.classifier_graph(True), models.classifier_config(8),
                        models.LABELS)
        scores = {"x": ("FP32", [6])}, {"y": ("FP32", [6])}
        classify = [step("classifier", {"features": "x"}, {"scores": "y"})]
        write_ensemble(root, "labels_of_the_member", classify, *scores, batch=8)
    return write_models


@pytest.fixture(scope="module")
def serving(start_server, server_plugins, request):
    return start_server("ensemble_serving", write(server_plugins),
                        *cache_flags(request, "size=1048576"))


@pytest.fixture(scope="module", params=["http", "grpc"])
def client(request, serving, connect):
    return connect(request.param, serving)


# ---- Several responses ----


@pytest.mark.parametrize("count", [0, 1, 4])
def test_generate_stream_of_a_decoupled_member(serving, count):
    answer = generate(serving, "squares", {"x": count}, "generate_stream")
    assert answer.status == 200
    assert [event["y"] for event in events(answer)] == [count] * count


def test_final_responses_on_a_stream(serving):
    requests = [grpc_raw.infer_request(
        "squares", [grpc_raw.tensor("x", "INT32", [1])], [np.array([n], np.int32).tobytes()],
        request_id=str(n), parameters={"triton_enable_empty_final_response": True})
        for n in (3, 0, 2)]
    responses = [r.infer_response for r in grpc_raw.stream(serving, requests)]
    for n in (3, 0, 2):
        mine = [r for r in responses if r.id == str(n)]
        # The flag is sent with the last response if that is known in time, otherwise separately.
        assert [len(r.outputs) for r in mine] in ([1] * n, [1] * n + [0])
        finals = [r.parameters["triton_final_response"].bool_param for r in mine]
        assert finals == [False] * (len(mine) - 1) + [True]


# ---- Caches ----


def row(client, start):
    return [client.input("x", np.arange(start, start + 4, dtype=np.int32).reshape(1, 4))]


def cache_counts(client, model):
    """Returns hits, misses and executions."""
    found = complete(client.json("get_inference_statistics", model, "")["model_stats"][0])
    stats = found["inference_stats"]
    return np.array([stats["cache_hit"]["count"], stats["cache_miss"]["count"],
                     found["execution_count"]])


def counted(client, model, before, wanted):
    eventually(lambda: (cache_counts(client, model) - before).tolist() == wanted)


@pytest.mark.parametrize("model, cached, runs", [
    ("keeps_a_step", "kept", {"kept": [1, 1, 1], "a": [0, 0, 2]}),
    ("keeps_all", "keeps_all", {"keeps_all": [1, 1, 1], "a": [0, 0, 1], "b": [0, 0, 1]})])
def test_the_second_answer_comes_from_the_cache(client, model, cached, runs):
    start = 1000 if client.protocol == "http" else 2000
    before = {name: cache_counts(client, name) for name in runs}
    for _ in range(2):
        answer = client.infer(model, row(client, start))
        assert answer.array("y").tolist() == [list(range(start, start + 4))]
    for name, wanted in runs.items():
        counted(client, name, before[name], wanted)


# ---- Labels ----


def test_labels_of_a_member(client):
    scores = np.array([[0, 5, 1, 2, 3, 4]], np.float32)
    answer = client.infer("labels_of_the_member", [client.input("x", scores)],
                          outputs=[client.wanted("y", classes=2)])
    assert answer.array("y").tolist() == [[b"10.000000:1:dog", b"8.000000:5"]]


# ---- A repository that changes ----


def times(factor):
    shape = ["batch", 4]
    return helper.make_graph(
        [helper.make_node("Mul", ["INPUT0", "factor"], ["OUTPUT0"])], "times",
        [helper.make_tensor_value_info("INPUT0", TensorProto.INT32, shape)],
        [helper.make_tensor_value_info("OUTPUT0", TensorProto.INT32, shape)],
        [helper.make_tensor("factor", TensorProto.INT32, [], [factor])])


def write_times(root, factor, version):
    models.Repository(root).onnx(
        "times", times(factor), 'backend: "onnxruntime"\nmax_batch_size: 8\n'
        + tensors("input", {"INPUT0": X["x"]}) + tensors("output", {"OUTPUT0": X["x"]})
        + models.ONE_CPU_INSTANCE, version=version)


def write_polled(root):
    models.Repository(root).identity("a", [("INT32", [4])], batch=8,
                                     extra=models.ONE_CPU_INSTANCE)
    write_times(root, 2, 1)
    write_ensemble(root, "polled", chain("a", "times"), X, Y, batch=8)


def test_polling_brings_a_member_anew(start_server, connect):
    server = start_server("ensemble_poll", write_polled, "--model-control-mode=poll",
                          "--repository-poll-secs=1")
    client = connect("http", server)

    def factor():
        try:
            return client.infer("polled", row(client, 1)).array("y")[0, 0]
        except Exception as error:
            return str(error)  # not available while its member is replaced

    assert factor() == 2
    write_times(server.repository, 3, 2)
    eventually(lambda: factor() == 3)


# ---- Many at once ----


def write_many(root):
    repository = models.Repository(root)
    # The delay of two minutes never passes, because the batch is full when all requests have
    # arrived.
    repository.identity("gathers", [("INT32", [256])], batch=MANY, extra=models.ONE_CPU_INSTANCE
                        + f"dynamic_batching {{ preferred_batch_size: [ {MANY} ] "
                          "max_queue_delay_microseconds: 120000000 }\n")
    repository.identity("passes", [("INT32", [256])], batch=8, extra=models.ONE_CPU_INSTANCE)
    described = {"x": ("INT32", [256])}, {"y": ("INT32", [256])}
    write_ensemble(root, "all_at_once", chain("passes", "gathers", "passes"), *described, batch=1,
                   limit=MANY)
    write_ensemble(root, "few_at_once", chain("passes", "passes"), *described, batch=1, limit=4)


def resident_mib(server, field):
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) / 1024


@pytest.mark.parametrize("model", ["all_at_once", "few_at_once"])
def test_thousands_from_one_client(start_server, is_peer, connect, model):
    if is_peer:
        pytest.skip("max_inflight_requests is younger than Triton 2.51")
    server = start_server("ensemble_many", write_many)
    before = resident_mib(server, "VmRSS")

    async def all_of_them():
        # Two connections: one carries 4096 requests at a time.
        own = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(server.grpc, options=own) as first, \
                grpc.aio.insecure_channel(server.grpc, options=own) as second:
            stubs = [service_pb2_grpc.GRPCInferenceServiceStub(c) for c in (first, second)]
            described = [grpc_raw.tensor("x", "INT32", [1, 256])]
            calls = [stubs[n % 2].ModelInfer(grpc_raw.infer_request(
                model, described, [np.full(256, n, np.int32).tobytes()]), timeout=60)
                for n in range(MANY)]
            return [np.frombuffer(r.raw_output_contents[0], np.int32)
                    for r in await asyncio.gather(*calls)]

    answers = asyncio.run(all_of_them())
    assert all((answer == n).all() for n, answer in enumerate(answers)) and len(answers) == MANY
    if model == "all_at_once":
        client = connect("http", server)
        stats = client.json("get_inference_statistics", "gathers", "")["model_stats"][0]
        assert stats["execution_count"] == 1, "all of them were under way at a time"
    # The tensors have 5 MiB, once as inputs and once as outputs; the rest is the cost of the
    # requests.
    assert sanitized(server) or resident_mib(server, "VmHWM") - before < 250
