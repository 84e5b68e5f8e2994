# SPDX-License-Identifier: Apache-2.0
"""Tensors of Python models in GPU memory. The GPUs are those of the fake driver (tests/fake_gpu), in the
server and in the processes of the models."""

import concurrent.futures
import contextlib
import json
import os
import shutil
import sys
from pathlib import Path

import grpc_raw
import numpy as np
import pytest
from clients import TRANSPORTS
from cuda_memory import Cuda, Region
from python_server import interpreter, wait_until
from test_gpu_tensors import SEQUENCES, _write_model
from test_shared_memory import ALLOWED, input_in, output_in
from tritonclient.utils import InferenceServerException, serialize_byte_tensor

HERE = Path(__file__).resolve().parent
MIB = 1 << 20
LARGE = np.arange(50_000, dtype=np.float32)
SMALL = np.arange(8, dtype=np.float32)

CODE = """
import gc
import json
import os
import numpy as np
import triton_python_backend_utils as pb_utils
import gpu_arrays
from gpu_arrays import GpuArray, place, read, write


def on_gpu(name, values, device=0):
    return pb_utils.Tensor.from_dlpack(name, GpuArray(np.asarray(values), device))


class TritonPythonModel:
    def initialize(self, args):
        self.args = args

    def {execute}(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        inputs = {{tensor.name(): tensor for tensor in request.inputs()}}
        scope = dict(globals(), model=self, inputs=inputs, x=inputs.get("X"), y=inputs.get("Y"),
                     request=request, outputs=[])
        exec(inputs["CODE"].as_numpy().reshape(-1)[0].decode(), scope)
        if "said" in scope:
            scope["outputs"].append(pb_utils.Tensor(
                "SAID", np.array([json.dumps(scope["said"])], np.object_)))
        return pb_utils.InferenceResponse(scope["outputs"])
"""
ASYNC = CODE.replace("def {execute}", "async def execute").format()
PLAIN = CODE.format(execute="execute")

TENSORS = """
input {{ name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }}
input {{ name: "X" data_type: TYPE_{type} dims: [ -1 ] optional: true }}
input {{ name: "Y" data_type: TYPE_{type} dims: [ -1 ] optional: true }}
output {{ name: "OUT" data_type: TYPE_{type} dims: [ -1 ] }}
output {{ name: "SECOND" data_type: TYPE_{type} dims: [ -1 ] }}
output {{ name: "SAID" data_type: TYPE_STRING dims: [ -1 ] }}
"""
CHAIN = """
platform: "ensemble"
input { name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }
input { name: "X" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "FIRST" data_type: TYPE_STRING dims: [ -1 ] }
output { name: "SECOND" data_type: TYPE_STRING dims: [ -1 ] }
ensemble_scheduling {
  step { model_name: "takes" model_version: -1
         input_map { key: "CODE" value: "CODE" } input_map { key: "X" value: "X" }
         output_map { key: "OUT" value: "a" } output_map { key: "SAID" value: "FIRST" } }
  step { model_name: "called" model_version: -1
         input_map { key: "INPUT0" value: "a" } output_map { key: "OUTPUT0" value: "b" } }
  step { model_name: "takes" model_version: -1
         input_map { key: "CODE" value: "CODE" } input_map { key: "X" value: "b" }
         output_map { key: "OUT" value: "OUT" } output_map { key: "SAID" value: "SECOND" } }
}
"""
ON_GPU = 'instance_group { kind: KIND_GPU gpus: [ 0 ] count: 1 }\n'
TAKES_GPU = 'parameters { key: "FORCE_CPU_ONLY_INPUT_TENSORS" value { string_value: "no" } }\n'


def _write(root, name, config, code=PLAIN, kind="FP32", head=""):
    folder = root / name / "1"
    folder.mkdir(parents=True)
    for module in ("cuda_memory.py", "gpu_arrays.py"):
        shutil.copy(HERE / module, folder)
    (folder / "model.py").write_text(head + code)
    (root / name / "config.pbtxt").write_text(
        'backend: "python"\n' + TENSORS.format(type=kind) + config)


