# SPDX-License-Identifier: Apache-2.0
"""The CPU plan of a running server: the table at the start, and the metrics that say how many threads
executions get. How the numbers are chosen is tested with simulated machines
(src/model/cpu/plan_simulation_test.cc)."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import models
import pytest
import pytorch_models
import raw_http
from onnx import TensorProto, helper

pytestmark = pytest.mark.skipif("config.option.peer", reason="Triton has no CPU plan")

CPUS = len(os.sched_getaffinity(0))
SIDE = 256
PRODUCTS = 24  # of a request: milliseconds together


def chain(products):
    """Returns a graph that multiplies its input with itself."""
    nodes, last = [], "INPUT"
    for i in range(products):
        nodes += [helper.make_node("MatMul", [last, "INPUT"], [f"p{i}"]),
                  helper.make_node("Tanh", [f"p{i}"], [f"t{i}"])]
        last = f"t{i}"
    nodes.append(helper.make_node("ReduceSum", [last], ["OUTPUT"], keepdims=1))
    return helper.make_graph(
        nodes, "chain",
        [helper.make_tensor_value_info("INPUT", TensorProto.FLOAT, [SIDE, SIDE])],
        [helper.make_tensor_value_info("OUTPUT", TensorProto.FLOAT, [1, 1])])


def write_models(root):
    repo = models.Repository(root)
    repo.onnx("heavy", chain(PRODUCTS))
    repo.onnx("light", chain(0))
    repo.onnx("set", chain(PRODUCTS), 'backend: "onnxruntime"\n'
              'parameters { key: "cpu_threads_per_instance" value { string_value: "1" } }\n')


@pytest.fixture(scope="module")
def serving(start_server, require_backends):
    require_backends("onnxruntime")
    return start_server("cpu_plan", write_models)


def infer(serving, model, count):
    body = {"inputs": [raw_http.tensor("INPUT", "FP32", [SIDE, SIDE],
                                       [i % 7 / 7 for i in range(SIDE * SIDE)])]}
    sums = set()
    for _ in range(count):
        answer = raw_http.infer(serving, model, body)
        assert answer.status == 200, answer.body
        sums.add(round(answer.json["outputs"][0]["data"][0], 2))
    return sums


def threads_of(serving, model):
    """Returns the reason of the last decision, and the decisions by number of threads."""
    page = raw_http.get(serving, "/metrics", port=serving.metrics_port).body.decode()
    last = re.search(rf'nereid_cpu_threads{{model="{model}",reason="(\w+)"', page)
    counts = re.findall(rf'nereid_cpu_threads_decisions_total{{model="{model}",threads="(\d+)",'
                        r'version="1"} (\d+)', page)
    return last.group(1), {int(threads): int(count) for threads, count in counts}


def test_the_table_shows_who_decides(serving):
    log = serving.log_tail(10_000)
    each = f"1 to {CPUS}"
    assert re.search(rf"\| heavy +\| 1 +\| {max(2, CPUS)} +\| {each} +\| any +\| plan +\|", log)
    assert re.search(r"\| set +\| 1 +\| \d+ +\| 1 +\| any +\| cpu_threads_per_instance +\|", log)


def test_the_configuration_for_clients_shows_no_plan(serving):
    config = raw_http.get(serving, "/v2/models/heavy/config").json
    assert "parameters" not in config or not config["parameters"]
    assert config["instance_group"][0]["count"] == 2


@pytest.mark.skipif(CPUS < 2, reason="one CPU leaves no choice")
def test_a_long_execution_tries_all_cpus_and_gives_the_same_answers(serving):
    sums = infer(serving, "heavy", 30)
    reason, decisions = threads_of(serving, "heavy")
    # A session for the other number is opened in the background meanwhile.
    for _ in range(200):
        if decisions[CPUS] > 0:
            break
        sums |= infer(serving, "heavy", 10)
        reason, decisions = threads_of(serving, "heavy")
    assert decisions[1] > 0 and decisions[CPUS] > 0
    assert reason in ("idle", "no_gain", "measuring", "shared")
    assert max(sums) - min(sums) < 0.05


def test_a_short_execution_uses_one_thread(serving):
    infer(serving, "light", 20)
    reason, decisions = threads_of(serving, "light")
    assert reason in ("short", "measuring")
    assert sum(count for threads, count in decisions.items() if threads > 1) == 0


def write_torch_models(root):
    for name in ("convolution", "keeps"):
        pytorch_models.put(root, name)
    pytorch_models.put(root, "one", source="convolution",
                       add="instance_group { kind: KIND_CPU count: 1 }\n")
    pytorch_models.put(root, "sequences", source="convolution",
                       add="sequence_batching { direct { } }\n")


@pytest.fixture(scope="module")
def torch_serving(start_server, require_backends):
    require_backends("pytorch")
    return start_server("cpu_plan_torch", write_torch_models)


@pytest.mark.parametrize("model, instances", [("convolution", CPUS), ("keeps", 1), ("one", 1),
                                              ("sequences", 1)])
def test_modules_that_keep_nothing_get_instances(torch_serving, model, instances):
    log = torch_serving.log_tail(10_000)
    assert re.search(rf"\| {model} +\| 1 +\| {instances} +\|", log), log
    config = raw_http.get(torch_serving, f"/v2/models/{model}/config").json
    assert config["instance_group"][0]["count"] == 1


def test_instances_that_share_a_module_give_its_answers_from_the_first_run_on(torch_serving):
    """PyTorch compiles the module during its first runs, which here happen at the same time."""
    def ask(case):
        inputs = [{"name": name, **tensor} for name, tensor in case["inputs"].items()]
        answer = raw_http.infer(torch_serving, "convolution", {"inputs": inputs})
        assert answer.status == 200, answer.body
        for output in answer.json["outputs"]:
            expected = case["outputs"][output["name"]]
            assert output["shape"] == expected["shape"]
            assert output["data"] == pytest.approx(expected["data"], rel=1e-5, abs=1e-6)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, 20 * pytorch_models.CASES["convolution"]))


def test_a_setting_wins(serving):
    infer(serving, "set", 5)
    assert threads_of(serving, "set") == ("fixed", {})
