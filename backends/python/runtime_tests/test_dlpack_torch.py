# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch, both ways. Skipped if the interpreter has no PyTorch."""

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils
from nereid_pb import datatypes

torch = pytest.importorskip("torch")

TYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
         torch.float32, torch.float64, torch.bfloat16]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_there_and_back(kind):
    source = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(kind)
    tensor = pb_utils.Tensor.from_dlpack("A", source)
    assert tensor.shape() == [2, 3] and tensor.is_cpu()
    for back in (torch.from_dlpack(tensor), torch.utils.dlpack.from_dlpack(tensor.to_dlpack())):
        assert back.dtype == kind and torch.equal(back, source)
        assert back.data_ptr() == source.data_ptr()


def test_a_capsule_of_torch():
    source = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    tensor = pb_utils.Tensor.from_dlpack("A", torch.utils.dlpack.to_dlpack(source))
    assert np.array_equal(tensor.as_numpy(), source.numpy())
    tensor.as_numpy()[0, 0] = 7
    assert source[0, 0] == 7, "the memory is shared"


def test_a_received_tensor_is_seen_in_place():
    buffer = bytearray(np.arange(4, dtype=np.int32).tobytes())
    tensor = pb_utils.Tensor._received("A", datatypes.number_of(np.dtype(np.int32)), (2, 2), buffer, 0, 16)
    seen = torch.from_dlpack(tensor)
    seen[1, 1] = 9
    assert np.frombuffer(buffer, np.int32).tolist() == [0, 1, 2, 9]


def test_a_tensor_that_is_not_contiguous():
    with pytest.raises(pb_utils.TritonModelException, match="not contiguous"):
        pb_utils.Tensor.from_dlpack("A", torch.arange(6).reshape(2, 3).t())


def test_a_tensor_with_a_gradient():
    with pytest.raises((pb_utils.TritonModelException, RuntimeError, BufferError), match="grad"):
        pb_utils.Tensor.from_dlpack("A", torch.ones(2, requires_grad=True))