@pytest.fixture(scope="module")
def start(start_server, backends, is_peer, test_plugins):
    """start(name, *loads, **environment) starts a server with two fake GPUs and the models of this file,
    or those that the flags `loads` name."""
    folder = backends.parent / "fake_gpu"
    if is_peer or not (folder / "libcuda.so.1").exists():
        pytest.skip("the server under test has no fake GPUs")

    def write(root):
        _write(root, "takes", ON_GPU + TAKES_GPU)
        _write(root, "mortal", ON_GPU + TAKES_GPU)
        _write(root, "forced", ON_GPU)
        _write(root, "on_cpu", "instance_group { kind: KIND_CPU }\n" + TAKES_GPU)
        _write(root, "texts", ON_GPU + TAKES_GPU, kind="STRING")
        _write(root, "hidden", ON_GPU + TAKES_GPU,
               head='import os\nos.environ["CUDA_VISIBLE_DEVICES"] = ""\n')
        _write(root, "turned", ON_GPU + TAKES_GPU,
               head='import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "1,0"\n')
        _write(root, "asynchronous", ON_GPU + TAKES_GPU, code=ASYNC)
        _write(root, "batched", "max_batch_size: 8\n" + ON_GPU + TAKES_GPU +
               "dynamic_batching { max_queue_delay_microseconds: 20000 }\n")
        _write(root, "bounded", ON_GPU + TAKES_GPU +
               'parameters { key: "shared_memory_limit_bytes" value { string_value: "8388608" } }\n')
        _write(root, "decoupled", ON_GPU + TAKES_GPU + "model_transaction_policy { decoupled: true }\n",
               code=PLAIN.replace("return pb_utils.InferenceResponse", "response = pb_utils.InferenceResponse")
               .replace("return [self.answer(request) for request in requests]",
                        "for request in requests: self.answer(request)")
               + "        sender = request.get_response_sender()\n"
                 "        sender.send(response)\n        sender.send(response)\n        sender.send(flags=1)\n")
        _write(root, "keeps", ON_GPU + TAKES_GPU + """
sequence_batching { state { input_name: "STATE" output_name: "NEXT" data_type: TYPE_FP32 dims: [ -1 ] } }
""")
        (root / "chain" / "1").mkdir(parents=True)
        (root / "chain" / "config.pbtxt").write_text(CHAIN)
        _write_model(root, test_plugins, "called", 0, datatype="FP32", dims="[ -1 ]")
        _write_model(root, test_plugins, "called_on_1", 1, datatype="FP32", dims="[ -1 ]")

    def start(name, *loads, **environment):
        environment = {"LD_LIBRARY_PATH": str(folder), "NEREID_FAKE_GPUS": "2", **environment}
        with interpreter(Path(sys.executable).parent):
            explicit = ["--model-control-mode=explicit", *loads] if loads else []
            return start_server(name, write, ALLOWED, *explicit, environment=environment)

    return start


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """The file that makes calls of the driver fail, in the server and in the models."""
    path = tmp_path_factory.mktemp("failures") / "list"
    path.write_text("\n")
    return path


@pytest.fixture(scope="module")
def server(start, failures):
    return start("python_gpu", NEREID_FAKE_CUDA_FAIL_FILE=str(failures),
                 NEREID_FAKE_GPU_DELAY_US="100")


@pytest.fixture(scope="module")
def start_some(start):
    """start_some(environment) starts a server with some of the models, once for each environment."""
    started = {}

    def make(environment):
        key = str(sorted(environment.items()))
        if key not in started:
            only = ["on_cpu"] if "TRITON_SERVER_CPU_ONLY" in environment else ["on_cpu", "takes"]
            started[key] = start("python_gpu_" + "_".join(environment).lower(),
                                 *(f"--load-model={name}" for name in only), **environment)
        return started[key]

    return make


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


