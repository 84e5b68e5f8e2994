# SPDX-License-Identifier: Apache-2.0
"""Tensors in the memory of the fake GPU (tests/fake_gpu), whose library NEREID_FAKE_CUDA names."""

import ctypes
import gc
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils
from nereid_pb import cuda, dlpack
from nereid_pb.gpu_tensor import GpuTensor, SegmentUse
from nereid_worker import protocol
from nereid_worker.channel import Channel, Memory
from nereid_worker.encoding import Encoder
from nereid_worker.segments import ServerSegments

LIBRARY = os.environ.get("NEREID_FAKE_CUDA", "")
UNIT = 2 << 20
VALUES = np.arange(10_000, dtype=np.float32)
RUNTIME = Path(__file__).resolve().parents[1] / "runtime"

pytestmark = pytest.mark.skipif(not LIBRARY or not Path(LIBRARY).exists(),
                                reason="NEREID_FAKE_CUDA names no driver")


@pytest.fixture(scope="module", autouse=True)
def fake():
    """Loads the driver under its name, so that it is found where the name is opened later."""
    library = ctypes.CDLL(LIBRARY)
    yield library
    library.fake_gpu_fail(b"")


@pytest.fixture
def fail(fake):
    yield fake.fake_gpu_fail
    fake.fake_gpu_fail(b"")


def shared(values):
    """Returns memory of the GPU with a copy of the values, and its file."""
    memory, file = cuda.SharedMemory.create(0, values.nbytes)
    cuda.driver().copy(0, [(memory.address, values.ctypes.data, values.nbytes)])
    return memory, file


def received(values, name="IN", offset=0):
    """Returns a tensor as one of a message of the server."""
    whole = np.concatenate([np.zeros(offset, np.uint8), values.view(np.uint8).reshape(-1)])
    memory, file = shared(whole)
    opened = cuda.SharedMemory(memory.uuid, memory.size, file)
    return GpuTensor._received_on_gpu(name, 11, values.shape, SegmentUse(opened), offset, values.nbytes)


def content(tensor):
    return np.frombuffer(tensor._to_host(), np.float32).reshape(tensor.shape())


def test_memory_is_shared_by_its_file():
    memory, file = shared(VALUES)
    assert memory.size == len(memory) == UNIT and memory.device == 0
    other = cuda.SharedMemory(memory.uuid, memory.size, file)
    assert other.address == 0, "it is opened when it is used"
    assert other.open().open().address not in (0, memory.address)
    with pytest.raises(OSError):
        os.fstat(file)
    del memory
    assert cuda.driver().read(0, other.address, VALUES.nbytes) == VALUES.tobytes()


def test_memory_is_freed_with_its_object(fake):
    fake.fake_gpu_allocated_bytes.restype = ctypes.c_size_t
    before = fake.fake_gpu_allocated_bytes(0)
    memory, file = shared(VALUES)
    os.close(file)
    assert fake.fake_gpu_allocated_bytes(0) == before + UNIT
    del memory
    assert fake.fake_gpu_allocated_bytes(0) == before


@pytest.mark.parametrize("function", ["cuMemCreate", "cuMemExportToShareableHandle", "cuMemMap",
                                      "cuMemAddressReserve", "cuMemSetAccess"])
def test_what_fails_leaves_nothing(fake, fail, function):
    before = fake.fake_gpu_allocated_bytes(0), len(os.listdir("/proc/self/fd"))
    fail(f"{function}=2".encode())
    with pytest.raises(cuda.CudaError, match=f"CUDA: .* \\({function}, error 2\\)"):
        cuda.SharedMemory.create(0, 100)
    fail(b"")
    assert (fake.fake_gpu_allocated_bytes(0), len(os.listdir("/proc/self/fd"))) == before


def test_a_file_that_is_no_memory_of_a_gpu():
    memory = cuda.SharedMemory(cuda.driver().uuid(0), UNIT, os.memfd_create("other"))
    with pytest.raises(cuda.CudaError, match="cuMemImportFromShareableHandle"):
        memory.open()


def test_gpus_that_the_process_does_not_have():
    with pytest.raises(cuda.CudaError, match="has no GPU 7"):
        cuda.driver().uuid(7)
    with pytest.raises(cuda.CudaError, match="does not see the GPU that has the tensor"):
        cuda.SharedMemory(b"x" * 16, UNIT, os.memfd_create("other")).open()


def test_a_received_tensor():
    tensor = received(VALUES.reshape(100, 100), offset=64)
    assert isinstance(tensor, pb_utils.Tensor)
    assert (tensor.name(), tensor.shape(), tensor.triton_dtype()) == ("IN", [100, 100], 11)
    assert not tensor.is_cpu() and tensor.__dlpack_device__() == (dlpack.CUDA, 0)
    assert np.array_equal(content(tensor), VALUES.reshape(100, 100))
    with pytest.raises(pb_utils.TritonModelException, match="stored in GPU"):
        tensor.as_numpy()


def test_there_and_back_by_dlpack():
    tensor = received(VALUES)
    for source in (tensor, tensor.to_dlpack()):
        back = pb_utils.Tensor.from_dlpack("B", source)
        assert not back.is_cpu() and back.shape() == [len(VALUES)] and back.triton_dtype() == 11
        assert back._locate() == tensor._locate()
    del tensor, source
    gc.collect()
    assert np.array_equal(content(back), VALUES), "the memory is kept"
    del back
    assert not dlpack._exports


