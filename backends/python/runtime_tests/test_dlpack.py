# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils
from nereid_pb import datatypes, dlpack

NUMBERS = sorted(set(datatypes.NUMPY_TYPES) - {datatypes.BYTES})
from_dlpack = pb_utils.Tensor.from_dlpack


def array_of(number):
    return np.array([[0, 1, 1], [1, 0, 1]]).astype(datatypes.NUMPY_TYPES[number])


def capsule_name(capsule):
    get = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
        ("PyCapsule_GetName", ctypes.pythonapi))
    return get(capsule)


def capsule_with(array, **changes):
    """Returns a capsule of an array whose description is changed."""
    capsule = array.__dlpack__()
    tensor = dlpack._managed(capsule).tensor
    for name, value in changes.items():
        owner = tensor.device if name == "kind" else tensor.dtype
        setattr(owner, name, value)
    return capsule


@pytest.mark.parametrize("number", NUMBERS)
def test_every_data_type_there_and_back(number):
    array = array_of(number)
    tensor = pb_utils.Tensor("A", array)
    back = from_dlpack("B", tensor)
    assert back.name() == "B" and back.triton_dtype() == number and back.shape() == [2, 3]
    assert back.as_numpy().tolist() == array.tolist()
    assert np.shares_memory(back.as_numpy(), array)


@pytest.mark.parametrize("number", NUMBERS)
def test_capsules(number):
    tensor = pb_utils.Tensor("A", array_of(number))
    capsule = tensor.to_dlpack()
    assert capsule_name(capsule) == b"dltensor"
    back = from_dlpack("B", capsule)
    assert capsule_name(capsule) == b"used_dltensor"
    assert back.as_numpy().tolist() == tensor.as_numpy().tolist()
    with pytest.raises(pb_utils.TritonModelException, match="has been used already"):
        from_dlpack("C", capsule)


def test_bf16_passes_through():
    buffer = bytearray(np.array([0x3F80, 0x4000], np.uint16).tobytes())
    tensor = pb_utils.Tensor._received("A", datatypes.BF16, (2,), buffer, 0, 4)
    with pytest.raises(pb_utils.TritonModelException, match="BF16"):
        tensor.as_numpy()
    back = from_dlpack("B", tensor)
    assert back.triton_dtype() == datatypes.BF16
    assert bytes(back._payload()) == bytes(buffer)
    with pytest.raises(pb_utils.TritonModelException, match="BF16"):
        back.as_numpy()


def test_numpy_reads_a_tensor_without_a_copy():
    array = np.arange(6, dtype=np.float32)
    assert np.shares_memory(np.from_dlpack(pb_utils.Tensor("A", array)), array)


def test_memory_lives_as_long_as_its_readers():
    array = np.arange(6, dtype=np.float32)
    alive = weakref.ref(array)
    tensor = from_dlpack("A", array)
    view = tensor.as_numpy()[2:]
    del array, tensor
    gc.collect()
    assert alive() is not None and view.tolist() == [2, 3, 4, 5]
    del view
    gc.collect()
    assert alive() is None


def test_a_capsule_holds_one_reference():
    array = np.arange(6, dtype=np.float32)
    tensor = pb_utils.Tensor("A", array)
    before = sys.getrefcount(array)
    capsule = tensor.to_dlpack()
    assert sys.getrefcount(array) == before + 1
    del capsule
    assert sys.getrefcount(array) == before


def test_many_round_trips_keep_no_memory():
    array = np.arange(6, dtype=np.float32)
    before = sys.getrefcount(array)
    for _ in range(1000):
        from_dlpack("B", pb_utils.Tensor("A", array))
    assert sys.getrefcount(array) == before


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_shapes_of_one_and_of_no_elements(shape):
    assert from_dlpack("A", np.ones(shape)).shape() == list(shape)


def test_memory_that_must_not_be_written_is_copied():
    array = np.arange(3)
    array.flags.writeable = False
    back = from_dlpack("B", pb_utils.Tensor("A", array))
    assert not np.shares_memory(back.as_numpy(), array)


def test_strings_are_not_supported():
    tensor = pb_utils.Tensor("A", np.array([b"a"], np.object_))
    with pytest.raises(pb_utils.TritonModelException,
                       match="DLPack does not have support for string tensors."):
        tensor.to_dlpack()


@pytest.mark.parametrize("source", [[1, 2], None, "text", 3])
def test_sources_of_other_types(source):
    with pytest.raises(pb_utils.TritonModelException, match="Provided tensor is not supported."):
        from_dlpack("A", source)


@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3).T, np.arange(6)[::2]])
def test_other_orders_are_refused(array):
    with pytest.raises(pb_utils.TritonModelException, match="DLPack tensor is not contiguous"):
        from_dlpack("A", array)


def test_the_stride_of_one_element_does_not_matter():
    array = np.arange(6, dtype=np.int64).reshape(2, 3)[:, :1][:1]
    assert from_dlpack("A", array).as_numpy().tolist() == [[0]]


@pytest.mark.parametrize("changes, text", [
    ({"kind": 7}, "DLDevice type 7 is not support by Python backend."),
    ({"code": 5}, r"code 5, 64 bits, 1 lanes\) is not supported"),
    ({"lanes": 2}, r"2 lanes\) is not supported"),
    ({"bits": 24}, "24 bits"),
])
def test_what_a_capsule_may_not_say(changes, text):
    capsule = capsule_with(np.arange(3), **changes)
    with pytest.raises(pb_utils.TritonModelException, match=text):
        from_dlpack("A", capsule)
    assert capsule_name(capsule) == b"dltensor"


def test_pinned_memory_is_memory_of_the_cpu():
    assert from_dlpack("A", capsule_with(np.arange(3), kind=3)).as_numpy().tolist() == [0, 1, 2]


def test_the_arguments_of_the_protocol():
    tensor = pb_utils.Tensor("A", np.arange(3))
    assert tensor.__dlpack_device__() == (1, 0)
    tensor.__dlpack__(None)
    tensor.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0))
    copied = from_dlpack("B", tensor.__dlpack__(copy=True))
    assert not np.shares_memory(copied.as_numpy(), tensor.as_numpy())
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))


def test_torch():
    torch = pytest.importorskip("torch")
    source = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    tensor = from_dlpack("A", source)
    tensor.as_numpy()[0, 0] = 9
    assert source[0, 0] == 9
    assert torch.from_dlpack(tensor).data_ptr() == source.data_ptr()
    half = from_dlpack("B", source.to(torch.bfloat16))
    assert half.triton_dtype() == datatypes.BF16
    assert torch.utils.dlpack.from_dlpack(half.to_dlpack()).dtype == torch.bfloat16