@pytest.fixture
def region(cuda):
    """region(values or size, device) allocates GPU memory of the client."""
    made = []

    def make(content, device=0):
        size = content if isinstance(content, int) else content.nbytes
        made.append(Region(cuda, size, device))
        if not isinstance(content, int):
            made[-1].write(content)
        return made[-1]

    yield make
    for one in made:
        one.free()


def run(client, model, code, *inputs, outputs=None, **more):
    tensors = [client.input("CODE", np.array([code], np.object_)), *inputs]
    return client.infer(model, tensors, outputs, **more)


def register(client, name, region):
    client.call("register_cuda_shared_memory", name, region.raw_handle, region.device, region.size)


def said(answer):
    return json.loads(answer.array("SAID")[0])


def on_gpu(client, region, name, values, device=0):
    """Returns an input in CUDA shared memory."""
    register(client, name, region(values, device))
    return input_in(client, name, values.shape, "FP32", name, values.nbytes)


# Outputs


@pytest.mark.parametrize("model", ["takes", "forced", "on_cpu", "asynchronous"])
@pytest.mark.parametrize("values", [SMALL, LARGE, np.empty(0, np.float32)],
                         ids=["small", "large", "empty"])
def test_an_output_in_gpu_memory_reaches_a_client(client, model, values):
    answer = run(client, model, f"outputs.append(on_gpu('OUT', np.arange({len(values)}, dtype='f4')))")
    assert np.array_equal(answer.array("OUT"), values)


def test_an_output_goes_to_the_clients_gpu_memory(client, region):
    for device in (0, 1):
        out = region(LARGE.nbytes, device)
        register(client, f"out{device}", out)
        run(client, "takes", f"outputs.append(on_gpu('OUT', np.arange({len(LARGE)}, dtype='f4') + 1, {device}))",
            outputs=[output_in(client, "OUT", f"out{device}", LARGE.nbytes)])
        assert np.array_equal(np.frombuffer(out.read(LARGE.nbytes), np.float32), LARGE + 1)


def test_several_outputs_in_different_memory(client):
    answer = run(client, "takes", f"""
n = {len(LARGE)}
outputs = [on_gpu("OUT", np.arange(n, dtype="f4"), 1), on_gpu("SECOND", np.arange(n, dtype="f4") * 2)]
said = [place(one) for one in outputs]
""")
    assert said(answer) == [1, 0]
    assert np.array_equal(answer.array("OUT"), LARGE)
    assert np.array_equal(answer.array("SECOND"), LARGE * 2)


def test_what_a_tensor_in_gpu_memory_says(client):
    answer = run(client, "takes", """
array = GpuArray(np.arange(6, dtype=np.float32).reshape(2, 3))
tensor = pb_utils.Tensor.from_dlpack("OUT", array)
said = [tensor.is_cpu(), tensor.shape(), tensor.triton_dtype(), tensor.__dlpack_device__(),
        read(tensor).tolist(), array.streams, isinstance(tensor, pb_utils.Tensor)]
for use in (tensor.as_numpy, lambda: tensor.__dlpack__(dl_device=(1, 0)), lambda: tensor.__dlpack__(copy=True)):
    try:
        use()
    except (pb_utils.TritonModelException, BufferError) as error:
        said.append(str(error))
""")
    assert said(answer) == [
        False, [2, 3], 11, [2, 0], [[0, 1, 2], [3, 4, 5]], [1], True,
        "Tensor is stored in GPU and cannot be converted to NumPy.",
        "The tensor is in GPU memory, not on the device (1, 0).",
        "A tensor in GPU memory is not copied by its export."]


