# SPDX-License-Identifier: Apache-2.0
"""OpenVINO models that must not load: they contradict their configuration, or are damaged or
hostile.

The server must survive every load, and a good model must give the same results as before.
"""

import os
import random
import re
import shutil
from pathlib import Path

import openvino_models as models
import pytest
from explicit_models import EXPLICIT
from openvino_models import ANSWERS, DATA, MLP
from test_openvino import ask, check, rows
from tritonclient.utils import InferenceServerException

MUTATIONS = 240
SEED = 20


@pytest.fixture(scope="module")
def reasons():
    return {}


@pytest.fixture(scope="module")
def serving(start_server, require_backends, reasons):
    require_backends("openvino")

    def write(root):
        reasons.update(models.refused(root))
        reasons.update(write_hostile(root))
        models.copy(root, "good", "mlp", "max_batch_size: 8\n" + MLP + models.FP32)

    # OpenVINO leaks eight bytes in a library that it closes, so a suppression has no name to match.
    quiet = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    return start_server("openvino_faults", write, *EXPLICIT, "--load-model=good", environment=quiet)


@pytest.fixture(scope="module")
def http(serving, connect):
    return connect("http", serving)


@pytest.fixture(autouse=True)
def good_model_answers(serving, http):
    yield
    assert serving.alive(), serving.log_tail()
    check(http, "good", ANSWERS["mlp"][0])


def replaced(old, new, count=1):
    def change(xml):
        assert old in xml, old
        return xml.replace(old, new, count)
    return change


def bomb(xml):
    """Nested entities that expand to 10^9 characters."""
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    head, body = xml.split("?>", 1)
    return f'{head}?><!DOCTYPE net [<!ENTITY l0 "lol">{entities}]>' + body.replace(
        'name="mlp"', 'name="&l9;"', 1)


def deep(xml):
    """A network nested a thousand times."""
    layer = '<layers><layer id="0" name="l" type="Loop" version="opset5"><body>'
    return ('<?xml version="1.0"?><net name="deep" version="11">' + layer * 1000
            + "</body></layer></layers>" * 1000 + "</net>")


def circle(xml):
    """A Relu whose input is the output of the last MatMul."""
    ids = {kind: re.search(rf'layer id="(\d+)" name="[^"]*" type="{kind}"', xml)[1]
           for kind in ("ReLU",)}
    last = re.findall(r'layer id="(\d+)" name="[^"]*" type="MatMul"', xml)[-1]
    return re.sub(rf'from-layer="\d+" from-port="\d+" to-layer="{ids["ReLU"]}"',
                  f'from-layer="{last}" from-port="2" to-layer="{ids["ReLU"]}"', xml)


