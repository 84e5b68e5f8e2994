# SPDX-License-Identifier: Apache-2.0
"""The fields of tritonserver.Options: their effects on the server, and the types that they take."""

import contextlib
import dataclasses
import hashlib
import re

import numpy as np
import pytest
from conftest import write_identity, write_model, write_python
from inputs import repeat
from processes import run_script

import tritonserver
from nereid.paths import plugin_directory

EXPLICIT = tritonserver.ModelControlMode.EXPLICIT
ONE = {"IN": np.ones(1, np.float32)}


@contextlib.contextmanager
def started(repository, **options):
    """A server that runs."""
    server = tritonserver.Server(model_repository=str(repository), **options)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def echo(tmp_path):
    """A repository with the model `echo`."""
    write_identity(tmp_path / "models", "echo", "FP32")
    return tmp_path / "models"


@pytest.fixture
def half(echo):
    """A repository with the models `echo` and `broken`, which cannot be loaded."""
    write_model(echo, "broken", 'backend: "none"')
    return echo


def log_of(repository, path, **options):
    """Returns the log of a server from its start to its end."""
    with started(repository, exit_on_error=False, log_file=str(path), **options):
        pass
    # The log is the process's: this closes the file.
    with started(repository, exit_on_error=False, log_file=""):
        pass
    return path.read_text().splitlines()


@pytest.mark.parametrize(
    ("options", "levels"),
    [
        ({}, ""),
        ({"log_error": True}, "E"),
        ({"log_warn": True}, "EW"),
        ({"log_info": True}, "EIW"),
        ({"log_verbose": 1}, "EIW"),
    ],
    ids=["none", "error", "warn", "info", "verbose"],
)
def test_levels_of_the_log(half, tmp_path, options, levels):
    lines = log_of(half, tmp_path / "log", model_load_retry_count=1, **options)
    assert "".join(sorted({line[0] for line in lines})) == levels
    assert any("loading: echo:1" in line for line in lines) == ("I" in levels)