def test_the_memory_of_outputs_is_freed(transports):
    """The library's memory when the model has answered, and that of the transport for the next answer."""
    code = f"""
outputs.append(on_gpu("OUT", np.zeros({8 * MIB}, np.float32)))
gc.collect()  # the scopes of other tests
said = gpu_arrays.alive
"""
    for _ in range(40):  # 1.25 GiB in all, of 1 GiB
        answer = run(transports["grpc"], "takes", code)
    assert said(answer) == 1


def test_a_decoupled_model_sends_them(server):
    code = (f"outputs = [on_gpu('OUT', np.arange({len(LARGE)}, dtype='f4')), on_gpu('SECOND', "
            "np.full(2, 1.5, 'f4'))]")
    request = grpc_raw.infer_request("decoupled", [
        grpc_raw.tensor("CODE", "BYTES", [1], bytes_contents=[code.encode()])])
    responses = list(grpc_raw.stream(server, [request]))
    assert len(responses) == 2
    for response in responses:
        assert not response.error_message
        large, small = response.infer_response.raw_output_contents
        assert np.array_equal(np.frombuffer(large, np.float32), LARGE)
        assert np.frombuffer(small, np.float32).tolist() == [1.5, 1.5]


def test_a_state_is_kept_on_the_gpu(client, cuda):
    code = """
state = inputs["STATE"]
before = read(state) if not state.is_cpu() else state.as_numpy()
said = [place(state), float(before.sum())]
outputs.append(on_gpu("NEXT", np.concatenate([before.reshape(-1)[-30000:], np.ones(10000, "f4")])))
"""
    number = next(SEQUENCES)
    answers = [said(run(client, "keeps", code, sequence_id=number, sequence_start=step == 0,
                        sequence_end=step == 3)) for step in range(4)]
    assert [total for _, total in answers] == [0, 10000, 20000, 30000]
    assert [where for where, _ in answers[1:]] == [0, 0, 0]


# Inputs


def test_an_input_in_gpu_memory_is_seen_there(client, region):
    x, y = on_gpu(client, region, "X", LARGE), on_gpu(client, region, "Y", SMALL, 1)
    answer = run(client, "takes", """
said = [place(x), place(y), read(y).tolist(), pb_utils.get_input_tensor_by_name(request, "X") is x]
outputs.append(pb_utils.Tensor("OUT", read(x) * 3))
""", x, y)
    assert said(answer) == [0, 1, SMALL.tolist(), True]
    assert np.array_equal(answer.array("OUT"), LARGE * 3)


@pytest.mark.parametrize("model", ["forced", "on_cpu"])
def test_an_input_is_copied_to_host_memory_for_a_model_that_wants_it_there(client, region, model):
    x, y = on_gpu(client, region, "X", LARGE), on_gpu(client, region, "Y", SMALL, 1)
    answer = run(client, model, """
said = [place(x), place(y), y.as_numpy().tolist()]
outputs.append(pb_utils.Tensor("OUT", x.as_numpy() * 3))
""", x, y)
    assert said(answer) == [-1, -1, SMALL.tolist()]
    assert np.array_equal(answer.array("OUT"), LARGE * 3)


def test_an_input_in_a_message_stays_in_host_memory(client):
    answer = run(client, "takes", "said = [place(x), float(x.as_numpy().sum())]",
                 client.input("X", LARGE))
    assert said(answer) == [-1, float(LARGE.sum())]


def test_an_input_is_returned_and_changed_in_place(client, region):
    x = on_gpu(client, region, "X", LARGE)
    answer = run(client, "takes", """
outputs.append(pb_utils.Tensor.from_dlpack("OUT", x))
outputs.append(pb_utils.Tensor.from_dlpack("SECOND", x.to_dlpack()))
write(x, read(x) + 1)
""", x)
    assert np.array_equal(answer.array("OUT"), LARGE + 1)
    assert np.array_equal(answer.array("SECOND"), LARGE + 1)
    again = run(client, "takes", "outputs.append(pb_utils.Tensor('OUT', read(x)))", x)
    assert np.array_equal(again.array("OUT"), LARGE), "the client's memory is not the model's"


