# SPDX-License-Identifier: Apache-2.0
"""TorchScript models: names, containers, types, batches, states and failures."""

import importlib
import itertools
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import broken_torchscript
import numpy as np
import pytest
import pytorch_models
from clients import TRANSPORTS
from explicit_models import EXPLICIT, configuration, statistics
from pytorch_models import CASES, MODELS, TYPES, array, ask, parameter, play, put, put_file, same
from tritonclient.utils import InferenceServerException

IDS = itertools.count(1_000_000, 100)
# One configuration of one model for each type: `echo` returns the type of its input.
ECHOES = {name: f"echo_{name.lower()}" for name in TYPES}
UNSUPPORTED = ("UINT16", "UINT32", "UINT64")
# Models that only some cases load.
REFUSED = ("mixed", "no_forward", "number", "tensor_list", "wants_text")


def typed(data_type):
    return [("TYPE_FP32", f"TYPE_{data_type}")]


def write_all(root):
    for name in MODELS:
        if name not in REFUSED:
            put(root, name)
    for data_type, name in ECHOES.items():
        put(root, name, source="echo", replace=typed(data_type))


@pytest.fixture(scope="module")
def serving(start_server, require_backends):
    require_backends("pytorch")
    return start_server("pytorch", write_all)


@pytest.fixture(scope="module")
def repository(start_server, require_backends):
    """A server that loads the models that a test writes into its repository, and that must survive
    the test."""
    require_backends("pytorch")
    return start_server("pytorch_loads", lambda root: root.mkdir(), *EXPLICIT)


@pytest.fixture(params=TRANSPORTS)
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture
def http(serving, connect):
    return connect("http", serving)


@pytest.fixture
def many(serving, connect):
    """A client for requests of several threads, which the HTTP client does not permit."""
    return connect("grpc", serving)


@pytest.fixture
def loader(repository, connect):
    yield connect("grpc", repository)
    assert repository.alive(), repository.log_tail()


def test_modules_that_keep_state_are_warned_of(serving):
    warned = {line.split("model '")[1].split("'")[0] for line in serving.log.read_text().splitlines()
              if "forward changes the module's attributes" in line}
    assert "keeps" in warned
    # `accumulator` has sequences; the others leave nothing for the next request.
    assert not warned & {"accumulator", "same", "convolution", "dense", "recurrent", "casts"}


def test_settings_are_logged_in_tritons_words(loader, repository):
    put(repository.repository, "logged", source="dense", add=parameter(
        "DISABLE_OPTIMIZED_EXECUTION", "true") + parameter("INFERENCE_MODE", "false"))
    loader.call("load_model", "logged")
    log = repository.log.read_text()
    for line in ("Optimized execution is disabled", "Inference Mode is disabled"):
        assert log.count(f"{line} for model instance 'logged'") == 1


@pytest.mark.parametrize("model", [m for m in CASES if m not in ("echo", "accumulator", "keeps")])
def test_answers_are_those_of_pytorch(client, model):
    for _ in range(3):  # PyTorch profiles the first execution and optimizes the second
        play(client, model, CASES[model], next(IDS))


def test_what_a_module_keeps_outlives_the_request(http):
    """An attribute keeps the input of the previous request: the module must own that memory."""
    play(http, "keeps", CASES["keeps"], 0)
    before = np.array([3.0], "f4")
    for i in range(50):
        numbers = np.full(1000 + i, i, "f4")
        answer = http.infer("keeps", [http.input("x", numbers)])
        np.testing.assert_array_equal(answer.array("OUTPUT__0"), before)
        before = numbers


def test_controls_and_state(client):
    play(client, "accumulator", CASES["accumulator"], 0)


@pytest.mark.parametrize("data_type", TYPES)
def test_type_goes_in_and_out(client, data_type):
    cases = [c for c in CASES["echo"] if c["inputs"]["x"]["datatype"] == data_type]
    assert len(cases) == 2  # with elements, and without
    play(client, ECHOES[data_type], cases, 0)


def refused(loader, name, *texts):
    """Loads a model that must not load. The message names the model and contains all of `texts`."""
    _, message = loader.error(loader.call, "load_model", name)
    for text in (f"'{name}'", *texts):
        assert text in message, message
    return message


