# SPDX-License-Identifier: Apache-2.0
"""NetDef models, compared with the results of the genuine Caffe2.

The cases are the folders of tests/data/caffe2, which its README describes, and those of a larger
collection if there is one: in the folder NEREID_CAFFE2_DATA, or in ../shared/data/caffe2 beside the
repository. Each case runs once unchanged and, if it can batch, once with the batch doubled.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as grpcclient
import tritonclient.http as httpclient
from explicit_models import EXPLICIT
from tritonclient.utils import InferenceServerException

ROOT = Path(__file__).resolve().parents[2]
DATA = (ROOT / "tests" / "data" / "caffe2",
        Path(os.environ.get("NEREID_CAFFE2_DATA", ROOT.parent / "shared" / "data" / "caffe2")))
# Name of a case -> its folder. A case may be in both collections.
FOLDERS = {p.parent.name: p.parent for data in DATA for p in sorted(data.glob("*/case.json"))}
CASES = {name: json.loads((FOLDERS[name] / "case.json").read_text()) for name in sorted(FOLDERS)}
OVER_GRPC = ("net_nhwc_cnn", "graph_reused_names", "type_copy_fp16", "type_copy_bool", "topk_flat",
             "reducesum_all")


def write_cases(root):
    for name in CASES:
        (root / name / "1").mkdir(parents=True)
        shutil.copy(FOLDERS[name] / "config.pbtxt", root / name)
        for file in ("init_model.netdef", "model.netdef"):
            shutil.copy(FOLDERS[name] / file, root / name / "1")


@pytest.fixture(scope="module")
def caffe2_server(start_server, is_peer):
    if is_peer:
        pytest.skip("Triton no longer serves NetDef models")
    return start_server("caffe2", write_cases, *EXPLICIT)


def tensors(name, key, times):
    folder = FOLDERS[name]
    return [(t, np.concatenate([np.load(folder / t["file"])] * times) if times > 1
             else np.load(folder / t["file"])) for t in CASES[name][key]]


def check(client, library, name):
    for times in (1, 2) if CASES[name]["max_batch_size"] > 0 else (1,):
        inputs = []
        for tensor, values in tensors(name, "inputs", times):
            inputs.append(library.InferInput(tensor["name"], list(values.shape), tensor["datatype"]))
            inputs[-1].set_data_from_numpy(values)
        wanted = tensors(name, "outputs", times)
        answer = client.infer(name, inputs, outputs=[
            library.InferRequestedOutput(tensor["name"]) for tensor, _ in wanted])
        for tensor, want in wanted:
            got = answer.as_numpy(tensor["name"])
            assert (got.shape, got.dtype) == (want.shape, want.dtype), tensor["name"]
            if want.dtype.kind == "f":
                np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), tensor["rtol"],
                                           tensor["atol"], err_msg=tensor["name"])
            else:
                np.testing.assert_array_equal(got, want, err_msg=tensor["name"])


@pytest.mark.parametrize("name", CASES)
def test_case_agrees_with_caffe2(caffe2_server, name):
    client = httpclient.InferenceServerClient(caffe2_server.http, network_timeout=60)
    if CASES[name]["expect"] == "load_error":
        with pytest.raises(InferenceServerException) as refusal:
            client.load_model(name)
        assert CASES[name]["error_names"] in str(refusal.value)
        return
    client.load_model(name)
    check(client, httpclient, name)
    client.unload_model(name)


@pytest.mark.parametrize("name", OVER_GRPC)
def test_case_over_grpc(caffe2_server, name):
    client = grpcclient.InferenceServerClient(caffe2_server.grpc)
    client.load_model(name)
    check(client, grpcclient, name)
    client.unload_model(name)
