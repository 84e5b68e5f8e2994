# SPDX-License-Identifier: Apache-2.0
"""Tensors of Python models: data types, shapes, orders of memory, DLPack, and sizes."""

import grpc_raw
import numpy as np
import pytest
from python_server import raised, snippet, texts

MODELS = ["snippets", "types", "shapes"]

NUMBERS = ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16",
           "FP32", "FP64"]


@pytest.mark.parametrize("values", [
    np.array([True, False]), np.array([0, 255], np.uint8), np.array([65535], np.uint16),
    np.array([2**32 - 1], np.uint32), np.array([2**64 - 1], np.uint64),
    np.array([-128, 127], np.int8), np.array([-32768], np.int16), np.array([-2**31], np.int32),
    np.array([-2**63], np.int64), np.array([0.5, -np.inf], np.float16),
    np.array([1e-40, 3.5], np.float32), np.array([1e300, np.pi]),
], ids=lambda v: str(v.dtype))
def test_every_data_type(python_client, values):
    client = python_client
    datatype = client.input("X", values).datatype()
    answer = client.infer("types", [client.input(f"IN_{datatype}", values)], [f"OUT_{datatype}"])
    got = answer.array(f"OUT_{datatype}")
    assert got.dtype == values.dtype and got.tolist() == values.tolist()


@pytest.mark.parametrize("values", [
    ["abc"], ["Grüße, 世界", ""], [""], [b"\x00\xff\xfe", b"\x00"], ["x" * 100_000],
    ["same"] * 1000, [b"%d" % i for i in range(1000)],
], ids=["ascii", "non_ascii", "empty", "bytes", "long", "equal", "different"])
def test_strings(python_client, values):
    sent = texts(*values)
    client = python_client
    answer = client.infer("types", [client.input("IN_BYTES", sent)], ["OUT_BYTES"])
    assert answer.array("OUT_BYTES").tolist() == sent.tolist()


@pytest.mark.parametrize("made, expected", [
    ("np.array([b'ab', b'c'])", [b"ab", b"c"]),
    ("np.array(['grün', 3, 2.5, None, b'x'], np.object_)",
     ["grün".encode(), b"3", b"2.5", b"None", b"x"]),
    ("np.array([[b'1', b'2'], [b'3', b'4']], np.object_).T", [[b"1", b"3"], [b"2", b"4"]]),
    ("np.asfortranarray(np.array([[b'1', b'2'], [b'3', b'4']], np.object_))",
     [[b"1", b"2"], [b"3", b"4"]]),
], ids=["fixed_length", "mixed", "transposed", "fortran"])
def test_strings_that_a_model_makes(python_client, made, expected):
    client = python_client
    answer = client.infer("shapes", [client.input("MADE", texts(made))], ["STRINGS"])
    assert answer.array("STRINGS").tolist() == expected


@pytest.mark.parametrize("made, expected", [
    ("np.float32(7) * np.ones(())", 7.0),
    ("np.ones((1, 1, 1), np.float32)", [[[1.0]]]),
    ("np.zeros((0,), np.float32)", []),
    ("np.zeros((2, 0, 3), np.float32)", [[], []]),
    ("np.arange(6, dtype=np.float32).reshape(2, 3).T", [[0, 3], [1, 4], [2, 5]]),
    ("np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))", [[0, 1, 2], [3, 4, 5]]),
    ("np.arange(12, dtype=np.float32)[1::4]", [1, 5, 9]),
    ("np.arange(6, dtype=np.float32)[::-1]", [5, 4, 3, 2, 1, 0]),
    ("np.broadcast_to(np.float32(7), (2, 2))", [[7, 7], [7, 7]]),
], ids=["scalar", "ones", "zero", "zero_inside", "transposed", "fortran", "strided", "reversed",
        "broadcast"])
