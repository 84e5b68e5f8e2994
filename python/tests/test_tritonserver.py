# SPDX-License-Identifier: Apache-2.0
"""The module tritonserver, name by name."""

import asyncio
import dataclasses
import gc
import inspect
import queue

import numpy as np
import pytest
from inputs import repeat

import tritonserver

NAMES = """AlreadyExistsError DataType DLDeviceType InferenceRequest InferenceResponse
InstanceGroupKind InternalError InvalidArgumentError LogFormat MemoryBuffer MemoryType Metric
MetricFamily MetricFormat MetricKind Model ModelBatchFlag ModelControlMode ModelTxnPropertyFlag
NotFoundError Options RateLimiterResource RateLimitMode Server Tensor TritonError UnavailableError
UnknownError UnsupportedError MemoryAllocator default_memory_allocators""".split()

ENUMS = {
    "DataType": "INVALID BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 "
    "BYTES BF16",
    "MemoryType": "CPU CPU_PINNED GPU",
    "InstanceGroupKind": "AUTO CPU GPU MODEL",
    "LogFormat": "DEFAULT ISO8601",
    "ModelControlMode": "NONE POLL EXPLICIT",
    "RateLimitMode": "OFF EXEC_COUNT",
    "MetricKind": "COUNTER GAUGE",
    "MetricFormat": "PROMETHEUS",
}

DEFAULTS = {
    "model_repository": [],
    "server_id": "triton",
    "model_control_mode": tritonserver.ModelControlMode.NONE,
    "startup_models": [],
    "strict_model_config": False,
    "rate_limiter_mode": tritonserver.RateLimitMode.OFF,
    "rate_limiter_resources": [],
    "pinned_memory_pool_size": 1 << 28,
    "cuda_memory_pool_sizes": {},
    "cache_config": {},
    "cache_directory": "/opt/tritonserver/caches",
    "min_supported_compute_capability": 6.0,
    "exit_on_error": True,
    "strict_readiness": True,
    "exit_timeout": 30,
    "buffer_manager_thread_count": 0,
    "model_load_thread_count": 4,
    "model_load_retry_count": 0,
    "model_namespacing": False,
    "enable_peer_access": True,
    "log_file": None,
    "log_info": False,
    "log_warn": False,
    "log_error": False,
    "log_format": tritonserver.LogFormat.DEFAULT,
    "log_verbose": 0,
    "metrics": True,
    "gpu_metrics": True,
    "cpu_metrics": True,
    "metrics_interval": 2000,
    "backend_directory": "/opt/tritonserver/backends",
    "repo_agent_directory": "/opt/tritonserver/repoagents",
    "model_load_device_limits": [],
    "backend_configuration": {},
    "host_policies": {},
    "metrics_configuration": {},
}

REQUEST = {
    "request_id": None,
    "flags": 0,
    "correlation_id": None,
    "priority": 0,
    "timeout": 0,
    "inputs": {},
    "parameters": {},
    "output_memory_type": None,
    "response_queue": None,
    "output_memory_allocator": None,
}

ZERO = {"IN": np.zeros(1, np.float32)}


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    assert hasattr(tritonserver, name) and name in tritonserver.__all__


@pytest.mark.parametrize("name", ENUMS)
def test_enum(name):
    enum = getattr(tritonserver, name)
    assert [member.name for member in enum] == ENUMS[name].split()
    assert [int(member) for member in enum] == list(range(len(enum)))
    assert f"{enum(0)}" == f"{name}.{ENUMS[name].split()[0]}"


def test_flags_and_devices():
    assert int(tritonserver.ModelBatchFlag.FIRST_DIM) == 2
    assert int(tritonserver.ModelTxnPropertyFlag.DECOUPLED) == 2
    kinds = tritonserver.DLDeviceType
    assert (kinds.kDLCPU, kinds.kDLCUDA, kinds.kDLCUDAHost, kinds.kDLHexagon) == (1, 2, 3, 16)
    assert kinds.kDLCPU.value == 1


def test_options():
    options = tritonserver.Options()
    assert [entry.name for entry in dataclasses.fields(options)] == list(DEFAULTS)
    for name, value in DEFAULTS.items():
        assert getattr(options, name) == value
    with pytest.raises(AttributeError):
        options.unknown = 1
    with pytest.raises(TypeError):
        tritonserver.Options(unknown=1)
    assert tritonserver.Options() == options
    resource = tritonserver.RateLimiterResource("R", 2, 0)
    assert (resource.name, resource.count, resource.device) == ("R", 2, 0)


