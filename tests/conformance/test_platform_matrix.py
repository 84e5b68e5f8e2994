# SPDX-License-Identifier: Apache-2.0
"""Features times platforms. Each cell either works or is an error that says why.

The base models of platform_models are used for batching, reshape and warm-up. Strings, states and
the completion of a configuration use other models if a platform has them.
"""

import itertools
import re
import shutil
import time

import numpy as np
import pytest
from config_models import io, make_models, reshape
from explicit_models import EXPLICIT, configuration, index, statistics
from netdef_writer import given, op, save
from platform_models import PLATFORMS, close, onnx_identity, tensor
from sequences import CONTROLS, batching, instances
from test_config_semantics import at_once

IDS = itertools.count(70_000)
OF_THREE = ("dynamic_batching { preferred_batch_size: [ 3 ] "
            "max_queue_delay_microseconds: 5000000 }\n")


@pytest.fixture(scope="module")
def serving(start_server, built_platforms):
    return start_server("matrix", lambda root: root.mkdir(), *EXPLICIT)


@pytest.fixture(params=["http", "grpc"])
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture(params=list(PLATFORMS))
def name(request, built_platforms):
    if request.param not in built_platforms:
        pytest.skip(f"the backend or the reference data of {request.param} is not there")
    return request.param


def unload(client, model):
    """Returns when the model is gone: unloading continues after its call has returned."""
    client.call("unload_model", model)
    end = time.monotonic() + 20
    while any(state not in ("", "UNAVAILABLE") for _, state, _ in index(client, model)):
        assert time.monotonic() < end
        time.sleep(0.01)


def load(serving, client, model, write):
    """Writes the model with `write` and loads it again, so that its statistics begin at zero."""
    unload(client, model)
    shutil.rmtree(serving.repository / model, ignore_errors=True)
    write()
    client.call("load_model", model)
    return model


def base(serving, client, name, feature, config):
    platform, model = PLATFORMS[name], f"{feature}_{name}"
    return load(serving, client, model,
                lambda: platform.put(serving.repository, model, config))


def refused(serving, client, model, write, *texts):
    unload(client, model)
    shutil.rmtree(serving.repository / model, ignore_errors=True)
    write()
    _, message = client.error(client.call, "load_model", model)
    for text in (f"'{model}'", *texts):
        assert text in message


# ---- batching, reshape, warm-up: every platform

def test_batching(serving, client, name):
    platform = PLATFORMS[name]
    model = base(serving, client, name, "batching",
                 platform.config() + instances(1) + OF_THREE)
    x, wanted = platform.case()
    rows = [x[i % len(x)][None] for i in range(3)]
    answers = at_once(client, model, [{platform.given: row} for row in rows])
    for i, answer in enumerate(answers):
        close(answer.as_numpy(platform.wanted), wanted[i % len(x)][None], name)
    assert statistics(client, model)["1"] == (3, 1, [3])