def test_shapes_and_orders_of_memory(python_client, made, expected):
    client = python_client
    made = made if ".ones(())" not in made else "np.full((), 7, np.float32)"
    answer = client.infer("shapes", [client.input("MADE", texts(made))], ["NUMBERS"])
    assert answer.array("NUMBERS").tolist() == expected


@pytest.mark.parametrize("shape", [(0,), (3,)])
def test_tensors_with_and_without_elements(python_client, shape):
    client = python_client
    sent = np.ones(shape, np.float32)
    answer = client.infer("types", [client.input("IN_FP32", sent)], ["OUT_FP32"])
    assert answer.array("OUT_FP32").shape == shape


@pytest.mark.parametrize("array, kind", [
    ("np.array([1j])", "complex"), ("np.array(['text'])", "str"),
    ("np.array(['2020-01-01'], 'datetime64[D]')", "date"), ("np.array([1], '>i4')", "big_endian"),
], ids=lambda v: v if "(" not in v else "")
def test_types_that_no_tensor_has(python_client, array, kind):
    text = raised(python_client, f"pb_utils.Tensor('A', {array})")
    assert text == "TritonModelException: NumPy dtype is not supported."


@pytest.mark.parametrize("arguments", [
    "'A', [1, 2]", "'A', 1.5", "'A', None", "None, np.zeros(1)", "name='A', numpy_array=np.zeros(1)",
    "'A'",
])
def test_tensors_of_other_types(python_client, arguments):
    assert raised(python_client, f"pb_utils.Tensor({arguments})").startswith("TypeError: ")


def test_a_name_must_not_be_empty(python_client):
    assert raised(python_client, "pb_utils.Tensor('', np.zeros(1))") == (
        "TritonModelException: Tensor name cannot be an empty string.")


def test_the_array_of_a_tensor_is_the_models_own(python_client):
    assert snippet(python_client, """
array = np.array([b"a", 3], np.object_)
numbers = np.arange(6).reshape(2, 3)
tensor = pb_utils.Tensor("A", numbers)
return [pb_utils.Tensor("B", array).as_numpy().tolist()[1], tensor.as_numpy().tolist(),
        tensor.name(), list(tensor.shape()), tensor.is_cpu()]
""") == [3, [[0, 1, 2], [3, 4, 5]], "A", [2, 3], True]


def test_an_array_that_was_received_may_be_changed(python_client):
    client = python_client
    sent = np.arange(4, dtype=np.float32)
    answer = client.infer("shapes", [client.input("CHANGED", sent)], ["NUMBERS"])
    assert answer.array("NUMBERS").tolist() == [100, 1, 2, 3]
    assert snippet(client, """
array = request.inputs()[0].as_numpy()
return [bool(array.flags.writeable), array.dtype.name]
""")[1] == "object"


def test_the_number_of_the_data_type(python_client):
    assert snippet(python_client, """
kinds = [np.bool_, np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64,
         np.float16, np.float32, np.float64, np.object_]
return [int(pb_utils.Tensor("A", np.zeros(1, kind)).triton_dtype()) for kind in kinds]
""") == list(range(1, 14))


# DLPack


def test_every_data_type_through_dlpack(python_client):
    assert snippet(python_client, """
kinds = [np.bool_, np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64,
         np.float16, np.float32, np.float64]
for kind in kinds:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(kind)
    tensor = pb_utils.Tensor.from_dlpack("B", pb_utils.Tensor("A", array))
    back = pb_utils.Tensor.from_dlpack("C", tensor.to_dlpack())
    assert back.name() == "C" and list(back.shape()) == [2, 3], kind
    assert back.as_numpy().dtype == array.dtype, kind
    assert back.as_numpy().tolist() == array.tolist(), kind
    assert np.shares_memory(back.as_numpy(), array), kind
return "all"
""") == "all"


