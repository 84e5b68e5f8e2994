# SPDX-License-Identifier: Apache-2.0
"""Life of a server, its models, settings and front ends."""

import json
import multiprocessing
import signal
import urllib.request

import numpy as np
import pytest
from conftest import write_identity
from processes import run_script

import nereid

ZERO = {"IN": np.zeros(1, np.float32)}


def test_start_and_stop(tmp_path):
    write_identity(tmp_path, "echo", "FP32")
    server = nereid.Server(tmp_path, id="mine")
    with pytest.raises(nereid.InvalidArgumentError, match="Server not started"):
        server.is_ready()
    for _ in range(2):
        server.start()
        assert server.start() is server
        assert server.is_live() and server.is_ready()
        assert server.metadata()["name"] == "mine"
        assert server.model("echo").infer(ZERO).final
        server.stop()
        server.stop()
    with pytest.raises(nereid.InvalidArgumentError, match="Server not started"):
        server.model("echo").infer(ZERO)


def test_settings(tmp_path):
    with pytest.raises(nereid.InvalidArgumentError, match="http-prot"):
        nereid.Server(tmp_path, http_prot=1).start()
    with pytest.raises(nereid.InternalError, match="missing"):
        nereid.Server(tmp_path / "missing").start()
    write_identity(tmp_path, "echo", "FP32")
    with nereid.Server(
        [tmp_path], rate_limit="execution_count", rate_limit_resource=["R:4"], metrics_config={}
    ) as server:
        assert server.is_ready()


def test_load_and_unload(repository):
    with nereid.Server(repository, load_model=[]) as server:
        assert {"name": "echo_fp32"} in server.models()
        model = server.load("echo_fp32")
        assert model.is_ready() and model.infer(ZERO).final
        assert {"name": "echo_fp32", "version": "1", "state": "READY"} in server.models()
        server.unload("echo_fp32")
        with pytest.raises(nereid.NotFoundError):
            model.infer(ZERO)
        with pytest.raises(nereid.NotFoundError, match="none"):
            server.load("none")
        config = model_config = server.load("echo_fp32").config()
        config["max_batch_size"] = 4
        assert server.load("echo_fp32", config=config).config()["max_batch_size"] == 4
        assert json.dumps(model_config)


def test_a_model_without_a_repository():
    dims = {"name": "IN", "data_type": "TYPE_FP32", "dims": [-1]}
    config = {"backend": "identity", "input": [dims], "output": [{**dims, "name": "OUT"}]}
    with nereid.Server() as server:
        model = server.load("echo", config=config, files={"1/nothing": b""})
        assert model.infer(ZERO)["OUT"].tolist() == [0]


def test_about_models(server):
    model = server.model("batched")
    model.infer({"IN": np.zeros((1, 1), np.float32)})
    assert model.batches() and not server.model("echo_fp32").batches()
    assert model.metadata()["inputs"][0]["name"] == "IN"
    assert model.config()["max_batch_size"] == 8
    assert model.statistics()["model_stats"][0]["inference_count"] >= 1
    assert len(server.statistics()["model_stats"]) > 1
    assert 'nv_inference_count{model="batched"' in server.metrics()


def test_front_ends(server):
    with server.listen(http_port=0, grpc_port=0, metrics_port=0) as frontends:
        for port, path in (
            (frontends.http_port, "v2/health/ready"),
            (frontends.metrics_port, "metrics"),
        ):
            assert urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}").status == 200
        assert frontends.grpc_port != 0
        with pytest.raises(nereid.Error, match="HTTP"):
            server.listen(http_port=frontends.http_port)
        port = frontends.http_port
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready")


def test_custom_metrics(server):
    family = nereid.MetricFamily(nereid.MetricKind.COUNTER, "own_total", "counts")
    metric = nereid.Metric(family, {"color": "red"})
    del family  # the metric keeps it
    metric.increment(2)
    assert metric.value == 2 and metric.kind is nereid.MetricKind.COUNTER
    assert 'own_total{color="red"} 2' in server.metrics()
    with pytest.raises(nereid.InvalidArgumentError):
        metric.increment(-1)
    with pytest.raises(nereid.UnsupportedError):
        metric.set_value(1)
    gauge = nereid.Metric(nereid.MetricFamily(nereid.MetricKind.GAUGE, "own_gauge", "x"))
    gauge.set_value(1.5)
    assert gauge.value == 1.5


def _ask_in_child(server, results):
    outcomes = []
    for action in (
        lambda: server.model("echo_fp32").infer(ZERO),
        server.stop,
        lambda: nereid.Server().start(),
    ):
        try:
            action()
            outcomes.append("no error")
        except nereid.ForkedError:
            outcomes.append("ForkedError")
        except nereid.Error as error:
            outcomes.append(repr(error))
    results.send(outcomes)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_is_refused(server):
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_ask_in_child, args=(server, there))
    child.start()
    assert here.recv() == ["ForkedError"] * 3
    child.join(30)
    assert child.exitcode == 0
    assert server.model("echo_fp32").infer(ZERO).final


def test_a_forked_process_removes_nothing():
    script = """
        import os, sys, nereid, numpy
        from nereid.pytriton import Tensor
        tensor = Tensor(dtype=numpy.float32, shape=(-1,))
        server = nereid.Server().start()
        server.bind("echo", lambda rs: [{"OUTPUT_1": r["INPUT_1"]} for r in rs], [tensor], [tensor])
        folders = [server._temporary.name, server._bound._folder.name]
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
        assert all(map(os.path.isdir, folders))
        server.stop()
        assert not any(map(os.path.exists, folders))
        print("kept")
    """
    assert run_script(script).stdout == "kept\n"


def test_the_process_ends_with_a_running_server(repository):
    script = """
        import sys, nereid
        server = nereid.Server(sys.argv[1], load_model=["echo_fp32"]).start()
        frontends = server.listen(http_port=0)
        print("running")
    """
    assert run_script(script, repository).stdout == "running\n"


def test_signals_stay_pythons(repository):
    script = """
        import os, signal, sys, threading
        import nereid, numpy
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        with nereid.Server(sys.argv[1], load_model=["slow"]) as server:
            assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before
            model = server.model("slow")
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                while True:
                    model.infer({"IN": numpy.zeros(1, numpy.float32)})
            except KeyboardInterrupt:
                print("interrupted")
    """
    assert run_script(script, repository).stdout == "interrupted\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _serve_in_child(repository, results):
    with nereid.Server(repository, load_model=["echo_fp32"]) as server:
        results.send(server.model("echo_fp32").infer(ZERO)["OUT"].tolist())


def test_spawned_workers(repository):
    context = multiprocessing.get_context("spawn")
    pipes = []
    for _ in range(2):
        here, there = context.Pipe()
        child = context.Process(target=_serve_in_child, args=(str(repository), there))
        child.start()
        pipes.append((here, child))
    for here, child in pipes:
        assert here.recv() == [0.0]
        child.join(30)
        assert child.exitcode == 0