def test_an_input_that_a_model_keeps_does_not_change(client, region):
    x = on_gpu(client, region, "X", LARGE)
    run(client, "takes", "model.kept = x", x)
    y = on_gpu(client, region, "Y", LARGE * 5)
    for _ in range(5):
        run(client, "takes", "read(y)", y)
    answer = run(client, "takes", "outputs.append(pb_utils.Tensor('OUT', read(model.kept))); del model.kept")
    assert np.array_equal(answer.array("OUT"), LARGE)


def test_a_capsule_keeps_its_input(client, region):
    x = on_gpu(client, region, "X", LARGE)
    run(client, "takes", "model.capsule = x.to_dlpack()", x)
    y = on_gpu(client, region, "Y", LARGE * 5)
    for _ in range(5):
        run(client, "takes", "read(y)", y)
    answer = run(client, "takes", """
outputs.append(pb_utils.Tensor("OUT", read(pb_utils.Tensor.from_dlpack("OUT", model.capsule))))
del model.capsule
""")
    assert np.array_equal(answer.array("OUT"), LARGE)


def test_texts_come_in_host_memory(client, cuda, region):
    content = np.frombuffer(serialize_byte_tensor(np.array(["a", "bcd"], np.object_)).item(), np.uint8)
    register(client, "X", region(content))
    x = input_in(client, "X", (2,), "BYTES", "X", content.nbytes)
    answer = run(client, "texts", "said = [place(x), [one.decode() for one in x.as_numpy()]]", x)
    assert said(answer) == [-1, ["a", "bcd"]]


def test_a_batch_has_inputs_of_all_kinds(server, transports, region):
    client = transports["grpc"]
    for i in range(6):
        register(client, f"X{i}", region(LARGE + i, i % 2))
    code = """
outputs.append(pb_utils.Tensor("OUT", read(x) if not x.is_cpu() else x.as_numpy()))
said = place(x)
"""

    def ask(i):
        x = (input_in(client, "X", (1, len(LARGE)), "FP32", f"X{i}", LARGE.nbytes) if i < 6
             else client.input("X", (LARGE + i).reshape(1, -1)))
        return client.infer("batched", [client.input("CODE", np.array([[code]], np.object_)), x])

    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        answers = list(pool.map(ask, range(8)))
    for i, answer in enumerate(answers):
        assert np.array_equal(answer.array("OUT")[0], LARGE + i)
        assert said(answer) == (i % 2 if i < 6 else -1)
    client.call("unregister_cuda_shared_memory")


# Processes that see other GPUs than the server


def test_a_model_that_hides_the_gpus_gets_a_clear_error(client, region):
    x = on_gpu(client, region, "X", LARGE)
    code = "said = place(x)"
    for _ in range(2):
        client.expect("INTERNAL", "CUDA: ", run, client, "hidden", code, x)
    assert said(run(client, "hidden", "said = x.is_cpu()", x)) is False
    answer = run(client, "hidden", "said = float(x.as_numpy().sum())", client.input("X", LARGE))
    assert said(answer) == float(LARGE.sum())


def test_gpus_are_known_by_their_uuid(client, region):
    x, y = on_gpu(client, region, "X", LARGE), on_gpu(client, region, "Y", LARGE * 2, 1)
    answer = run(client, "turned", """
said = [place(x), place(y)]
outputs.append(pb_utils.Tensor.from_dlpack("OUT", y))
outputs.append(on_gpu("SECOND", read(x), 1))
""", x, y)
    assert said(answer) == [1, 0]
    assert np.array_equal(answer.array("OUT"), LARGE * 2)
    assert np.array_equal(answer.array("SECOND"), LARGE)


# Calls of other models


@pytest.mark.parametrize("preferred,expected", [
    (None, 0), ("pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_GPU, 0)", 0),
    ("pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_GPU, 1)", 1),
    ("pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_GPU, 7)", -1),
    ("pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU)", -1)])