@pytest.mark.parametrize(
    ("log_format", "pattern"),
    [
        (tritonserver.LogFormat.DEFAULT, r"I\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ "),
        (tritonserver.LogFormat.ISO8601, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ I \d+ "),
    ],
)
def test_the_format_of_the_log(echo, tmp_path, log_format, pattern):
    try:
        lines = log_of(echo, tmp_path / "log", log_info=True, log_format=log_format)
    finally:
        log_of(echo, tmp_path / "rest", log_format=tritonserver.LogFormat.DEFAULT)
    assert lines and all(re.match(pattern, line) for line in lines)


@pytest.mark.parametrize("retries", [0, 2])
def test_loads_are_tried_again(half, tmp_path, retries):
    lines = log_of(half, tmp_path / "log", log_warn=True, model_load_retry_count=retries)
    assert sum("retrying to load 'broken'" in line for line in lines) == retries


def test_readiness_and_errors(half):
    for strict in (True, False):
        with started(half, exit_on_error=False, strict_readiness=strict) as server:
            assert server.ready() is not strict
            assert server.model("echo").ready() and not server.model("broken").ready()
    with pytest.raises(tritonserver.InternalError, match="failed to load all models"):
        tritonserver.Server(model_repository=str(half), exit_on_error=True).start()


def test_modes_of_control(echo):
    write_identity(echo, "other", "FP32")
    with started(echo) as server:
        assert server.model("echo").ready() and server.model("other").ready()
        with pytest.raises(tritonserver.UnavailableError):
            server.unload("echo")
    with started(echo, model_control_mode=EXPLICIT) as server:
        assert not server.model("echo").ready() and server.load("echo").ready()
    with started(echo, model_control_mode=EXPLICIT, startup_models=["other"]) as server:
        assert server.model("other").ready() and not server.model("echo").ready()
    with started(echo, model_control_mode=tritonserver.ModelControlMode.POLL) as server:
        write_identity(echo, "late", "FP32")
        assert not server.model("late").ready()
        server.poll_model_repository()
        assert server.model("late").ready()


def test_metrics_pages(echo):
    # Servers of one process share the metrics of the machine.
    script = """
        import sys, tritonserver
        for options in {}, {"cpu_metrics": False}, {"gpu_metrics": False}, {"metrics": False}:
            server = tritonserver.Server(model_repository=sys.argv[1], **options).start()
            page = server.metrics()
            names = ("nv_cpu_utilization", "nv_inference_count", "nv_gpu_utilization")
            print(*[name for name in names if name in page])
            server.stop()
    """
    assert run_script(script, echo).stdout.splitlines() == [
        "nv_cpu_utilization nv_inference_count",
        "nv_inference_count",
        "nv_cpu_utilization nv_inference_count",
        "",
    ]


def test_namespaces(tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        write_identity(folder, "echo", "FP32")
    for namespacing in (True, False):
        options = tritonserver.Options(
            model_repository=[str(folder) for folder in folders],
            model_namespacing=namespacing,
            exit_on_error=False,
        )
        server = tritonserver.Server(options).start()
        try:
            reasons = [model.reason for model in server.models().values()]
            assert ("model appears in two or more repositories" in reasons) is not namespacing
            assert (None in reasons) is namespacing
        finally:
            server.stop()


@pytest.mark.parametrize(
    ("field", "folder", "more", "message"),
    [
        ("backend_directory", "backends", "", "unable to find backend library for .* 'identity'"),
        (
            "cache_directory",
            "caches",
            "response_cache { enable: true }\n",
            "unable to find 'libtritoncache_local.so'",
        ),
    ],
)
def test_directories_of_plugins(tmp_path, field, folder, more, message):
    write_identity(tmp_path / "models", "echo", "FP32", more=more)
    options = {"cache_config": {"local": {"size": 1 << 20}}}
    with started(
        tmp_path / "models", **options, **{field: str(plugin_directory(folder))}
    ) as server:
        assert server.model("echo").ready()
    options[field] = str(tmp_path / "none")
    with pytest.raises(tritonserver.TritonError, match=message):
        tritonserver.Server(model_repository=str(tmp_path / "models"), **options).start()


def test_the_directory_of_repository_agents(tmp_path):
    write_identity(tmp_path / "models", "echo", "FP32")
    (tmp_path / "models/echo/1/file").write_bytes(b"x")
    with open(tmp_path / "models/echo/config.pbtxt", "a") as config:
        md5 = hashlib.md5(b"x").hexdigest()
        config.write(
            'model_repository_agents { agents [ { name: "checksum" parameters '
            f'{{ key: "MD5:1/file" value: "{md5}" }} }} ] }}\n'
        )
    good = str(plugin_directory("repoagents"))
    with started(tmp_path / "models", repo_agent_directory=good) as server:
        assert server.model("echo").ready()
    options = {"repo_agent_directory": str(tmp_path), "exit_on_error": False}
    with started(tmp_path / "models", **options) as server:
        assert not server.model("echo").ready()


def test_the_rate_limiter(tmp_path):
    group = 'kind: KIND_CPU rate_limiter { resources [ { name: "R" count: 5 } ] }'
    write_identity(tmp_path, "echo", "FP32", more=f"instance_group {{ {group} }}\n")
    limited = {"rate_limiter_mode": tritonserver.RateLimitMode.EXEC_COUNT}
    few, enough = ([tritonserver.RateLimiterResource("R", count, -1)] for count in (2, 5))
    for options in (
        {"rate_limiter_resources": few},  # no mode: resources do not matter
        {"rate_limiter_resources": enough, **limited},
    ):
        with started(tmp_path, **options) as server:
            assert list(server.model("echo").infer(inputs=ONE))[0].final
    with pytest.raises(tritonserver.InternalError, match='count for "R" is limited to 2'):
        tritonserver.Server(
            model_repository=str(tmp_path), rate_limiter_resources=few, **limited
        ).start()


COMPLETED = """
class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "IN", "data_type": "TYPE_FP32", "dims": [-1]})
        config.add_output({"name": "OUT", "data_type": "TYPE_FP32", "dims": [-1]})
        return config

    def execute(self, requests):
        return []
"""


def test_strict_configurations(tmp_path):
    write_python(tmp_path, "m", COMPLETED)
    for strict, names in ((False, ["IN"]), (True, [])):
        with started(tmp_path, strict_model_config=strict) as server:
            assert [entry["name"] for entry in server.model("m").config()["input"]] == names


def test_settings_of_backends(tmp_path):
    write_python(tmp_path, "m", "")
    with pytest.raises(tritonserver.InternalError, match="thread-pool-size can't be less than 1"):
        tritonserver.Server(
            model_repository=str(tmp_path),
            backend_configuration={"python": {"thread-pool-size": "0"}},
        ).start()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cache_config": {"none": {}}}, tritonserver.NotFoundError, "libtritoncache_none.so"),
        (
            {"host_policies": {"near": {"cores": "0"}}},
            tritonserver.UnsupportedError,
            "Unsupported host policy setting 'cores'",
        ),
        (
            {
                "model_load_device_limits": [
                    tritonserver.ModelLoadDeviceLimit(tritonserver.InstanceGroupKind.GPU, 0, 2.0)
                ]
            },
            tritonserver.InvalidArgumentError,
            "must lie between 0 and 1",
        ),
    ],
)
def test_refused_values(echo, options, error, message):
    with pytest.raises(error, match=message):
        tritonserver.Server(model_repository=str(echo), **options).start()


