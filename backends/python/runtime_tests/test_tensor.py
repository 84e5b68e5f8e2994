# SPDX-License-Identifier: Apache-2.0
import gc
import weakref

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils
from nereid_pb import datatypes


def received(data_type, shape, content, before=b"", after=b""):
    """Returns a tensor whose bytes lie between others."""
    buffer = bytearray(before + content + after)
    return pb_utils.Tensor._received("IN", data_type, shape, buffer, len(before), len(content))


@pytest.mark.parametrize("data_type", sorted(set(datatypes.NUMPY_TYPES) - {datatypes.BYTES}))
def test_every_data_type_of_numbers(data_type):
    array = np.array([[0, 1], [1, 0]]).astype(datatypes.NUMPY_TYPES[data_type])
    made = pb_utils.Tensor("OUT", array)
    assert made.name() == "OUT" and made.shape() == [2, 2] and made.is_cpu()
    assert made.triton_dtype() == data_type
    assert made.as_numpy() is array
    assert bytes(made._payload()) == array.tobytes()

    got = received(data_type, (2, 2), array.tobytes(), b"before", b"after")
    assert got.as_numpy().dtype == array.dtype and got.as_numpy().tolist() == array.tolist()
    assert got.as_numpy() is got.as_numpy()
    assert bytes(got._payload()) == array.tobytes()


def test_an_array_that_was_received_is_a_writable_view():
    buffer = np.zeros(16, np.uint8)
    tensor = pb_utils.Tensor._received("IN", 8, (2,), buffer, 8, 8)
    array = tensor.as_numpy()
    assert array.flags.writeable and not array.flags.owndata
    array[:] = [1, 2]
    assert buffer[8:].view(np.int32).tolist() == [1, 2]
    assert np.shares_memory(tensor._payload(), buffer)


def test_an_array_keeps_the_buffer():
    buffer = np.zeros(8, np.uint8)
    alive = weakref.ref(buffer)
    array = pb_utils.Tensor._received("IN", 8, (2,), buffer, 0, 8).as_numpy()
    part = array[1:]
    del buffer, array
    gc.collect()
    assert alive() is not None
    del part
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1), (0,), (2, 0, 3)])
def test_shapes_of_one_and_of_no_elements(shape):
    array = np.ones(shape, np.float32)
    tensor = pb_utils.Tensor("OUT", array)
    assert tensor.shape() == list(shape) and bytes(tensor._payload()) == array.tobytes()
    got = received(11, shape, array.tobytes())
    assert got.as_numpy().shape == shape


@pytest.mark.parametrize("array", [
    np.arange(6, dtype=np.int32).reshape(2, 3).T,
    np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    np.arange(12, dtype=np.int32)[::2],
    np.broadcast_to(np.int32(7), (2, 3)),
], ids=["transposed", "fortran", "strided", "broadcast"])
def test_arrays_in_another_order_are_sent_in_c_order(array):
    tensor = pb_utils.Tensor("OUT", array)
    assert bytes(tensor._payload()) == np.ascontiguousarray(array).tobytes()
    assert tensor.as_numpy() is array


def test_bytes_that_do_not_fit_the_shape():
    with pytest.raises(pb_utils.TritonModelException, match="has 8 bytes"):
        received(8, (3,), bytes(8)).as_numpy()
    with pytest.raises(pb_utils.TritonModelException, match="has 8 bytes"):
        received(8, (2**62, 8), bytes(8)).as_numpy()


@pytest.mark.parametrize("array", [
    np.array([1j]), np.array(["text"]), np.array(["2020-01-01"], "datetime64[D]"),
    np.array([1], ">i4"), np.zeros(1, [("a", np.int32)]),
], ids=lambda a: a.dtype.str)
def test_types_that_no_tensor_has(array):
    with pytest.raises(pb_utils.TritonModelException, match="NumPy dtype is not supported."):
        pb_utils.Tensor("OUT", array)


def test_a_name_may_be_bytes():
    assert pb_utils.Tensor(b"OUT", np.zeros(1)).name() == "OUT"
    assert pb_utils.Tensor.from_dlpack(b"OUT", np.zeros(1)).name() == "OUT"