@pytest.mark.parametrize("data_type", UNSUPPORTED)
@pytest.mark.parametrize("side", ["input", "output"])
def test_type_without_a_tensor_is_refused(loader, repository, side, data_type):
    name = f"type_{side}_{data_type.lower()}"
    put(repository.repository, name, source="echo",
        replace=[(rf'({side} .*)TYPE_FP32', rf"\1TYPE_{data_type}")])
    refused(loader, name, f"unsupported datatype TYPE_{data_type} for {side} '", f"' for model '{name}'")


def test_types_of_a_wrong_request_and_a_wrong_result(http):
    message = http.expect("INVALID_ARG", "'x'", http.infer, ECHOES["FP32"],
                          [http.input("x", np.zeros(3, "i4"))])
    assert "INT32" in message and "FP32" in message
    numbers = {"kind": {"datatype": "INT64", "shape": [1], "data": [8]}}
    message = http.expect("INTERNAL", "output 'OUTPUT__0' of model 'odd'", ask, http, "odd",
                          numbers)
    assert "FP64" in message and "FP32" in message


# Results of forward other than an FP32 tensor: the number that selects each one, and the error.
ODD = {"complex": (1, "ComplexFloat"), "sparse": (2, "sparse"), "quantized": (3, "QUInt8"),
       "meta": (4, "device meta"), "none": (5, "which returned 0"), "uint16": (6, "UInt16"),
       "too_large": (10, ""), "float8": (11, "Float8")}


@pytest.mark.parametrize("kind", ODD)
def test_result_that_no_response_carries(client, kind):
    which, text = ODD[kind]
    inputs = {"kind": {"datatype": "INT64", "shape": [1], "data": [which]}}
    _, message = client.error(ask, client, "odd", inputs)
    assert "odd" in message and text in message, message
    play(client, "by_place", CASES["by_place"], 0)


@pytest.mark.parametrize("which,numbers", [(7, np.arange(6) * -1.0), (9, np.zeros(6)),
                                           (12, np.array([3.0])), (0, np.arange(6.0))])
def test_results_that_only_look_odd(client, which, numbers):
    """A negative view, a tensor of zeros without memory, a scalar."""
    answer = ask(client, "odd", {"kind": {"datatype": "INT64", "shape": [1], "data": [which]}})
    np.testing.assert_array_equal(np.abs(answer.array("OUTPUT__0")), np.abs(numbers))


def test_negative_view_has_the_sign_of_pytorch(http):
    answer = ask(http, "odd", {"kind": {"datatype": "INT64", "shape": [1], "data": [7]}})
    np.testing.assert_array_equal(answer.array("OUTPUT__0"), -np.arange(6.0))


def test_exception_of_forward_is_the_requests_own(client):
    message = client.error(ask, client, "raises", {
        "x": {"datatype": "FP32", "shape": [1, 2], "data": [-1.0, 1.0]}})[1]
    assert "raises" in message and "there is a number below zero" in message
    play(client, "raises", CASES["raises"], 0)


def test_one_bad_request_of_a_batch(many):
    """Requests are executed together, and only the bad one gets the error."""
    def one(i):
        x = {"x": {"datatype": "FP32", "shape": [1, 2], "data": [-1.0 if i == 3 else i, 4.0]}}
        try:
            return ask(many, "raises", x).array("OUTPUT__0").tolist()
        except InferenceServerException as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(8)))
    for i, answer in enumerate(answers):
        if i == 3:
            assert "there is a number below zero" in answer
        else:
            np.testing.assert_allclose(answer, [[i ** 0.5, 2.0]], rtol=1e-6)
    sizes = [int(size) for counts in statistics(many, "raises").values() for size in counts[2]]
    assert max(sizes) > 1, "the requests were not batched"


def test_result_without_the_batch(client):
    message = client.error(ask, client, "whole_batch", {
        "x": {"datatype": "FP32", "shape": [3, 2], "data": [1.0] * 6}})[1]
    assert "OUTPUT__0" in message and "whole_batch" in message and "batch size 3" in message


def test_dynamic_batches_are_cut_apart(many):
    first = array(CASES["by_place"][0]["inputs"]["INPUT__0"])
    barrier = threading.Barrier(8)

    def one(i):
        barrier.wait()
        rows = np.repeat(first + i, 1 + i % 2, axis=0)
        answer = many.infer("by_place", [many.input("INPUT__0", rows),
                                         many.input("INPUT__1", rows * 2)])
        np.testing.assert_allclose(answer.array("OUTPUT__0"), rows * 3)
        np.testing.assert_allclose(answer.array("OUTPUT__1"), -rows)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            list(pool.map(one, range(8)))