@pytest.mark.parametrize("values", ["SMALL", "LARGE"])
def test_a_call_passes_tensors_on_gpus(client, preferred, expected, values):
    size = len(SMALL if values == "SMALL" else LARGE)
    answer = run(client, "takes", f"""
values = np.arange({size}, dtype="f4")
response = pb_utils.InferenceRequest(
    model_name="called", requested_output_names=["OUTPUT0"], preferred_memory={preferred},
    inputs=[on_gpu("INPUT0", values)]).exec()
assert not response.has_error(), response.error().message()
output = response.output_tensors()[0]
values = read(output) if not output.is_cpu() else output.as_numpy()
said = [place(output), json.loads(response.parameters())["places"]]
outputs.append(pb_utils.Tensor("OUT", values))
""")
    found, places = said(answer)
    assert found == expected
    # A small tensor travels in the message.
    where = "CPU 0" if values == "SMALL" else "GPU 0"
    assert places.startswith(f"INPUT0 {where}, OUTPUT0 {'CPU 0' if expected < 0 else f'GPU {expected}'}")
    assert np.array_equal(answer.array("OUT"), np.arange(size, dtype=np.float32))


def test_an_output_of_a_call_is_the_input_of_the_next(client):
    answer = run(client, "takes", f"""
tensor = on_gpu("INPUT0", np.arange({len(LARGE)}, dtype="f4"))
places = []
for name in ("called", "called_on_1", "called"):
    response = pb_utils.InferenceRequest(
        model_name=name, requested_output_names=["OUTPUT0"],
        inputs=[pb_utils.Tensor.from_dlpack("INPUT0", tensor)]).exec()
    assert not response.has_error(), response.error().message()
    tensor = response.output_tensors()[0]
    places.append(place(tensor))
said = places
outputs.append(pb_utils.Tensor.from_dlpack("OUT", tensor))
""")
    assert said(answer) == [0, 1, 0]
    assert np.array_equal(answer.array("OUT"), LARGE)


def test_many_calls_use_the_same_memory(transports):
    answer = run(transports["http"], "takes", f"""
for i in range(60):
    response = pb_utils.InferenceRequest(
        model_name="called", requested_output_names=["OUTPUT0"],
        inputs=[on_gpu("INPUT0", np.full({8 * MIB}, i, "f4"))]).exec()
    assert not response.has_error(), response.error().message()
    assert read(response.output_tensors()[0])[-1] == i
gc.collect()
said = gpu_arrays.alive
""")
    assert said(answer) <= 1


def test_the_tensors_of_an_ensemble_stay_on_the_gpu(client):
    code = """
values = read(x) if not x.is_cpu() else x.as_numpy()
said = place(x)
outputs.append(on_gpu("OUT", values + 1))
"""
    answer = client.infer("chain", [client.input("CODE", np.array([code], np.object_)),
                                    client.input("X", LARGE)])
    assert [json.loads(answer.array(name)[0]) for name in ("FIRST", "SECOND")] == [-1, 0]
    assert np.array_equal(answer.array("OUT"), LARGE + 2)


# GPUs that cannot share memory, and no GPUs


@pytest.mark.parametrize("environment", [{"NEREID_FAKE_GPU_FILE_HANDLES": "0"},
                                         {"TRITON_SERVER_CPU_ONLY": "1"}], ids=["no_files", "cpu_only"])
def test_outputs_go_through_host_memory(start_some, connect, environment):
    """A model may use a GPU that the server does not use."""
    server = start_some(environment)
    code = """
array = GpuArray(np.arange(50000, dtype="f4"))
outputs = [pb_utils.Tensor.from_dlpack("OUT", array), on_gpu("SECOND", np.ones(2, "f4"))]
said = [place(one) for one in outputs]
"""
    answer = run(connect("grpc", server), "on_cpu", code)
    assert said(answer) == [0, 0]
    assert np.array_equal(answer.array("OUT"), LARGE)
    assert answer.array("SECOND").tolist() == [1, 1]