def test_reshape(serving, client, name):
    platform = PLATFORMS[name]
    (n, m), (x, wanted) = platform.dims, platform.case()
    model = base(serving, client, name, "reshape", platform.config(
        given=reshape(n), wanted=reshape(m), dims=([2, n // 2], [m, 1])))
    got = platform.ask(client, model, x.reshape(-1, 2, n // 2))
    close(got, wanted.reshape(-1, m, 1), name)


def test_warmup(serving, client, name):
    platform = PLATFORMS[name]
    model = base(serving, client, name, "warmup", platform.config() + instances(1) + (
        'model_warmup { name: "w" batch_size: 2 count: 3 inputs { key: "%s" value { '
        "data_type: TYPE_FP32 dims: [ %d ] random_data: true } } }\n"
        % (platform.given, platform.dims[0])))
    assert statistics(client, model)["1"][1] == 3  # before any request
    x, wanted = platform.case()
    close(platform.ask(client, model, x), wanted, name)


# ---- completion

def incomplete(name):
    """Returns the line with the platform, or no file if that is sufficient."""
    return None if name in ("onnx", "savedmodel", "openvino") else PLATFORMS[name].line + "\n"


# Platform -> the error for an incomplete configuration. A GraphDef loads without inputs and outputs; the
# other platforms complete it.
NOT_COMPLETED = {
    "torchscript": ("neither data types nor dims",),
    "custom": ("write input and output into the configuration",),
}


def test_completion(serving, client, name):
    platform, model = PLATFORMS[name], f"completion_{name}"

    def write():
        folder = platform.put(serving.repository, model, incomplete(name))
        if name == "netdef":  # a net with a layer of fixed size determines its dimensions
            n, m = platform.dims
            shutil.rmtree(folder / "1")
            save(folder / "1", [given("w", np.ones(n * m), (m, n)), given("b", np.ones(m), (m,))],
                 [op("FC", ["X", "w", "b"], ["Y"])], ["X", "w", "b"], ["Y"])

    if name in NOT_COMPLETED:
        refused(serving, client, model, write, *NOT_COMPLETED[name])
        return
    load(serving, client, model, write)
    config = configuration(client, model)
    if name == "graphdef":
        assert not config.get("input") and not config.get("output")
        return
    assert (config["max_batch_size"], config["input"][0]["name"]) == (4, platform.given)
    assert platform.wanted in [output["name"] for output in config["output"]]
    x, wanted = platform.case()
    if name == "netdef":
        wanted = np.repeat(x.sum(axis=1, keepdims=True) + 1, platform.dims[1], axis=1)
    if not platform.more:  # the precision, which only a configuration contains
        close(platform.ask(client, model, x), wanted, name)


# ---- strings

TEXTS = np.array([[b"one", b""], [b"\xff\x00\xfe", "grün".encode()]], np.object_)


def write_strings(root, model, name):
    """Writes the model. Returns the names of its input and output."""
    if name == "onnx":
        folder, names, dims = onnx_identity(root, model, "BYTES"), ("x", "y"), [3]
    elif name == "graphdef":
        import tensorflow_models as tfm
        folder, names, dims = tfm.graphdef(root, model, "types", ""), ("in_BYTES", "out_BYTES"), [-1]
    elif name == "savedmodel":
        import tensorflow_models as tfm
        folder, names, dims = tfm.savedmodel(root, model, "vocabulary"), ("words", "upper"), [2]
    elif name == "torchscript":
        import pytorch_models
        folder = pytorch_models.put(root, model, source="texts")
        names, dims = ("texts", "OUTPUT__0"), [-1]
    elif name == "custom":
        folder, names, dims = PLATFORMS[name].write(root, model), ("INPUT0", "OUTPUT0"), [-1]
    elif name == "openvino":
        import openvino_models
        folder, names, dims = openvino_models.copy(root, model, "type_bytes"), ("x", "y"), None
    else:
        folder, names, dims = PLATFORMS[name].write(root, model), ("X", "Y"), [4]
    shapes = (dims, dims) if dims else ([3], [6])
    (folder / "config.pbtxt").write_text(
        f"{PLATFORMS[name].line}\nmax_batch_size: {0 if name == 'torchscript' else 8}\n"
        + tensor("input", names[0], "BYTES", shapes[0])
        + tensor("output", names[1], "BYTES", shapes[1]))
    return names


def test_strings(serving, client, name):
    model, names = f"strings_{name}", {}

    def write():
        names["of"] = write_strings(serving.repository, model, name)

    if name == "netdef":
        refused(serving, client, model, write, "'X'", "TYPE_STRING")
        return
    load(serving, client, model, write)
    source, target = names["of"]
    texts = TEXTS.reshape(-1) if name == "torchscript" else TEXTS
    want = texts
    if name in ("onnx", "openvino"):  # three texts in a row; OpenVINO's model repeats them
        texts = np.concatenate([TEXTS, TEXTS[:, :1]], axis=1)
        want = texts if name == "onnx" else np.concatenate([texts, texts], axis=1)
    elif name == "savedmodel":
        texts = np.array([[b"one", b"two"], [b"zero", b"\xffno"]], np.object_)
        want = np.array([[b"ONE", b"TWO"], [b"ZERO", b"\xffNO"]], np.object_)
    elif name == "torchscript":
        import pytorch_models
        case = pytorch_models.CASES["texts"][0]
        texts = pytorch_models.array(case["inputs"]["texts"])
        want = pytorch_models.array(case["outputs"]["OUTPUT__0"])
    got = client.infer(model, [client.input(source, texts, "BYTES")], [target]).array(target)
    assert got.tolist() == want.tolist()


# ---- states

def state(source, target, kind, dims):
    return (f'state {{ input_name: "{source}" output_name: "{target}" data_type: TYPE_{kind} '
            f'dims: {dims} initial_state {{ name: "zero" data_type: TYPE_{kind} dims: {dims} '
            "zero_data: true } }\n")


def write_state(root, model, name):
    """Writes a model that computes a sum. Returns the names and numbers of elements of its input
    and output, and the type."""
    folder, strategy, controls = root / model, "oldest { }", ""
    if name == "onnx":
        (folder / "1").mkdir(parents=True)
        (folder / "1" / "model.onnx").write_bytes(make_models.MODELS["accumulate"]())
        source, target, kind, n, of = "x", "y", "FP32", 4, ("state", "new_state")
    elif name == "graphdef":
        import tensorflow_models as tfm
        tfm.graphdef(root, model, "sequence", "")
        source, target, kind, n, of = "INPUT", "OUTPUT", "FP32", 1, ("STATE_IN", "STATE_OUT")
        controls = re.sub("int32_false_true: \\[ 0, 1 \\] } }\n$", "bool_false_true: [ false, true "
                          "] } }\n", CONTROLS["READY"]) + CONTROLS["START"] + CONTROLS["CORRID"]
    elif name == "savedmodel":
        import tensorflow_models as tfm
        tfm.savedmodel(root, model, "running_total")
        source, target, kind, n, of = "value", "total", "FP32", 2, ("before", "total")
    elif name == "netdef":
        save(folder / "1", [], [op("Add", ["A", "B"], ["Y"])], ["A", "B"], ["Y"])
        source, target, kind, n, of = "A", "Y", "FP32", 5, ("B", "Y")
    elif name == "custom":
        (folder / "1").mkdir(parents=True)
        import platform_models
        shutil.copy(platform_models.LIBRARIES / "libcustom_sequence.so",
                    folder / "1" / "libcustom.so")
        source, target, kind, n, of = "INPUT", "OUTPUT", "INT32", 1, ("STATE_IN", "STATE_OUT")
        controls = CONTROLS["START"] + CONTROLS["READY"]
    else:
        import openvino_models
        openvino_models.copy(root, model, "carries")
        source, target, kind, n, of = "x", "total", "INT32", 2, ("before", "after")
    (folder / "config.pbtxt").write_text(
        f"{PLATFORMS[name].line}\nmax_batch_size: 4\n" + instances(1)
        + io("input", source, kind, [n]) + io("output", target, kind, [n])
        + batching(strategy, controls=controls, extra=state(*of, kind, [n])))
    return source, target, {"FP32": "f4", "INT32": "i4"}[kind], n


def test_states(serving, client, name):
    model, model_of = f"states_{name}", {}
    if name == "torchscript":
        import pytorch_models
        load(serving, client, model, lambda: pytorch_models.put(serving.repository, model,
                                                                source="accumulator"))
        # The ids of the sequences are in the cases, and the model returns them.
        pytorch_models.play(client, model, pytorch_models.CASES["accumulator"], 0)
        return
    load(serving, client, model,
         lambda: model_of.update(it=write_state(serving.repository, model, name)))
    source, target, kind, n = model_of["it"]
    sequences = {next(IDS): 1, next(IDS): 10}
    sums = {}
    for step in range(3):
        for sequence, factor in sequences.items():
            array = np.full((1, n), factor * (step + 1), kind)
            answer = client.infer(model, [client.input(source, array)], [target],
                                  sequence_id=sequence, sequence_start=step == 0,
                                  sequence_end=step == 2)
            sums.setdefault(sequence, []).append(answer.array(target)[0].tolist())
    for (sequence, factor) in sequences.items():
        totals = [factor, 3 * factor, 6 * factor]
        if name == "openvino":  # adds a hundred to what it shows
            totals = [100 + total for total in totals]
        assert sums[sequence] == [[total] * n for total in totals]