def test_request_fields():
    fields = dataclasses.fields(tritonserver.InferenceRequest)
    assert [entry.name for entry in fields] == ["model", *REQUEST]
    request = tritonserver.InferenceRequest(model=None)
    assert {name: getattr(request, name) for name in REQUEST} == REQUEST
    assert [entry.name for entry in dataclasses.fields(tritonserver.InferenceResponse)] == (
        "model request_id parameters outputs error classification_label final".split()
    )


def test_signatures():
    expected = {
        tritonserver.Server.start: ["wait_until_ready", "polling_interval", "timeout"],
        tritonserver.Server.unload: [
            "model",
            "unload_dependents",
            "wait_until_unloaded",
            "polling_interval",
            "timeout",
        ],
        tritonserver.Server.register_model_repository: ["repository_path", "name_mapping"],
        tritonserver.Model.infer: ["inference_request", "raise_on_error", "kwargs"],
        tritonserver.Model.async_infer: ["inference_request", "raise_on_error", "kwargs"],
        tritonserver.Model.config: ["config_version"],
    }
    for function, names in expected.items():
        assert list(inspect.signature(function).parameters)[1:] == names


def test_every_option_reaches_the_server(repository, tmp_path):
    log = tmp_path / "log.txt"
    server = tritonserver.Server(
        model_repository=[str(repository)],
        server_id="other",
        model_control_mode=tritonserver.ModelControlMode.EXPLICIT,
        startup_models=["echo_fp32"],
        strict_model_config=True,
        rate_limiter_mode=tritonserver.RateLimitMode.EXEC_COUNT,
        rate_limiter_resources=[tritonserver.RateLimiterResource("R", 2, -1)],
        pinned_memory_pool_size=0,
        cuda_memory_pool_sizes={0: 1 << 20},
        cache_config={"local": {"size": 1 << 20}},
        exit_timeout=5,
        log_file=str(log),
        log_verbose=1,
        metrics_interval=500,
        model_load_device_limits=[
            tritonserver.ModelLoadDeviceLimit(tritonserver.InstanceGroupKind.GPU, 0, 0.5)
        ],
        backend_configuration={"identity": {"key": "value"}},
        host_policies={"near": {"cpu-cores": "0"}},
        metrics_configuration={"": {"summary_latencies": "true"}},
    )
    server.start(wait_until_ready=True, timeout=30)
    try:
        assert server.metadata()["name"] == "other"
        list(server.model("echo_fp32").infer(inputs=ZERO))
        assert "nv_inference_request_summary_us" in server.metrics()
    finally:
        server.stop()
        tritonserver.Server(model_repository=str(repository), log_file="").start().stop()
    assert log.read_text()


def test_server_life(repository):
    server = tritonserver.Server(model_repository=str(repository))
    for use in (server.live, server.stop, server.metrics, lambda: server.model("x"), server._ptr):
        with pytest.raises(tritonserver.InvalidArgumentError, match="Server not started"):
            use()
    assert server.start(wait_until_ready=True) is server
    with pytest.raises(tritonserver.InvalidArgumentError, match="Server already started"):
        server.start()
    server.stop()
    server.start().stop()
    with pytest.raises(
        tritonserver.InvalidArgumentError, match="Model repository must be specified."
    ):
        tritonserver.Server(model_repository=None).start()
    with pytest.raises(tritonserver.InternalError):
        tritonserver.Server(model_repository="/nonexistent").start()


def test_timeout_before_ready(tmp_path):
    (tmp_path / "broken/1").mkdir(parents=True)
    (tmp_path / "broken/config.pbtxt").write_text('backend: "none"')
    server = tritonserver.Server(model_repository=str(tmp_path), exit_on_error=False)
    with pytest.raises(tritonserver.UnavailableError, match="Timeout before ready"):
        server.start(wait_until_ready=True, polling_interval=0.01, timeout=0.02)
    server.stop()


def test_models(triton):
    models = triton.models()
    model = models["echo_fp32", 1]
    assert (model.name, model.version, model.state) == ("echo_fp32", 1, "READY")
    assert models["echo_fp32"].version == -1
    with pytest.raises(KeyError, match="Unknown Model: none"):
        models["none"]
    assert str(triton.model("m")) == "{'name': 'm', 'version': -1, 'state': None}"
    assert ("echo_fp32", 1) in triton.models(exclude_not_ready=True)
    assert model.ready() and model.metadata()["name"] == "echo_fp32"
    assert model.config()["name"] == "echo_fp32"
    assert triton.model("batched").batch_properties() == tritonserver.ModelBatchFlag.FIRST_DIM
    assert (
        triton.model("repeat").transaction_properties()
        == tritonserver.ModelTxnPropertyFlag.DECOUPLED
    )
    assert model.statistics()["model_stats"]