def test_inputs_come_in_host_memory_if_it_cannot_be_shared(start_some, connect, cuda):
    client = connect("grpc", start_some({"NEREID_FAKE_GPU_FILE_HANDLES": "0"}))
    made = Region(cuda, LARGE.nbytes)
    made.write(LARGE)
    register(client, "X", made)
    x = input_in(client, "X", LARGE.shape, "FP32", "X", LARGE.nbytes)
    answer = run(client, "takes", "said = place(x); outputs.append(pb_utils.Tensor('OUT', x.as_numpy()))", x)
    assert said(answer) == -1
    assert np.array_equal(answer.array("OUT"), LARGE)
    client.call("unregister_cuda_shared_memory")
    made.free()


# Failures


def test_without_room_on_the_gpu_tensors_go_through_host_memory(client, region, failures):
    x = on_gpu(client, region, "X", LARGE * 7)
    run(client, "takes", "read(x)", x)
    # Larger than the segments that are kept.
    big = np.arange(20 * MIB, dtype=np.float32)
    big_x = on_gpu(client, region, "Y", big)
    try:
        failures.write_text("cuMemCreate=2\n")
        answer = run(client, "takes", """
said = place(y)
outputs.append(on_gpu("OUT", y.as_numpy() + 1))
""", big_x)
    finally:
        failures.write_text("\n")
    assert said(answer) == -1
    assert np.array_equal(answer.array("OUT"), big + 1)


def test_a_failed_copy_is_an_error_of_its_request(client, region, failures):
    x = on_gpu(client, region, "X", LARGE)
    try:
        failures.write_text("cuMemcpyAsync=1\n")
        client.error(run, client, "takes", "read(x)", x)
        client.error(run, client, "takes",
                      f"outputs.append(on_gpu('OUT', np.zeros({len(LARGE)}, 'f4')))")
    finally:
        failures.write_text("\n")
    answer = run(client, "takes", "outputs.append(pb_utils.Tensor.from_dlpack('OUT', x))", x)
    assert np.array_equal(answer.array("OUT"), LARGE)


def test_a_process_with_a_broken_gpu_is_replaced(client, region):
    """A failed kernel ends every use of the GPU in its process."""
    x = on_gpu(client, region, "X", LARGE)
    code = """
read(x)
import ctypes
ctypes.CDLL("libcuda.so.1").fake_gpu_fail(b"cuMemGetInfo_v2=710")
raise RuntimeError("CUDA error: device-side assert triggered")
"""
    client.expect("INTERNAL", "device-side assert triggered", run, client, "mortal", code, x)

    def again():
        # The process that ends can still be there, and so can get the request.
        with contextlib.suppress(InferenceServerException):
            return run(client, "mortal", "outputs.append(pb_utils.Tensor.from_dlpack('OUT', x))", x)

    assert np.array_equal(wait_until(again, "the next process").array("OUT"), LARGE)


def test_the_limit_of_shared_memory_counts_gpu_memory(client, region):
    code = f"outputs.append(on_gpu('OUT', np.zeros({4 * MIB}, 'f4')))"
    client.expect("INTERNAL", "shared_memory_limit_bytes", run, client, "bounded", code)
    answer = run(client, "bounded", "outputs.append(on_gpu('OUT', np.zeros(1000, 'f4')))")
    assert not answer.array("OUT").any()


def test_the_death_of_a_process_frees_its_memory(client, region):
    x = on_gpu(client, region, "X", LARGE)
    for _ in range(2):
        client.expect("INTERNAL", "is not healthy", run, client, "mortal", "read(x); os._exit(7)", x)
        wait_until(lambda: client.call("is_model_ready", "mortal"), "the next process")
        answer = run(client, "mortal", "outputs.append(pb_utils.Tensor.from_dlpack('OUT', x))", x)
        assert np.array_equal(answer.array("OUT"), LARGE)
