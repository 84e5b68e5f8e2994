# SPDX-License-Identifier: Apache-2.0
"""Repositories that are registered with tritonserver.Server, and errors of models."""

import re

import numpy as np
import pytest
from conftest import tensor, write_identity, write_python

import tritonserver

ERRORS = """UnknownError InternalError NotFoundError InvalidArgumentError UnavailableError
UnsupportedError AlreadyExistsError""".split()

FAILING = """
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [self.fail(request) for request in requests]

    def fail(self, request):
        name = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0].decode()
        error = pb_utils.TritonError("an own text", getattr(pb_utils.TritonError, name))
        return pb_utils.InferenceResponse(error=error)
"""

ZERO = {"IN": np.zeros(1, np.float32)}


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """A model whose input is the code of its error."""
    folder = tmp_path_factory.mktemp("failing")
    config = tensor("input", "IN", "STRING", "[ 1 ]") + tensor("output", "OUT", "FP32", "[ 1 ]")
    write_python(folder, "failing", FAILING, config)
    server = tritonserver.Server(model_repository=str(folder)).start()
    yield server.model("failing")
    server.stop()


def test_register_a_repository(triton, tmp_path):
    write_identity(tmp_path, "registered", "FP32")
    with pytest.raises(tritonserver.NotFoundError, match="failed to load 'registered'"):
        triton.load("registered")
    triton.register_model_repository(str(tmp_path))
    with pytest.raises(tritonserver.AlreadyExistsError, match="has already been registered"):
        triton.register_model_repository(str(tmp_path))
    assert triton.models()["registered", -1].state is None
    assert list(triton.load("registered").infer(inputs=ZERO))[0].final
    triton.unload("registered", wait_until_unloaded=True)
    triton.unregister_model_repository(str(tmp_path))
    with pytest.raises(tritonserver.NotFoundError, match="failed to load 'registered'"):
        triton.load("registered")
    with pytest.raises(tritonserver.InvalidArgumentError, match="repository not found"):
        triton.unregister_model_repository(str(tmp_path))


def test_register_a_repository_with_names(triton, tmp_path):
    for name in ("folder", "other_folder"):
        write_identity(tmp_path, name, "FP32")
    triton.register_model_repository(str(tmp_path), {"folder": "mapped"})
    names = {name for name, _ in triton.models()}
    assert {"mapped", "other_folder"} <= names and "folder" not in names
    model = triton.load("mapped")
    assert model.config()["name"] == "mapped"
    assert list(model.infer(inputs=ZERO))[0].model.name == "mapped"
    with pytest.raises(tritonserver.NotFoundError, match="failed to load 'folder'"):
        triton.load("folder")
    triton.unload("mapped", wait_until_unloaded=True)
    triton.unregister_model_repository(str(tmp_path))
    with pytest.raises(tritonserver.InvalidArgumentError, match="'folder' must be a string"):
        triton.register_model_repository(str(tmp_path), {"folder": 1})


def test_classes_of_errors():
    classes = [getattr(tritonserver, name) for name in ERRORS]
    assert all(cls.__bases__ == (tritonserver.TritonError,) for cls in classes)
    assert tritonserver.TritonError.__bases__ == (Exception,)


def code_of(name):
    """Returns the code of an error, as a Python model names it, by the name of its class."""
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Error")).upper()
    return code.replace("ARGUMENT", "ARG")


@pytest.mark.parametrize("name", [*ERRORS, "TritonError"])
def test_errors_of_a_model(failing, name):
    code = "CANCELLED" if name == "TritonError" else code_of(name)  # it has no class of its own
    responses = failing.infer(inputs={"IN": [code]})
    with pytest.raises(tritonserver.TritonError, match="an own text") as failure:
        next(responses)
    assert isinstance(failure.value, getattr(tritonserver, name))
    if name != "TritonError":
        assert type(failure.value).__name__ == name
    assert isinstance(failure.value.args[-1], tritonserver.InferenceResponse)
    (response,) = failing.infer(inputs={"IN": [code]}, raise_on_error=False)
    assert type(response.error) is type(failure.value) and "an own text" in str(response.error)
    assert response.final and not response.outputs