def test_an_unused_capsule_keeps_the_memory_as_long_as_it_lives():
    capsule = received(VALUES).to_dlpack()
    gc.collect()
    assert len(dlpack._exports) == 1
    assert np.array_equal(content(pb_utils.Tensor.from_dlpack("A", capsule)), VALUES)
    assert not dlpack._exports
    capsule = received(VALUES).to_dlpack()
    del capsule
    assert not dlpack._exports


def test_the_use_of_a_segment_ends_with_its_last_tensor():
    memory, file = shared(VALUES)
    segments = ServerSegments()
    segments.announce(7, memory.size, file, memory.uuid)
    use = segments.use(7)
    assert type(use) is SegmentUse and segments.size(7) == UNIT
    tensor = GpuTensor._received_on_gpu("IN", 11, VALUES.shape, use, 0, VALUES.nbytes)
    capsule = tensor.to_dlpack()
    del use, tensor
    assert segments.take_released() == []
    del capsule
    assert segments.take_released() == [7]
    segments.announce(7, 0, -1)
    assert segments.size(7) == 0


# Messages


@pytest.fixture
def channel():
    """A channel, and the socket of the server."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made = Channel(ends[0].detach(), Memory(8 * UNIT))
    made.memory.gpus = [cuda.driver().uuid(0)]
    with made.socket, ends[1]:
        yield made, ends[1]


def send(channel, *tensors):
    encoder = Encoder(channel)
    encoder.tensors(tensors)
    encoder.send(protocol.INFER, 1)


def described(message, index=0):
    """Returns (segment, offset, size) of a tensor without a name and with one dimension."""
    at = protocol.HEADER.size + index * (protocol.TENSOR.size + len("IN") + 8)
    return protocol.TENSOR.unpack_from(message, at)[3:]


def test_a_large_tensor_is_copied_to_a_segment_on_its_gpu(channel):
    channel, server = channel
    send(channel, received(VALUES), received(VALUES * 2))
    announced, files, _, _ = socket.recv_fds(server, 100, 4)
    assert announced[16:] == protocol.U64.pack(UNIT) + cuda.driver().uuid(0)
    memory = cuda.SharedMemory(announced[24:], UNIT, files[0]).open()
    message = server.recv(1000)
    for i in range(2):
        segment, offset, size = described(message, i)
        assert segment == protocol.WORKER_SEGMENT and size == VALUES.nbytes
        assert cuda.driver().read(0, memory.address + offset, size) == (VALUES * (i + 1)).tobytes()
    channel.memory.outputs.give_back([protocol.WORKER_SEGMENT])
    send(channel, received(VALUES))
    assert described(server.recv(1000))[0] == protocol.WORKER_SEGMENT, "it is used again"


def test_a_small_tensor_is_in_the_message(channel):
    channel, server = channel
    send(channel, received(VALUES[:4]))
    message = server.recv(1000)
    assert described(message) == (0, 0, 16)
    assert message.endswith(VALUES[:4].tobytes())


@pytest.mark.parametrize("reason", ["unknown", "full"])
def test_a_tensor_that_cannot_stay_on_its_gpu_goes_through_host_memory(channel, fail, reason):
    channel, server = channel
    tensor = received(VALUES)
    tensor._locate()
    if reason == "full":
        fail(b"cuMemCreate=2")
    else:
        channel.memory.gpus = []
    send(channel, tensor)
    announced, files, _, _ = socket.recv_fds(server, 100, 4)
    assert len(announced) == 24, "a segment in host memory"
    _, offset, size = described(server.recv(1000))
    assert os.pread(files[0], size, offset) == VALUES.tobytes()
    os.close(files[0])


def test_a_failed_copy_is_raised_and_the_segment_stays_usable(channel, fail):
    channel, server = channel
    tensor = received(VALUES)
    tensor._locate()
    fail(b"cuMemcpyAsync=1")
    with pytest.raises(cuda.CudaError, match="cuMemcpyAsync"):
        send(channel, tensor)
    fail(b"")
    send(channel, tensor)
    assert described(server.recv(1000) and server.recv(1000))[0] == protocol.WORKER_SEGMENT


def test_a_message_without_room_in_host_memory_gives_its_gpu_segment_back(channel):
    channel, server = channel
    outputs = channel.memory.outputs
    large = pb_utils.Tensor("IN", np.zeros(8 * UNIT, np.uint8))
    for _ in range(20):
        with pytest.raises(MemoryError, match="shared_memory_limit_bytes"):
            send(channel, received(VALUES), large)
    assert outputs._total == UNIT and outputs._free == [protocol.WORKER_SEGMENT]


def test_a_context_that_is_broken_for_good_is_noticed(fail):
    received(VALUES)._locate()
    assert cuda.failure() == ""
    fail(b"cuMemcpyAsync=1")
    with pytest.raises(cuda.CudaError):
        content(received(VALUES))
    assert cuda.failure() == "", "a failed call breaks nothing"
    fail(b"cuMemGetInfo_v2=710")
    assert cuda.failure().endswith("(CUDA error 710)")


def test_without_a_driver():
    code = ("import sys; sys.path.insert(0, sys.argv[1])\n"
            "from nereid_pb import cuda\n"
            "for _ in range(2):\n"
            "    try: cuda.driver()\n"
            "    except cuda.CudaError as error: print(error)\n")
    environment = {**os.environ, "NEREID_FAKE_GPUS": "0", "LD_LIBRARY_PATH": str(Path(LIBRARY).parent)}
    done = subprocess.run([sys.executable, "-c", code, str(RUNTIME)], env=environment, check=True,
                          capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert first == second and first.startswith("CUDA: ") and "cuInit" in first
