# SPDX-License-Identifier: Apache-2.0
"""Where the tensors of models on GPUs are, in requests, answers, ensembles and sequences. The GPUs are
those of the fake driver (tests/fake_gpu)."""

import itertools
import os
import shutil

import numpy as np
import pytest
import raw_http
from clients import TRANSPORTS
from cuda_memory import Cuda, Region
from test_shared_memory import ALLOWED, input_in, output_in

VALUES = np.arange(16, dtype=np.int32)
SEQUENCES = itertools.count(1)


def _tensor(kind, name, datatype="INT32", dims="[ 16 ]"):
    return f'{kind} {{ name: "{name}" data_type: TYPE_{datatype} dims: {dims} }}\n'


def _write_model(root, plugins, name, gpu=0, more="", inputs=1, datatype="INT32", dims="[ 16 ]",
                 kind="KIND_GPU"):
    folder = root / name
    (folder / "1").mkdir(parents=True)
    shutil.copy(plugins / "libtriton_on_gpu.so", folder)
    text = f'name: "{name}"\nbackend: "on_gpu"\n'
    for i in range(inputs):
        text += _tensor("input", f"INPUT{i}", datatype, dims)
        text += _tensor("output", f"OUTPUT{i}", datatype, dims)
    gpus = f" gpus: [ {gpu} ]" if kind == "KIND_GPU" else ""
    text += f"instance_group {{ kind: {kind}{gpus} }}\n" + more
    (folder / "config.pbtxt").write_text(text)


def _write_ensemble(root, name, members, also=()):
    """A chain of `members`; the tensors between them are t1, t2, …; those of `also` are outputs."""
    tensors = ["x"] + [f"t{i}" for i in range(1, len(members))] + ["y"]
    text = f'name: "{name}"\nplatform: "ensemble"\n' + _tensor("input", "x")
    for output in ("y", *also):
        text += _tensor("output", output)
    text += "ensemble_scheduling {\n"
    for i, member in enumerate(members):
        text += (f'step {{ model_name: "{member}" model_version: -1 '
                 f'input_map {{ key: "INPUT0" value: "{tensors[i]}" }} '
                 f'output_map {{ key: "OUTPUT0" value: "{tensors[i + 1]}" }} }}\n')
    (root / name / "1").mkdir(parents=True)
    (root / name / "config.pbtxt").write_text(text + "}\n")


def _sequence(strategy, same_buffer=False, growable=False):
    flags = "use_same_buffer_for_input_output: true " if same_buffer else ""
    flags += "use_growable_memory: true " if growable else ""
    return (_tensor("output", "PREVIOUS", dims="[ -1 ]") + f"""sequence_batching {{
  {strategy} {{ }}
  state {{ input_name: "STATE_IN" output_name: "STATE_OUT" data_type: TYPE_INT32 dims: [ -1 ]
           {flags} }}
}}
""")


@pytest.fixture(scope="module")
def server(start_server, backends, is_peer, test_plugins):
    folder = backends.parent / "fake_gpu"
    if is_peer or not (folder / "libcuda.so.1").exists():
        pytest.skip("the server under test has no fake GPUs")

    def write(root):
        for gpu in (0, 1):
            _write_model(root, test_plugins, f"gpu{gpu}", gpu, inputs=2)
        _write_model(root, test_plugins, "on_cpu", kind="KIND_CPU")
        _write_model(root, test_plugins, "text", datatype="STRING", dims="[ -1 ]")
        _write_model(root, test_plugins, "first", 0)
        _write_model(root, test_plugins, "second", 0)
        _write_model(root, test_plugins, "other_gpu", 1)
        _write_ensemble(root, "chain", ["first", "second", "other_gpu"])
        _write_ensemble(root, "through_cpu", ["first", "on_cpu", "second"])
        _write_ensemble(root, "requested", ["first", "second"], also=["t1"])
        for name, state in [("states", _sequence("direct")), ("oldest", _sequence("oldest")),
                            ("same", _sequence("direct", True)),
                            ("growing", _sequence("direct", True, True))]:
            _write_model(root, test_plugins, name, 0, state, dims="[ -1 ]")

    return start_server("gpu_tensors", write, ALLOWED, "--pinned-memory-pool-byte-size=1000000",
                        "--trace-config=rate=1", "--trace-config=level=TENSORS",
                        "--trace-config=triton,file=/dev/null",
                        environment={"LD_LIBRARY_PATH": str(folder), "NEREID_FAKE_GPUS": "2",
                                     "NEREID_FAKE_GPU_DELAY_US": "200"})


@pytest.fixture(scope="module")
def cuda(backends, server):
    os.environ.setdefault("NEREID_FAKE_GPUS", "2")
    return Cuda(backends.parent / "fake_gpu" / "libcuda.so.1")


@pytest.fixture(scope="module")
def transports(server, connect):
    return {name: connect(name, server) for name in TRANSPORTS}


@pytest.fixture(params=["http", "grpc"])
def client(request, transports):
    client = transports[request.param]
    yield client
    client.call("unregister_cuda_shared_memory")


def _json(server, model, tensors, outputs=None, **parameters):
    document = {"inputs": tensors}
    if outputs is not None:
        document["outputs"] = outputs
    if parameters:
        document["parameters"] = parameters
    answer = raw_http.infer(server, model, document)
    assert answer.status == 200, answer.body
    return answer.json


def _ints(name, values):
    return raw_http.tensor(name, "INT32", [len(values)], [int(value) for value in values])


def _places(answer):
    return answer["parameters"]["places"]