def test_the_exit_timeout(repository):
    options = {"model_control_mode": EXPLICIT, "startup_models": ["repeat"]}
    server = tritonserver.Server(model_repository=str(repository), exit_timeout=0, **options)
    server.start()
    responses = server.model("repeat").infer(inputs=repeat([1] * 3000, delay_ms=20))
    next(responses)
    with pytest.raises(tritonserver.InternalError, match="Exit timeout expired.*repeat:1"):
        server.stop()
    with pytest.raises(tritonserver.UnavailableError):
        server.live()
    responses.cancel()
    with pytest.raises(tritonserver.TritonError):
        list(responses)


def test_options_without_an_effect_on_a_machine_without_gpus(echo):
    with started(
        echo,
        gpu_metrics=False,
        metrics_interval=100,
        pinned_memory_pool_size=1 << 20,
        cuda_memory_pool_sizes={0: 1 << 20},
        min_supported_compute_capability=5,
        enable_peer_access=False,
        buffer_manager_thread_count=2,
        model_load_thread_count=1,
    ) as server:
        assert list(server.model("echo").infer(inputs=ONE))[0].final


WRONG_TYPES = {
    bool: (1, "true"),
    int: ("1", 1.5, True),
    float: ("6", None),
    str: (1, b"x"),
    list: (1, "x", {}, [1]),
    dict: (1, "x", [], {"x": "y"}),
}


def wrong_values():
    """Yields the names of all fields with values of wrong types."""
    for entry in dataclasses.fields(tritonserver.Options):
        kind = type(getattr(tritonserver.Options(), entry.name))
        if entry.name == "log_file":
            kind = str
        for value in WRONG_TYPES.get(kind, ("x", 1.5, None)):  # else an enumeration
            if entry.name != "model_repository" or value != "x":
                yield pytest.param(entry.name, value, id=f"{entry.name}-{value!r}")


@pytest.mark.parametrize(("field", "value"), list(wrong_values()))
def test_wrong_types(echo, field, value):
    with pytest.raises(TypeError):
        tritonserver.Server(**{"model_repository": str(echo), field: value}).start()
