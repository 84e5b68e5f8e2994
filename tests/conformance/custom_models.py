# SPDX-License-Identifier: Apache-2.0
"""Models of the platform "custom" in a repository: the libraries of tests/plugins and the example.
"""

import shutil
from pathlib import Path

from config_models import ONE_CPU, io, reshape
from models import DATATYPES
from sequences import CONTROLS, parameter
from test_warmup import sample

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "custom" / "config.pbtxt"
# The delay of five seconds never passes, because three requests fill the preferred size.
OF_THREE = ("dynamic_batching { preferred_batch_size: [ 3 ] "
            "max_queue_delay_microseconds: 5000000 }\n")
STATE = ('state { input_name: "STATE_IN" output_name: "STATE_OUT" data_type: TYPE_INT32 '
         "dims: [ 1 ] initial_state { name: \"zero\" data_type: TYPE_INT32 dims: [ 1 ] "
         "zero_data: true } }\n")

# Model of the faulty library that cannot load -> its library, a word of its configuration, and what
# the load is refused with.
REFUSED = {
    "no_initialize": ("no_initialize", "", "lacks the function CustomInitialize"),
    "no_error_string": ("no_error_string", "", "lacks the function CustomErrorString"),
    "no_execute": ("no_execute", "", "lacks the function CustomExecute"),
    "no_execute_v2": ("no_execute_v2", "", "lacks the function CustomExecuteV2"),
    "version_3": ("version_3", "", "gives 3, but only versions 1 and 2 are known"),
    "initialize_fails": ("faulty", "initialize_fails",
                         "CustomInitialize of '{path}' failed with code 3 (out of ink)"),
    "initialize_with_context": ("faulty", "initialize_fails_with_context",
                                "failed with code 4 (of the context)"),
    "initialize_throws": ("faulty", "initialize_throws",
                          "CustomInitialize of '{path}' threw: no room"),
    "warmup_fails": ("faulty", "", "CustomExecute of '{path}' failed with code 7 (all of them)"),
    "no_library": (None, "", "unable to find '{path}' for model"),
    "no_elf_file": (b"not a library", "", "cannot open the custom library '{path}': it is too "
                                          "short for an ELF file"),
    "decoupled": ("echo", "", "model_transaction_policy.decoupled is not supported for a custom "
                              "library"),
}


class CustomModels:
    def __init__(self, root, plugins):
        self.root = root
        self.plugins = plugins
        self.example = plugins.parents[1] / "examples" / "custom" / "libcustom_addsub.so"

    def add(self, name, library, config, *, batch=8, filename="libcustom.so", platform="custom"):
        """`library` is NAME of libcustom_NAME.so, the bytes of a file, a path, or None for no file.
        """
        folder = self.root / name
        (folder / "1").mkdir(parents=True)
        (folder / "config.pbtxt").write_text(
            f'name: "{name}"\nplatform: "{platform}"\nmax_batch_size: {batch}\n{config}')
        file = folder / "1" / filename
        if isinstance(library, bytes):
            file.write_bytes(library)
        elif isinstance(library, str):
            shutil.copy(self.plugins / f"libcustom_{library}.so", file)
        elif library is not None:
            shutil.copy(library, file)
        return folder


def pair(datatype, dims, extra="", out_extra=""):
    kind = DATATYPES[datatype].removeprefix("TYPE_")
    return io("input", "INPUT0", kind, dims, extra) + io("output", "OUTPUT0", kind, dims, out_extra)


def add_echoes(models):
    for datatype in DATATYPES:
        models.add(f"echo_{datatype.lower()}", "echo", pair(datatype, [-1]))
        models.add(f"echo_{datatype.lower()}_unbatched", "echo",
                   pair(datatype, [-1]) + parameter("unbatched", "1"), batch=0)
    models.add("batched", "echo", ONE_CPU + OF_THREE
               + pair("FP32", [-1], "allow_ragged_batch: true"))
    models.add("reshaped", "echo", pair("FP32", [4], reshape(2, 2), reshape(2, 2)))
    models.add("scalar", "echo", pair("FP32", [1], reshape(), reshape()))
    models.add("warmed", "echo", ONE_CPU + pair("FP32", [4]) + sample(
        {"INPUT0": "data_type: TYPE_FP32 dims: [ 4 ] random_data: true"}, batch=3, count=2))
    models.add("renamed", "echo", pair("FP32", [4]) + 'default_model_filename: "librenamed.so"\n',
               filename="librenamed.so")
    models.add("several", "echo", pair("FP32", [4])
               + io("input", "INPUT1", "STRING", [-1]) + io("output", "OUTPUT1", "STRING", [-1])
               + io("input", "INPUT2", "INT64", [-1, 2], "optional: true"))


def add_sequences(models):
    controls = CONTROLS["START"] + CONTROLS["READY"]
    tensors = io("input", "INPUT", "INT32", [1]) + io("output", "OUTPUT", "INT32", [1]) + ONE_CPU
    models.add("sequence", "sequence", tensors + f"sequence_batching {{ direct {{ }} {controls} }}\n")
    models.add("state", "sequence", tensors + io("output", "STATE_OUT", "INT32", [1])
               + f"sequence_batching {{ oldest {{ max_candidate_sequences: 4 }} {controls} "
               f"{STATE} }}\n")


def faulty_tensors():
    return (ONE_CPU + pair("INT32", [1]) + io("output", "FREE", "INT32", [-1, -1], "")
            + io("output", "TEXT", "STRING", [1]))


def write(plugins):
    def write_models(root):
        models = CustomModels(root, plugins)
        # Without the first lines (name, platform, max_batch_size), which add() writes.
        models.add("addsub", models.example, EXAMPLE.read_text().split("\n", 3)[3])
        add_echoes(models)
        add_sequences(models)
        models.add("faulty", "faulty", faulty_tensors())
        models.add("faulty_of_three", "faulty", faulty_tensors() + OF_THREE)
        models.add("params", "params", io("input", "INPUT", "INT8", [1])
                   + io("output", "OUTPUT", "STRING", [-1]) + ONE_CPU + parameter("speed", "high"),
                   batch=0)
    return write_models


def write_refused(plugins):
    def write_models(root):
        models = CustomModels(root, plugins)
        models.add("good", "echo", pair("FP32", [4]))
        for name, (library, word, _) in REFUSED.items():
            extra = parameter(word, "1") if word else ""
            if name == "decoupled":
                extra += "model_transaction_policy { decoupled: true }\n"
            if name == "warmup_fails":
                extra += sample({"INPUT0": 'data_type: TYPE_INT32 dims: [ 1 ] '
                                           'input_data_file: "one"'})
            folder = models.add(name, library, faulty_tensors() + extra)
            (folder / "warmup").mkdir()
            (folder / "warmup" / "one").write_bytes(b"\1\0\0\0")
        models.add("no_tensors", "echo", "")
    return write_models