@pytest.mark.parametrize("arguments", [
    ("OUT", [1, 2]), ("OUT", 1.5), ("OUT", None), (None, np.zeros(1)), (3, np.zeros(1)),
    ("OUT",), (),
])
def test_arguments_of_other_types(arguments):
    with pytest.raises(TypeError):
        pb_utils.Tensor(*arguments)


def test_arguments_have_no_names():
    with pytest.raises(TypeError):
        pb_utils.Tensor(name="OUT", numpy_array=np.zeros(1))


def test_a_name_must_not_be_empty():
    with pytest.raises(pb_utils.TritonModelException, match="cannot be an empty string"):
        pb_utils.Tensor("", np.zeros(1))
    with pytest.raises(pb_utils.TritonModelException, match="cannot be an empty string"):
        pb_utils.Tensor.from_dlpack("", np.zeros(1))


# BYTES


def test_strings_are_encoded_when_the_tensor_is_made():
    array = np.array([[b"a\0b", "grün"], [3, b""]], np.object_)
    tensor = pb_utils.Tensor("OUT", array)
    array[0, 0] = b"later"
    assert tensor._payload() == (b"\3\0\0\0a\0b" b"\5\0\0\0gr\xc3\xbcn" b"\1\0\0\0" b"3" b"\0\0\0\0")
    assert tensor.as_numpy() is array and tensor.triton_dtype() == datatypes.BYTES


def test_strings_of_fixed_length():
    tensor = pb_utils.Tensor("OUT", np.array([b"ab", b"c"]))
    assert tensor._payload() == b"\2\0\0\0ab\1\0\0\0c"


def test_strings_in_fortran_order_are_sent_in_c_order():
    array = np.asfortranarray(np.array([[b"1", b"2"], [b"3", b"4"]], np.object_))
    got = received(datatypes.BYTES, (2, 2), pb_utils.Tensor("OUT", array)._payload())
    assert got.as_numpy().tolist() == [[b"1", b"2"], [b"3", b"4"]]


@pytest.mark.parametrize("values", [
    [b""], [b"", b"", b""], [b"x"] * 100, [b"x\0"] * 50, [b"a", b"bc"] * 40, [b"x" * 100_000],
])
def test_strings_come_back(values):
    encoded = pb_utils.Tensor("OUT", np.array(values, np.object_))._payload()
    got = received(datatypes.BYTES, (len(values),), encoded, b"before", b"after").as_numpy()
    assert got.dtype == np.object_ and got.tolist() == values
    assert {type(v) for v in got} == {bytes}


@pytest.mark.parametrize("content, text", [
    (b"\1\0\0", "incomplete length field"),
    (b"\1\0\0\0a\1\0", "incomplete length field"),
    (b"\2\0\0\0a", "string extends beyond buffer"),
    (b"\xff\xff\xff\xffa", "string extends beyond buffer"),
    (b"\1\0\0\0a\1\0\0\0b", "expected 1 elements, found 2"),
    (b"", "incomplete length field"),
])
def test_damaged_strings(content, text):
    with pytest.raises(pb_utils.TritonModelException, match=text):
        received(datatypes.BYTES, (1,), content).as_numpy()


def test_a_shape_of_many_strings_takes_no_memory():
    with pytest.raises(pb_utils.TritonModelException):
        received(datatypes.BYTES, (2**40,), b"\0\0\0\0").as_numpy()


def test_the_functions_for_strings():
    assert pb_utils.serialize_byte_tensor(np.array([b"a", "b"], np.object_)) == (
        b"\1\0\0\0a\1\0\0\0b")
    assert pb_utils.serialize_byte_tensor(np.zeros(0, np.object_)) == ()
    assert pb_utils.serialize_byte_tensor(np.zeros(3)) is None
    got = pb_utils.deserialize_bytes_tensor(b"\1\0\0\0a\0\0\0\0")
    assert got.dtype == np.object_ and got.tolist() == [b"a", b""]
    assert pb_utils.deserialize_bytes_tensor(b"").shape == (0,)