def test_load_and_unload(triton):
    triton.unload("echo_int8", wait_until_unloaded=True, polling_interval=0.01, timeout=10)
    assert triton.models()["echo_int8", 1].state == "UNAVAILABLE"
    assert triton.load("echo_int8").ready()
    triton.unload(triton.model("echo_int8"), wait_until_unloaded=True)
    triton.load("echo_int8")
    with pytest.raises(tritonserver.UnavailableError):
        triton.poll_model_repository()


def test_infer(triton):
    model = triton.model("parameters")
    request = model.create_request(inputs=ZERO, request_id="r", parameters={"a": 1, "b": "x"})
    responses = list(model.infer(request))
    assert len(responses) == 1
    response = responses[0]
    assert response.final and response.request_id == "r" and response.error is None
    assert response.parameters["a"] == 1 and response.parameters["b"] == "x"
    assert (response.model.name, response.model.version) == ("parameters", 1)
    assert np.from_dlpack(response.outputs["OUT"]).tolist() == [0]
    strings = [b"a", b"b"]
    for response in triton.model("echo_string").infer(inputs={"IN": strings}):
        assert response.outputs["OUT"].to_string_array().tolist() == ["a", "b"]


def test_decoupled(triton):
    responses = list(triton.model("repeat").infer(inputs=repeat([4, 5])))
    assert [np.from_dlpack(r.outputs["OUT"])[0] for r in responses if r.outputs] == [4, 5]
    assert responses[-1].final and not responses[-1].outputs
    assert [response.final for response in responses[:-1]] == [False, False]


def test_response_queues(triton):
    own = queue.SimpleQueue()
    iterators = [
        triton.model("repeat").infer(inputs=repeat([i]), response_queue=own) for i in range(3)
    ]
    got = [own.get(timeout=10) for _ in range(6)]
    assert sorted(int(np.from_dlpack(r.outputs["OUT"])[0]) for r in got if r.outputs) == [0, 1, 2]
    assert all(len(list(iterator)) == 2 for iterator in iterators)
    with pytest.raises(tritonserver.InvalidArgumentError, match="queue.SimpleQueue must be used"):
        triton.model("repeat").infer(inputs=repeat([1]), response_queue=[])

    async def main():
        shared = asyncio.Queue()
        iterator = triton.model("repeat").async_infer(inputs=repeat([1, 2]), response_queue=shared)
        from_queue = [await shared.get() for _ in range(3)]
        assert [response async for response in iterator] == from_queue
        with pytest.raises(tritonserver.InvalidArgumentError, match="asyncio.Queue must be used"):
            triton.model("repeat").async_infer(inputs=repeat([1]), response_queue=[])

    asyncio.run(main())


def test_async(triton):
    async def main():
        return [r async for r in triton.model("echo_fp32").async_infer(inputs=ZERO)]

    assert len(asyncio.run(main())) == 1


def test_cancel(triton):
    responses = triton.model("repeat").infer(inputs=repeat([1] * 1000, delay_ms=20))
    next(responses)
    responses.cancel()
    try:
        assert len(list(responses)) < 1000
    except tritonserver.TritonError:
        pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": {"IN": {}}}, "Input type <class 'dict'> not supported. Must be one of"),
        ({"inputs": {"IN": [[1], [2, 3]]}}, r"Conversion from \[\[1\], \[2, 3\]\] to tensor not"),
        ({"inputs": {"IN": np.zeros((2, 3), np.float32).T}}, "Only contiguous memory is"),
        (
            {"inputs": ZERO, "parameters": {"a": {}}},
            "Unsupported Value. Can't convert <class 'dict'> to Request Parameter",
        ),
        ({"inputs": ZERO, "output_memory_type": "tpu"}, "Memory type tpu not supported: Unsupp"),
        ({"inputs": ZERO, "output_memory_type": "gpu:x"}, "Invalid memory type string gpu:x"),
        ({"inputs": {}}, "expected 1 inputs but got 0"),
    ],
)
def test_refusals(triton, arguments, message):
    with pytest.raises(tritonserver.InvalidArgumentError, match=message):
        triton.model("echo_fp32").infer(**arguments)


def test_outputs_are_refused_in_memory_without_an_allocator(triton, monkeypatch):
    allocators = tritonserver.default_memory_allocators
    monkeypatch.delitem(allocators, tritonserver.MemoryType.GPU, raising=False)
    for wanted in "gpu", "gpu:0", tritonserver.MemoryType.GPU, "cpu_pinned":
        with pytest.raises(tritonserver.InvalidArgumentError, match=f"{wanted} not supported"):
            triton.model("echo_fp32").infer(inputs=ZERO, output_memory_type=wanted)


