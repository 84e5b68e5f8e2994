# SPDX-License-Identifier: Apache-2.0
"""Ensembles with the official clients: their results, the tensors that they pass on, their
failures."""

import threading
import time

import ensembles
import numpy as np
import pytest
from clients import Transport
from test_statistics import counted, counts, wait_for_counts


@pytest.fixture(scope="module")
def serving(start_server, is_peer):
    return start_server("ensembles", lambda root: ensembles.write(root, bounded=not is_peer))


@pytest.fixture(params=["http", "grpc"])
def client(request, serving, loop):
    made = Transport(request.param, serving, loop)
    yield made
    made.close()


def values(batch=1, start=0):
    return (np.arange(batch * 4, dtype=np.int32) + start).reshape(batch, 4)


def ask(client, model, x=None, **kwargs):
    x = values() if x is None else x
    return client.infer(model, [client.input("x", x)], **kwargs)


@pytest.mark.parametrize("model", ["pipeline", "outer_half"])
def test_steps_in_any_order(client, model):
    if model == "outer_half":
        x = values(2, 5)
        assert ask(client, "outer", x).array("y").tolist() == (2 * x).tolist()
        return
    x = values(3, 1)
    answer = ask(client, "pipeline", x)
    assert answer.array("y").tolist() == x.tolist()


def test_two_branches_meet(client):
    x = values(2, 7)
    answer = ask(client, "diamond", x)
    assert answer.array("y").tolist() == (2 * x).tolist()
    assert answer.array("z").tolist() == (0 * x).tolist()


def test_a_tensor_for_two_inputs_of_a_step(client):
    x = values(1, 3)
    assert ask(client, "twice", x).array("y").tolist() == (2 * x).tolist()


def test_only_the_steps_of_requested_outputs_run(client):
    before = counted(client, "b")
    answer = ask(client, "two", outputs=[client.wanted("y")])
    assert list(answer.names) == ["y"]
    wait_for_counts(client, "two", counts(counted(client, "two"))["success"])
    assert counts(counted(client, "b"))["success"] == counts(before)["success"]


@pytest.mark.parametrize("model, batch, shape", [
    ("to_fixed", 1, [1, 4]), ("to_rows", 2, [2, 4]), ("to_rows", 1, [1, 4])])
def test_batches_to_models_without(client, model, batch, shape):
    x = values(batch)
    answer = ask(client, model, x)
    assert list(answer.array("y").shape) == shape
    assert answer.array("y").tolist() == x.tolist()


def test_a_model_without_batches_before_one_with(client):
    answer = client.infer("from_fixed", [client.input("x", values()[0])])
    assert answer.array("y").tolist() == values()[0].tolist()


def test_a_batch_that_does_not_fit(client):
    client.expect("INVALID_ARG", "in ensemble 'to_fixed', ", ask, client, "to_fixed", values(2))


@pytest.mark.parametrize("given", [False, True])
def test_optional_inputs(client, given):
    inputs = [client.input("x", values())]
    if given:
        inputs.append(client.input("w", values(1, 9)))
    answer = client.infer("maybe", inputs)
    assert answer.array("y").tolist() == values().tolist()
    assert answer.array("z").tolist() == (values(1, 9).tolist() if given else [[0, 0, 0, 0]])


def parameters_of(answer, client):
    if client.protocol == "grpc":
        return answer._result.get_response().parameters
    return answer.header.get("parameters", {})


def test_responses_carry_the_sequence(client):
    answer = ask(client, "pipeline", request_id="seven")
    assert answer.header["id"] == "seven"
    parameters = parameters_of(answer, client)
    assert set(parameters) == {"sequence_id", "sequence_start", "sequence_end"}


def test_parameters_go_to_the_members(client):
    client.expect("INTERNAL", "in ensemble 'failing', out of luck", ask, client, "failing",
                  parameters={"fail": "out of luck"})


def test_a_failure_names_the_step(client, is_peer):
    if is_peer:
        pytest.skip("Triton does not say which step it was")
    client.expect("INTERNAL", "in ensemble 'failing', out of luck (step 0, model 'a')", ask, client,
                  "failing", parameters={"fail": "out of luck"})


def test_statistics(client):
    before, member = counted(client, "pipeline"), counted(client, "c")
    ask(client, "pipeline", values(3))
    after = wait_for_counts(client, "pipeline", counts(before)["success"] + 1)
    assert after["inference_count"] - before["inference_count"] == 3
    assert after["execution_count"] - before["execution_count"] == 1
    stats, old = after["inference_stats"], before["inference_stats"]
    assert stats["compute_infer"]["count"] - old.get("compute_infer", {}).get("count", 0) == 1
    assert stats["compute_infer"]["ns"] > old.get("compute_infer", {}).get("ns", 0)
    assert counts(counted(client, "c"))["success"] == counts(member)["success"] + 1


def test_a_failure_counts_once(client, is_peer):
    if is_peer:
        pytest.skip("Triton counts it twice")
    before = counts(counted(client, "failing"))["fail"]
    client.expect("INTERNAL", "in ensemble", ask, client, "failing", parameters={"fail": "no"})
    deadline = time.monotonic() + 30
    while counts(counted(client, "failing"))["fail"] == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert counts(counted(client, "failing"))["fail"] == before + 1


def test_many_at_once(client, serving, loop):
    results, errors = [], []

    def work(k):
        own = Transport("http", serving, loop)
        try:
            for i in range(20):
                x = values(2, 100 * k + i)
                results.append(ask(own, "outer", x).array("y").tolist() == (2 * x).tolist())
        except Exception as error:
            errors.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert results == [True] * 160


def test_a_bound_lets_everybody_have_a_turn(client, serving, loop, is_peer):
    if is_peer:
        pytest.skip("the field is younger than Triton 2.51")
    results = []

    def work(k):
        own = Transport("grpc", serving, loop)
        x = values(1, k)
        results.append(ask(own, "bounded", x).array("y").tolist() == x.tolist())
        own.close()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_metadata_and_configuration(client):
    assert client.json("get_model_metadata", "pipeline")["platform"] == "ensemble"
    config = client.json("get_model_config", "pipeline")
    config = config.get("config", config)  # the field of gRPC
    assert [s["model_name"] for s in config["ensemble_scheduling"]["step"]] == ["c", "b", "a"]
    assert config["model_transaction_policy"] in ({}, {"decoupled": False})
