# SPDX-License-Identifier: Apache-2.0
"""Models and servers of the tests of the Python package. NEREID_BUILD_DIR names the build, whose
package (BUILD/python/package) the tests import unless another one is installed."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD_DIR", ROOT / "build/release")).resolve()
if "NEREID_INSTALLED" not in os.environ:
    sys.path.insert(0, str(BUILD / "python/package"))

TYPES = "BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 BF16 STRING".split()


def tensor(section, name, data_type, dims):
    return f'{section} [ {{ name: "{name}" data_type: TYPE_{data_type} dims: {dims} }} ]\n'


def write_model(root, name, config, plugin=None):
    folder = root / name
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(config)
    if plugin is not None:
        (folder / f"libtriton_{plugin}.so").symlink_to(
            BUILD / f"tests/plugins/libtriton_{plugin}.so"
        )


def write_identity(root, name, data_type, dims="[ -1 ]", more=""):
    config = 'backend: "identity"\n' + tensor("input", "IN", data_type, dims)
    write_model(root, name, config + tensor("output", "OUT", data_type, dims) + more)


def write_python(root, name, code, more=""):
    """Writes a Python model that the interpreter of the tests runs."""
    interpreter = f'parameters {{ key: "python" value: {{ string_value: "{sys.executable}" }} }}\n'
    write_model(root, name, 'backend: "python"\n' + interpreter + more)
    (root / name / "1/model.py").write_text(code)


def write_models(root):
    for data_type in TYPES:
        write_identity(root, f"echo_{data_type.lower()}", data_type)
    write_identity(root, "batched", "FP32", more="max_batch_size: 8\n")
    write_identity(
        root,
        "parameters",
        "FP32",
        more='parameters { key: "echo_parameters" value: { string_value: "true" } }\n',
    )
    write_identity(
        root,
        "slow",
        "FP32",
        more='parameters { key: "execute_delay_ms" value: { string_value: "200" } }\n',
    )
    repeat = (
        'backend: "repeat"\nmodel_transaction_policy { decoupled: true }\n'
        + tensor("input", "IN", "INT32", "[ -1 ]")
        + tensor("input", "DELAY", "UINT32", "[ -1 ]")
        + tensor("input", "WAIT", "UINT32", "[ 1 ]")
        + tensor("output", "OUT", "INT32", "[ 1 ]")
        + tensor("output", "IDX", "UINT32", "[ 1 ]")
    )
    write_model(root, "repeat", repeat, "repeat")
    return root


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def server(repository):
    import nereid

    with nereid.Server(repository) as server:
        yield server


@pytest.fixture(scope="session")
def triton(repository):
    import tritonserver

    server = tritonserver.Server(
        model_repository=str(repository),
        model_control_mode=tritonserver.ModelControlMode.EXPLICIT,
        startup_models=["*"],
    ).start(wait_until_ready=True)
    yield server
    server.stop()