def test_dlpack_of_numpy(python_client):
    assert snippet(python_client, """
array = np.arange(6, dtype=np.float32).reshape(2, 3)
tensor = pb_utils.Tensor.from_dlpack("A", array)
del array
return [tensor.as_numpy().tolist(), np.from_dlpack(tensor).tolist()]
""") == [[[0, 1, 2], [3, 4, 5]]] * 2


def test_bf16_through_dlpack(python_client, python):
    message = grpc_raw.infer_request("shapes", [grpc_raw.tensor("BF16", "BF16", [2])],
                                     [b"\x80\x3f\x00\x40"], outputs=["BF16_OUT"])
    answer = grpc_raw.call(python, "ModelInfer", message)
    assert answer.outputs[0].datatype == "BF16"
    assert answer.raw_output_contents[0] == b"\x80\x3f\x00\x40"


def test_bf16_is_no_type_of_numpy(python):
    message = grpc_raw.infer_request("types", [grpc_raw.tensor("IN_BF16", "BF16", [1])],
                                     [b"\x80\x3f"], outputs=["OUT_BF16"])
    status, text = grpc_raw.failure(python, "ModelInfer", message)
    assert status == "INTERNAL"
    assert ("Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and "
            "from_dlpack() instead.") in text


@pytest.mark.parametrize("code, text", [
    ("pb_utils.Tensor('A', np.array([b'a'], np.object_)).to_dlpack()",
     "DLPack does not have support for string tensors."),
    ("pb_utils.Tensor.from_dlpack('A', [1, 2])", "Provided tensor is not supported."),
    ("pb_utils.Tensor.from_dlpack('A', pb_utils.Tensor('B', np.zeros(1)).as_numpy)",
     "Provided tensor is not supported."),
], ids=["strings", "list", "function"])
def test_dlpack_that_cannot_be(python_client, code, text):
    assert raised(python_client, code).startswith(f"TritonModelException: {text}")


def test_dlpack_needs_c_order(python_client):
    assert raised(python_client, """
class Transposed:
    array = np.arange(6).reshape(2, 3).T
    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()
    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
pb_utils.Tensor.from_dlpack("A", Transposed())
""") == ("TritonModelException: DLPack tensor is not contiguous. Only contiguous DLPack tensors that "
         "are stored in C-Order are supported.")


def test_a_capsule_is_used_once(python_client):
    assert "TritonModelException" in raised(python_client, """
capsule = pb_utils.Tensor("A", np.zeros(3)).to_dlpack()
pb_utils.Tensor.from_dlpack("B", capsule)
pb_utils.Tensor.from_dlpack("C", capsule)
""")


# Sizes


@pytest.mark.parametrize("mib", [1, 64])
def test_large_tensors(python_client, mib):
    client = python_client
    sent = np.arange(mib * 2**18, dtype=np.float32)
    answer = client.infer("types", [client.input("IN_FP32", sent)], ["OUT_FP32"])
    assert (answer.array("OUT_FP32") == sent).all()


def test_many_sizes_one_after_the_other(python_grpc):
    """Memory that tensors leave is used for the next ones; no byte of an earlier one is seen."""
    client = python_grpc
    for size in [1, 1000, 17, 300_000, 5, 1_000_000, 2, 300_000, 0, 70_000]:
        sent = np.full(size, size % 251, np.uint8)
        answer = client.infer("types", [client.input("IN_UINT8", sent)], ["OUT_UINT8"])
        assert answer.array("OUT_UINT8").tobytes() == sent.tobytes()


def test_a_tensor_that_is_too_large_fails_alone(python_client):
    client = python_client
    made = "np.broadcast_to(np.float32(0), (2**45,))"
    status, text = client.error(
        client.infer, "shapes", [client.input("MADE", texts(made))], ["NUMBERS"])
    assert status in (500, "INTERNAL")
    answer = client.infer("shapes", [client.input("MADE", texts("np.ones(1, np.float32)"))],
                          ["NUMBERS"])
    assert answer.array("NUMBERS").tolist() == [1]