# name -> (model, change of model.xml, part of the reason)
XML = {
    "empty": ("mlp", lambda xml: "", "model.xml' cannot be read: it is empty"),
    "garbage": ("mlp", lambda xml: "\x00\xff garbage", "it is no XML"),
    "cut": ("mlp", lambda xml: xml[:len(xml) // 2], "it is no XML"),
    "html": ("mlp", lambda xml: "<html><body/></html>", "it has no network of layers"),
    "unknown_operator": ("mlp", replaced('type="MatMul"', 'type="Nonsense"'), "Nonsense"),
    "unknown_opset": ("mlp", replaced('version="opset1"', 'version="opset99"'), "cannot be read"),
    "unknown_version": ("mlp", replaced('version="11"', 'version="99"'), "cannot be read"),
    "twice_the_id": ("mlp", replaced('<layer id="1"', '<layer id="0"'), "have the same id"),
    "circle": ("mlp", circle, "its edges form a circle"),
    "no_such_layer": ("mlp", replaced('from-layer="0"', 'from-layer="77"'),
                      "there is an edge from layer '77'"),
    "no_such_port": ("mlp", replaced('from-port="0"', 'from-port="9"'),
                     "names a port that is not there"),
    "no_edges": ("mlp", lambda xml: re.sub("<edges>.*</edges>", "<edges></edges>", xml,
                                           flags=re.S), "inputs, of which edges feed 0"),
    "outside_of_the_bin": ("mlp", replaced('offset="0"', 'offset="260"'), "of the weights, which"),
    "far_outside": ("mlp", replaced('offset="0"', 'offset="9223372036854775807"'),
                    "of the weights, which have"),
    "negative_offset": ("mlp", replaced('offset="0"', 'offset="-8"'), "lacks the offset"),
    "huge_weights": ("mlp", replaced('size="128"', 'size="4611686018427387904"'),
                     "of the weights, which have"),
    "huge_input": ("mlp", replaced('shape="?,4"', 'shape="?,4611686018427387904"'),
                   "more than 2^40 elements"),
    "large_input": ("places", replaced('shape="?,?"', 'shape="?,4294967296"'), "2^31 elements"),
    "overflowing_input": ("mlp", replaced('shape="?,4"', 'shape="4294967296,4294967296,4"'),
                          "more than 2^40 elements"),
    "no_variable": ("remembers", lambda xml: re.sub('type="Assign"(.*?)variable_id="[^"]*"',
                                                    r'type="Assign"\1', xml, flags=re.S),
                    "has no variable_id"),
    "entity_bomb": ("mlp", bomb, ""),
    "deep": ("mlp", deep, "networks deep"),
}


def write_hostile(root):
    reasons = {}
    for name, (model, change, reason) in XML.items():
        file = models.copy(root, f"xml_{name}", model) / "1" / "model.xml"
        file.write_bytes(change(file.read_text()).encode("latin-1"))
        reasons[f"xml_{name}"] = reason
    for name, change, reason in [
            ("missing", lambda b: None, "is the .bin file beside it, and whole?"),
            ("empty", lambda b: b"", "is the .bin file beside it, and whole?"),
            ("cut", lambda b: b[:-1], "is the .bin file beside it, and whole?")]:
        file = models.copy(root, f"bin_{name}", "mlp") / "1" / "model.bin"
        content = change(file.read_bytes())
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        reasons[f"bin_{name}"] = reason
    for name, content in [("empty", b""), ("garbage", b"\x08\xffgarbage" * 9),
                          ("cut", (DATA / "onnx_mlp" / "model.onnx").read_bytes()[:900])]:
        file = models.copy(root, f"onnx_{name}", "onnx_mlp", "") / "1" / "model.onnx"
        file.write_bytes(content)
        reasons[f"onnx_{name}"] = "model.onnx' cannot be read"
    return reasons


NAMES = sorted({**{f"xml_{n}": 0 for n in XML},
                **{f"{kind}_{n}": 0 for kind, n in [
                    ("bin", "missing"), ("bin", "empty"), ("bin", "cut"), ("onnx", "empty"),
                    ("onnx", "garbage"), ("onnx", "cut")]}} - {"xml_entity_bomb": 0}.keys())


@pytest.mark.parametrize("name", NAMES)
def test_hostile_files(http, reasons, name):
    with pytest.raises(InferenceServerException) as refusal:
        http.call("load_model", name)
    assert reasons[name] in str(refusal.value), str(refusal.value)
    assert name in str(refusal.value)


def test_entities_are_not_followed(http, serving):
    http.call("load_model", "xml_entity_bomb")  # the name stays "&l9;", and is not used
    status = Path(f"/proc/{serving.process.pid}/status").read_text()
    assert int(re.search(r"VmRSS:\s+(\d+)", status)[1]) < 900_000


def test_what_a_configuration_may_not_say(http, serving, reasons, tmp_path):
    names = models.refused(tmp_path)
    assert len(names) > 30
    for name in names:
        with pytest.raises(InferenceServerException) as refusal:
            http.call("load_model", name)
        assert reasons[name] in str(refusal.value), f"{name}: {refusal.value}"


NUMBERS = [b"-1", b"0", b"1", b"3", b"2147483648", b"4294967296", b"4611686018427387904",
           b"9223372036854775807", b"-9223372036854775808", b"99999999999999999999999", b""]
OPERATORS = [b"Parameter", b"Result", b"Const", b"If", b"Loop", b"TensorIterator", b"MatMul",
             b"Reshape", b"Foo", b"Split", b"ReadValue", b"Assign", b"Gather", b"StridedSlice"]


def swap(match, new, text):
    return text[:match.start(1)] + new + text[match.end(1):]


def mutate_xml(text, chance):
    lines = text.split(b"\n")
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(7)
    if kind == 0:
        return text[:chance.randrange(len(text))]
    if kind == 1:
        del lines[place]
        return b"\n".join(lines)
    if kind == 2:
        lines.insert(other, lines[place])
        return b"\n".join(lines)
    if kind == 3:
        bytes_ = bytearray(text)
        bytes_[chance.randrange(len(bytes_))] = chance.randrange(256)
        return bytes(bytes_)
    pattern = {4: rb"(-?\d+)", 5: rb'="([^"]*)"', 6: rb'type="([^"]*)"'}[kind]
    found = list(re.finditer(pattern, text))
    match = chance.choice(found)
    new = {4: chance.choice(NUMBERS), 5: chance.choice(found)[1], 6: chance.choice(OPERATORS)}
    return swap(match, new[kind], text)


def mutate_bytes(content, chance):
    if chance.randrange(3) == 0:
        return content[:chance.randrange(len(content))]
    content, reach = bytearray(content), len(content) if chance.randrange(2) else 300
    for _ in range(chance.randint(1, 4)):
        content[chance.randrange(reach)] = chance.randrange(256)
    return bytes(content)


def test_mutated_files(http, serving):
    chance = random.Random(SEED)
    root, loaded = serving.repository, 0
    for i in range(MUTATIONS):
        model = chance.choice(["mlp", "places", "remembers", "type_bytes", "two_inputs", "controls",
                               "only_one_row", "onnx_mlp"])
        folder = models.copy(root, "mutated", model, "")
        if model == "onnx_mlp":
            file = folder / "1" / "model.onnx"
            file.write_bytes(mutate_bytes(file.read_bytes(), chance))
        else:
            file, text = folder / "1" / "model.xml", None
            for _ in range(chance.randint(1, 3)):
                try:
                    text = mutate_xml(text or file.read_bytes(), chance)
                except (IndexError, ValueError):
                    break  # all parts of this kind were removed
            file.write_bytes(text or b"")
            if chance.randrange(6) == 0:
                weights = folder / "1" / "model.bin"
                weights.write_bytes(weights.read_bytes()[:chance.randrange(100)])
        try:
            http.call("load_model", "mutated")
            loaded += 1
            run_with_zeros(http)
        except InferenceServerException:
            pass
        assert serving.alive(), f"mutation {i} of {model}: {serving.log_tail()}"
        check(http, "good", ANSWERS["mlp"][0])
        shutil.rmtree(folder)
    assert 0 < loaded < MUTATIONS / 2


def run_with_zeros(http):
    config = http.json("get_model_config", "mutated")
    inputs = {}
    for tensor in config["input"]:
        dims = [2 if dim == -1 else dim for dim in tensor["dims"]]
        shape = ([1] if config["max_batch_size"] else []) + dims
        datatype = tensor["data_type"].removeprefix("TYPE_").replace("STRING", "BYTES")
        if models.np.prod(shape, dtype=float) < 1e6 and datatype != "BF16":
            zeros = models.np.zeros(shape, models.KINDS.get(datatype) or datatype.lower())
            inputs[tensor["name"]] = (datatype, zeros)
    ask(http, "mutated", inputs)