def test_gpu_outputs_need_cupy(triton):
    try:
        import cupy  # noqa: F401
    except ImportError:
        assert tritonserver.MemoryType.GPU not in tritonserver.default_memory_allocators
        options = {"output_memory_type": "gpu:0", "output_memory_allocator": object()}
        iterator = triton.model("echo_fp32").infer(inputs=ZERO, **options)
        with pytest.raises(
            tritonserver.InternalError, match="Unexpected error in creating response object"
        ) as failure:
            next(iterator)
        assert isinstance(failure.value.args[-1], tritonserver.InferenceResponse)
        iterator = triton.model("echo_fp32").infer(inputs=ZERO, raise_on_error=False, **options)
        assert isinstance(next(iterator).error, tritonserver.InternalError)


def test_the_bindings_have_their_names_in_the_package_too():
    from tritonserver import _c
    from tritonserver._c import triton_bindings

    for name in triton_bindings.__all__:
        assert getattr(_c, name) is getattr(triton_bindings, name)


class TestTensor:
    def test_numpy(self):
        array = np.arange(6, dtype=np.int16).reshape(2, 3)
        tensor = tritonserver.Tensor.from_dlpack(array)
        assert tensor.data_type == tritonserver.DataType.INT16 and tuple(tensor.shape) == (2, 3)
        assert tensor.data_ptr == array.ctypes.data and tensor.size == 12
        assert (tensor.memory_type, tensor.memory_type_id) == (tritonserver.MemoryType.CPU, 0)
        exported = np.from_dlpack(tensor)
        tensor.shape = [6]
        assert exported.shape == (2, 3) and np.shares_memory(exported, array)
        assert tensor.__dlpack_device__() == (1, 0)
        del array, tensor
        gc.collect()
        assert exported.tolist() == [[0, 1, 2], [3, 4, 5]]

    def test_memory_buffer(self):
        array = np.zeros(3)
        buffer = tritonserver.MemoryBuffer.from_dlpack(array)
        assert (buffer.data_ptr, buffer.size) == (array.ctypes.data, 24)

    def test_strings(self):
        tensor = tritonserver.Tensor.from_string_array(["a", "ü"])
        assert tensor.data_type == tritonserver.DataType.BYTES
        assert tensor.size == 4 + 1 + 4 + 2
        assert tensor.to_string_array().tolist() == ["a", "ü"]
        assert tensor.to_bytes_array().tolist() == [b"a", "ü".encode()]
        with pytest.raises(
            tritonserver.InvalidArgumentError, match="Unsupported Triton server data type"
        ):
            np.from_dlpack(tensor)
        with pytest.raises(
            tritonserver.InvalidArgumentError,
            match="Tensor has data type DataType.FP64 not DataType.BYTES",
        ):
            tritonserver.Tensor.from_dlpack(np.zeros(1)).to_bytes_array()
        with pytest.raises(tritonserver.InvalidArgumentError, match="Unsupported conversion from"):
            tritonserver.Tensor.from_bytes_array(np.zeros(1))

    def test_corrupt_strings(self):
        array = np.array([200, 0, 0, 0, 1], np.uint8)
        buffer = tritonserver.MemoryBuffer.from_dlpack(array)
        tensor = tritonserver.Tensor(tritonserver.DataType.BYTES, [1], buffer)
        with pytest.raises(ValueError, match="ends within an element"):
            tensor.to_bytes_array()

    def test_devices(self):
        tensor = tritonserver.Tensor.from_dlpack(np.zeros(1))
        cpu = tritonserver.MemoryType.CPU
        for place in ("cpu", "CPU", cpu, (cpu, 0), (tritonserver.DLDeviceType.kDLCPU, 0)):
            assert tensor.to_device(place) is tensor
        assert tensor.to_host() is tensor
        with pytest.raises(
            tritonserver.UnsupportedError, match=r"Conversion from \(.*\) to \(.*\) not supported."
        ):
            tensor.to_device("cpu_pinned")
        with pytest.raises(
            tritonserver.InvalidArgumentError, match="Unsupported Memory Type String. Can't"
        ):
            tensor.to_device("tpu")
        with pytest.raises(tritonserver.UnsupportedError, match="DLPack stream synchronization"):
            tensor.__dlpack__(stream=3)

    def test_no_dlpack(self):
        with pytest.raises(
            tritonserver.InvalidArgumentError, match="Object does not support DLpack protocol"
        ):
            tritonserver.Tensor.from_dlpack([1])