def test_a_message_is_in_host_memory(server, client):
    answer = client.infer("gpu0", [client.input(f"INPUT{i}", VALUES + i) for i in (0, 1)])
    for i in (0, 1):
        assert np.array_equal(answer.array(f"OUTPUT{i}"), VALUES + i)
    answer = _json(server, "gpu1", [_ints(f"INPUT{i}", VALUES) for i in (0, 1)])
    assert _places(answer) == "INPUT0 CPU 0, OUTPUT0 CPU 0, INPUT1 CPU 0, OUTPUT1 CPU 0"


@pytest.mark.parametrize("model_gpu", [0, 1])
@pytest.mark.parametrize("region_gpu", [0, 1])
def test_shared_memory_is_used_in_place(server, client, cuda, model_gpu, region_gpu):
    region = Region(cuda, 192, region_gpu)
    region.write(VALUES.tobytes())
    client.call("register_cuda_shared_memory", "r", region.raw_handle, region_gpu, 192)
    client.infer(f"gpu{model_gpu}",
                 [input_in(client, "INPUT0", [16], "INT32", "r", 64),
                  client.input("INPUT1", VALUES + 5)],
                 [output_in(client, "OUTPUT0", "r", 64, 64),
                  output_in(client, "OUTPUT1", "r", 64, 128)])
    assert region.read(64, 64) == VALUES.tobytes()
    assert region.read(64, 128) == (VALUES + 5).tobytes()
    shared = {"shared_memory_region": "r", "shared_memory_byte_size": 64}
    answer = _json(server, f"gpu{model_gpu}",
                   [{"name": "INPUT0", "datatype": "INT32", "shape": [16], "parameters": shared},
                    _ints("INPUT1", VALUES)],
                   [{"name": "OUTPUT0", "parameters": {**shared, "shared_memory_offset": 64}},
                    {"name": "OUTPUT1"}])
    assert _places(answer) == (f"INPUT0 GPU {region_gpu}, OUTPUT0 GPU {region_gpu}, "
                               "INPUT1 CPU 0, OUTPUT1 CPU 0")
    region.free()


def test_an_instance_on_the_cpu_reads_the_host(server, client, cuda):
    region = Region(cuda, 64)
    region.write(VALUES.tobytes())
    client.call("register_cuda_shared_memory", "r", region.raw_handle, 0, 64)
    shared = {"shared_memory_region": "r", "shared_memory_byte_size": 64}
    answer = _json(server, "on_cpu", [{"name": "INPUT0", "datatype": "INT32", "shape": [16],
                                       "parameters": shared}])
    assert _places(answer).startswith("INPUT0 CPU 0")
    assert answer["outputs"][0]["data"] == VALUES.tolist()
    region.free()


def test_strings_are_checked_on_the_host(server, client, cuda):
    region = Region(cuda, 64)
    region.write(b"\x03\0\0\0one\x02\0\0\0xy")
    client.call("register_cuda_shared_memory", "r", region.raw_handle, 0, 64)
    shared = {"shared_memory_region": "r", "shared_memory_byte_size": 13}
    answer = _json(server, "text", [{"name": "INPUT0", "datatype": "BYTES", "shape": [2],
                                     "parameters": shared}])
    assert answer["outputs"][0]["data"] == ["one", "xy"]
    assert _places(answer).startswith("INPUT0 CPU 0")
    region.free()



def test_tensors_between_models_on_gpus_stay_there(server, client, transports):
    for _ in range(3):
        answer = client.infer("chain", [client.input("x", VALUES)])
        assert np.array_equal(answer.array("y"), VALUES)
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    used = [line for line in page.splitlines()
            if line.startswith("nereid_cuda_memory_pool_used_bytes{")]
    assert len(used) == 2
    assert all(line.endswith(" 0") for line in used), "everything was given back"


@pytest.mark.parametrize("ensemble", ["chain", "through_cpu", "requested"])
def test_ensembles_answer_wherever_their_tensors_are(client, cuda, ensemble):
    outputs = ["y", "t1"] if ensemble == "requested" else ["y"]
    answer = client.infer(ensemble, [client.input("x", VALUES)], outputs)
    for output in outputs:
        assert np.array_equal(answer.array(output), VALUES)
    region = Region(cuda, 128, 1)
    region.write(VALUES.tobytes())
    client.call("register_cuda_shared_memory", "r", region.raw_handle, 1, 128)
    client.infer(ensemble, [input_in(client, "x", [16], "INT32", "r", 64)],
                 [output_in(client, "y", "r", 64, 64)])
    assert region.read(64, 64) == VALUES.tobytes()
    region.free()


@pytest.mark.parametrize("model", ["states", "oldest", "same", "growing"])
def test_states_stay_on_the_gpu(server, model):
    def step(values, start=False, end=False):
        return _json(server, model, [_ints("INPUT0", values)], sequence_id=number,
                     sequence_start=start, sequence_end=end)

    for _ in range(2):
        number = next(SEQUENCES)
        answer = step([1, 2], start=True)
        assert "STATE_OUT GPU 0" in _places(answer)
        assert "STATE_IN CPU 0" in _places(answer), "the initial state"
        previous = [1, 2]
        for size in (2, 3, 1, 600_000 if model == "growing" else 5):
            values = list(range(size))
            answer = step(values, end=size > 4)
            assert "STATE_IN GPU 0" in _places(answer)
            assert "STATE_OUT GPU 0" in _places(answer)
            data = {output["name"]: output["data"] for output in answer["outputs"]}
            assert data["PREVIOUS"] == previous
            previous = values


def test_metrics_and_traces_survive(server):
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    assert "nv_pinned_memory_pool_total_bytes 1000000" in page
    assert raw_http.get(server, "/v2/health/ready").status == 200