def test_requested_outputs_alone_are_given(client):
    case = CASES["by_place"][1]
    answer = client.infer("by_place", [client.input(n, array(t)) for n, t in case["inputs"].items()],
                          outputs=["OUTPUT__1"])
    assert answer.names == ["OUTPUT__1"]
    same(answer, "OUTPUT__1", case["outputs"]["OUTPUT__1"])


# ---- configurations against forward

REFUSALS = {
    "out_of_range": ("by_place", [("INPUT__1", "INPUT__2")],
                     ["input 'INPUT__2' would be argument 2", "which has 2"]),
    "taken_twice": ("by_place", [("INPUT__1", "other__0")],
                    ["'INPUT__0' and 'other__0' are both the argument 'first'"]),
    "too_many_outputs": ("by_place", [("OUTPUT__1", "OUTPUT__5")],
                         ["output 'OUTPUT__5' would be result 5", "returns 2"]),
    "argument_missing": ("by_place", [(r"input \{ name: \"INPUT__1\".*\n", "")],
                         ["unable to load model 'argument_missing', configuration expects 1 inputs, "
                          "model provides 2"]),
    "text_for_a_tensor": ("by_argument", [(r'("first" data_type: TYPE_)FP32', r"\1STRING")],
                          ["input 'first' is TYPE_STRING", "the argument 'first' is Tensor"]),
    "tensor_for_a_text": ("texts", [(r'("texts" data_type: TYPE_)STRING', r"\1INT32")],
                          ["input 'texts' is TYPE_INT32", "List[str]"]),
    "text_from_a_tensor": ("texts", [("length__1", "length__0"), ("OUTPUT__0", "OUTPUT__1")],
                           ["TYPE_STRING", "Tensor"]),
    "texts_of_two_dimensions": ("texts", [(r"STRING dims: \[-1\]", "STRING dims: [ 2, -1 ]")],
                                ["one dimension", "[2,-1]"]),
    "unknown_device": ("by_place", [("dynamic_batching", "instance_group { kind: KIND_GPU } "
                                     "dynamic_batching")], ["KIND_GPU"]),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_configuration_that_forward_does_not_fit(loader, repository, case):
    source, replace, texts = REFUSALS[case]
    put(repository.repository, case, source=source, replace=replace)
    refused(loader, case, *texts)


@pytest.mark.parametrize("name,texts", [
    ("mixed", ["output 'OUTPUT__1'", "int"]), ("number", ["output 'OUTPUT__0'", "int"]),
    ("wants_text", ["argument 'mode' is str"]),
    ("tensor_list", ["argument 'tensors' is List[Tensor]"]),
    ("no_forward", ["no method forward"])])
def test_forward_that_cannot_be_served(loader, repository, name, texts):
    put(repository.repository, name)
    refused(loader, name, *texts)


def test_nothing_completes_a_configuration_but_the_message_helps(loader, repository):
    put(repository.repository, "no_config", source="defaults",
        config='platform: "pytorch_libtorch"\n')
    refused(loader, "no_config", "model configuration is not provided for model 'no_config'",
            "configuration expects 0 inputs, model provides 3", "has no input", "neither data types nor dims",
            "forward(x: Tensor, weight: Tensor, bias: Optional[Tensor] = ...) -> Tensor")


def test_file_alone_is_known_by_its_name(loader, repository):
    """backend and platform are derived from model.pt."""
    name = "derived"
    text = (pytorch_models.DATA / "by_place" / "config.pbtxt").read_text()
    put(repository.repository, name, source="by_place",
        config=text.replace('platform: "pytorch_libtorch"\n', ""))
    loader.call("load_model", name)
    play(loader, name, CASES["by_place"], 0)
    config = configuration(loader, name)
    assert (config["backend"], config["platform"], config["default_model_filename"]) == (
        "pytorch", "pytorch_libtorch", "model.pt")
    loader.call("unload_model", name)


def test_other_file_name(loader, repository):
    folder = put(repository.repository, "other_file", source="by_place",
                 add='default_model_filename: "net.pt"\n')
    refused(loader, "other_file", "there is no file", "net.pt")
    (folder / "1" / "model.pt").rename(folder / "1" / "net.pt")
    loader.call("load_model", "other_file")
    play(loader, "other_file", CASES["by_place"], 0)
    put(repository.repository, "outside", source="by_place",
        add='default_model_filename: "../1/model.pt"\n')
    refused(loader, "outside", "'../1/model.pt'", "leads out of the version's folder")


@pytest.mark.parametrize("data_type, smallest", [("INT32", -2**31), ("INT64", -2**63)])
def test_the_smallest_number_by_minus_one(loader, repository, data_type, smallest):
    """On x86 this division is a trap of the processor, which PyTorch does not prevent."""
    name = f"divides_{data_type.lower()}"
    folder = put(repository.repository, name, config=f'''
        platform: "pytorch_libtorch"
        input {{ name: "x" data_type: TYPE_{data_type} dims: [ -1 ] }}
        input {{ name: "by" data_type: TYPE_{data_type} dims: [ -1 ] }}
        output {{ name: "OUTPUT__0" data_type: TYPE_{data_type} dims: [ -1 ] }}''', source="product")
    file = folder / "1" / "model.pt"
    file.write_bytes(broken_torchscript.with_record(
        file.read_bytes(), "modules.py",
        lambda code: code.replace(b"x: Tensor", b"x: Tensor, by: Tensor").replace(
            b"torch.mm(x, x)", b'torch.div(x, by, rounding_mode="trunc")')))
    loader.call("load_model", name)
    kind = data_type.lower()
    inputs = [loader.input("x", np.array([smallest, 7, -7], kind)),
              loader.input("by", np.array([-1, -1, 2], kind))]
    assert loader.infer(name, inputs).array("OUTPUT__0").tolist() == [smallest, -7, -3]
    loader.call("unload_model", name)


# ---- parameters

PARAMETERS = [("DISABLE_OPTIMIZED_EXECUTION", "true"), ("INFERENCE_MODE", "false"),
              ("INFERENCE_MODE", "true"), ("ENABLE_NVFUSER", "true"), ("ENABLE_JIT_EXECUTOR", "false"),
              ("ENABLE_JIT_PROFILING", "false"), ("ENABLE_TENSOR_FUSER", "false"),
              ("ENABLE_JIT_EXECUTOR", "true"), ("ENABLE_JIT_PROFILING", "true"),
              ("ENABLE_TENSOR_FUSER", "true"),
              ("ENABLE_WEIGHT_SHARING", "true"), ("ENABLE_CACHE_CLEANING", "true"),
              ("INTRA_OP_THREAD_COUNT", "2"), ("INTER_OP_THREAD_COUNT", "2")]


@pytest.mark.parametrize("name,value", PARAMETERS)
def test_parameter(loader, repository, name, value):
    model = f"{name.lower()}_{value}"
    put(repository.repository, model, source="convolution",
        add=parameter(name, value) + "instance_group { kind: KIND_CPU count: 2 }\n")
    loader.call("load_model", model)
    for _ in range(3):
        play(loader, model, CASES["convolution"], 0)
    put(repository.repository, model + "_wrong", source="convolution", add=parameter(name, "some"))
    refused(loader, model + "_wrong", name, "'some'")


def test_instances_have_modules_of_their_own_unless_shared(loader, repository):
    """`keeps` returns the previous input of its instance."""
    for name, more in (("keeps_apart", ""), ("keeps_shared",
                                             parameter("ENABLE_WEIGHT_SHARING", "true"))):
        put(repository.repository, name, source="keeps",
            add=more + "instance_group { kind: KIND_CPU count: 3 }\n")
        loader.call("load_model", name)
    for i in range(1, 6):
        x = np.full(2, i, "f4")
        answer = loader.infer("keeps_shared", [loader.input("x", x)]).array("OUTPUT__0")
        np.testing.assert_array_equal(answer, [0] if i == 1 else [i - 1, i - 1])
    barrier = threading.Barrier(3)

    def one(_):
        barrier.wait()
        return loader.infer("keeps_apart", [loader.input("x", np.ones(1, "f4"))]).array("OUTPUT__0")

    with ThreadPoolExecutor(3) as pool:
        assert all(a.tolist() in ([0.0], [1.0]) for a in pool.map(one, range(3)))


def test_warmup(loader, repository):
    put(repository.repository, "warm", source="convolution", add="""model_warmup { name: "w"
 batch_size: 2 count: 3 inputs { key: "image__0" value { data_type: TYPE_FP32 dims: [ 3, 8, 8 ]
 random_data: true } } }
""")
    loader.call("load_model", "warm")
    play(loader, "warm", CASES["convolution"], 0)
    put(repository.repository, "warm_raises", source="raises", add="""model_warmup { name: "w"
 batch_size: 1 inputs { key: "x" value { data_type: TYPE_FP32 dims: [ 2 ]
 input_data_file: "negative" } } }
""")
    folder = repository.repository / "warm_raises" / "warmup"
    folder.mkdir()
    (folder / "negative").write_bytes(np.array([-1, -1], "f4").tobytes())
    refused(loader, "warm_raises", "there is a number below zero")


def test_reshape_of_inputs(loader, repository):
    """The client's [n, 2, 2] is forward's [n, 4], and back."""
    put(repository.repository, "reshaped", source="by_place",
        replace=[(r"dims: \[4\] ", "dims: [ 2, 2 ] reshape { shape: [ 4 ] } ")])
    loader.call("load_model", "reshaped")
    x = np.arange(12, dtype="f4").reshape(3, 2, 2)
    answer = loader.infer("reshaped", [loader.input("INPUT__0", x), loader.input("INPUT__1", x)])
    np.testing.assert_array_equal(answer.array("OUTPUT__0"), x + x)
    assert answer.array("OUTPUT__1").shape == (3, 2, 2)


def test_texts_with_an_empty_reshape(loader, repository):
    """The client's [n, 1] is forward's list of n texts, and back."""
    put(repository.repository, "flat_texts", source="texts_batch",
        replace=[(r"(TYPE_STRING dims: \[1\] ?)", r"\1 reshape { shape: [ ] } ")])
    loader.call("load_model", "flat_texts")
    play(loader, "flat_texts", CASES["texts_batch"], 0)


def test_optional_input_of_a_batch(loader, repository):
    put(repository.repository, "optional_batch", source="defaults",
        replace=[("max_batch_size: 0", "max_batch_size: 4")])
    loader.call("load_model", "optional_batch")
    x = np.ones((2, 4), "f4")
    both = [loader.input("x", x), loader.input("weight", x * 3)]
    np.testing.assert_array_equal(
        loader.infer("optional_batch", both).array("OUTPUT__0"), x * 3)
    np.testing.assert_array_equal(
        loader.infer("optional_batch", both + [loader.input("bias", x)]).array("OUTPUT__0"), x * 4)
    loader.expect("INVALID_ARG", "weight", loader.infer, "optional_batch", both[:1])


def test_texts_that_are_no_text(client):
    """Bytes of any kind pass through a List[str] unchanged."""
    words = np.array([b"\xff\xfe\x00\x01", b"", b"\x00" * 70000], np.object_)
    answer = client.infer("only_texts", [client.input("t", words)])
    assert answer.array("out").tolist() == [2 * word for word in words]


# ---- files

@pytest.fixture(scope="module")
def good_files():
    return [(pytorch_models.DATA / name / "1" / "model.pt").read_bytes() for name in (
        "convolution", "by_place", "recurrent", "texts", "saved_by_1_13", "convolution_frozen",
        "collatz")]


def try_to_load(loader, repository, name, content):
    """Loads a file, and sends it a request if it loads. Returns the text of the error, or None."""
    put_file(repository.repository, name, content, (
        'platform: "pytorch_libtorch"\ninput { name: "a" data_type: TYPE_FP32 dims: [ -1, 3, 8, 8 ] }\n'
        'output { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ -1, 10 ] }\n'))
    try:
        loader.call("load_model", name)
        loader.infer(name, [loader.input("a", np.ones((1, 3, 8, 8), "f4"))])
        loader.call("unload_model", name)
        return None
    except InferenceServerException as error:
        assert repository.alive(), f"{name} killed the server: {repository.log_tail()}"
        return error.message()


HOSTILE = {
    "empty": "empty", "garbage": "no ZIP archive", "text": "no ZIP archive",
    "truncated": "cut off", "header_only": "no ZIP archive", "empty_archive": "list of records",
    "state_dict": "torch.jit.save", "bomb": "would unpack to", "calls_code": "io.open",
    "calls_os": "os.system", "deep_code": "levels deep", "deep_pickle": "", "deep_tuple": "deep",
    "self_reference": "holds itself", "no_data": "data.pkl", "no_code": "__torch__",
    "version_from_the_future": "999999", "version_is_text": "version",
    "storage_too_large": "too few for 1073741824 elements", "record_too_small": "too few",
    "no_storage": "data/0", "tensor_too_large": "", "memo": "memo", "deep_types": "deep",
    "deep_additions": "levels deep", "deep_blocks": "levels deep",
}


def test_hostile_files_are_refused_with_a_reason(loader, repository, good_files, tmp_path):
    plain = (pytorch_models.DATA / "dense" / "1" / "model.pt").read_bytes()
    written = tmp_path / "written_by_a_pickle"
    files = broken_torchscript.hostile(plain, good_files[0], str(written))
    assert set(files) == set(HOSTILE)
    for name, content in files.items():
        message = try_to_load(loader, repository, name, content)
        assert message is not None, f"{name} loads"
        assert f"model '{name}'" in message and "model.pt" in message, message
        assert HOSTILE[name] in message, message
    assert not written.exists()


def test_damaged_files_leave_the_server_alive(loader, repository, good_files):
    cases = [*broken_torchscript.bytewise(good_files), *broken_torchscript.structural(good_files)]
    assert len(cases) >= 200
    results = [try_to_load(loader, repository, name, content) for name, content in cases]
    refusals = [message for message in results if message is not None]
    assert len(refusals) > 100  # some damage has no effect
    assert all("model.pt" in message or "model '" in message for message in refusals)


def test_missing_file(loader, repository):
    folder = put(repository.repository, "no_file", source="by_place")
    (folder / "1" / "model.pt").unlink()
    refused(loader, "no_file", "model.pt")


# ---- a real model: silero_vad.jit, whose state is in attributes of the module

SPEECH = json.loads((pytorch_models.DATA / "silero_vad.json").read_text())
SPEECH_CONFIG = """platform: "pytorch_libtorch"
input [ { name: "x" data_type: TYPE_FP32 dims: [ -1, 512 ] },
        { name: "sr" data_type: TYPE_INT64 dims: [ 1 ] } ]
output { name: "speech__0" data_type: TYPE_FP32 dims: [ -1, 1 ] }
sequence_batching { direct { } max_sequence_idle_microseconds: 60000000 }
instance_group { count: 4 kind: KIND_CPU }
"""


def test_speech_is_found_where_the_package_finds_it(loader, repository):
    """Each recording is a sequence with its own instance, whose module remembers the audio. A piece
    with another batch size resets the module, as reset_states does."""
    root = pytorch_models.DATA.parents[2]
    model = root / "build" / "examples" / "silero_vad_package" / "silero_vad.jit"
    if not model.is_file():
        pytest.skip(f"no {model}: run examples/make_repository.py build")
    sys.path.insert(0, str(root / "examples"))
    speech = importlib.import_module("speech")
    put_file(repository.repository, "silero_jit", model.read_bytes(), SPEECH_CONFIG)
    loader.call("load_model", "silero_jit")
    rate = loader.input("sr", np.array([speech.RATE]))

    def listen(item):
        name, samples = item
        chunks = np.pad(samples, (0, -len(samples) % speech.CHUNK)).reshape(-1, 1, speech.CHUNK)
        pieces = [np.zeros((2, speech.CHUNK), "f4"), *chunks.astype("f4")]
        sequence = next(IDS)
        heard = [loader.infer("silero_jit", [loader.input("x", piece), rate], sequence_id=sequence,
                              sequence_start=i == 0, sequence_end=i == len(pieces) - 1)
                 .array("speech__0") for i, piece in enumerate(pieces)]
        return name, len(samples), [float(h[0, 0]) for h in heard[1:]]

    with ThreadPoolExecutor(4) as pool:
        for name, length, probabilities in pool.map(listen, speech.recordings().items()):
            np.testing.assert_allclose(probabilities, SPEECH[name]["probabilities"], atol=1e-5)
            assert ([list(s) for s in speech.speech_segments(probabilities, length)]
                    == SPEECH[name]["segments"])


def test_numbers_as_arguments(loader, repository):
    """An argument of type int is an input with one element. Requests with different values are
    executed separately."""
    put(repository.repository, "times", source="wants_number",
        replace=[("max_batch_size: 0", "max_batch_size: 4")],
        add="dynamic_batching { max_queue_delay_microseconds: 100000 }\n")
    loader.call("load_model", "times")

    def one(i):
        return loader.infer("times", [loader.input("x", np.array([[1.0]], "f4")),
                                      loader.input("times", np.array([[i]]))]).array("OUTPUT__0")

    with ThreadPoolExecutor(4) as pool:
        assert [a.tolist() for a in pool.map(one, range(4))] == [[[float(i)]] for i in range(4)]
    loader.expect("INVALID_ARG", "input 'times' is the int that forward takes once", loader.infer,
                  "times", [loader.input("x", np.ones((2, 1), "f4")),
                            loader.input("times", np.array([[1], [2]]))])
