# SPDX-License-Identifier: Apache-2.0
"""Makes requests and responses of messages."""

from typing import Any, Dict, FrozenSet, List, Tuple

from nereid_pb.errors import ErrorCode, TritonError
from nereid_pb.gpu_tensor import GpuTensor, SegmentUse
from nereid_pb.request import InferenceRequest
from nereid_pb.response import InferenceResponse
from nereid_pb.tensor import Tensor

from . import protocol
from .channel import Memory, Message

_unpack_batch = protocol.BATCH.unpack_from
_unpack_request = protocol.REQUEST.unpack_from
_unpack_tensor = protocol.TENSOR.unpack_from
_unpack_u32 = protocol.U32.unpack_from
_unpack_pair = protocol.U32_PAIR.unpack_from
_REQUEST_SIZE = protocol.REQUEST.size
_TENSOR_SIZE = protocol.TENSOR.size
_SHAPES = protocol.SHAPES
_NO_TEXT = protocol.NO_TEXT
_received_request = InferenceRequest._received
_received_tensor = Tensor._received
_received_on_gpu = GpuTensor._received_on_gpu

# More texts than this are not remembered.
_MAX_TEXTS = 4096


class Decoder:
    """Decodes the messages of one channel. Remembers names, which are the same in each message."""

    def __init__(self, memory: Memory, decoupled: bool) -> None:
        self._segments = memory.server
        self._decoupled = decoupled
        self._names: Dict[bytes, str] = {}
        self._sets: Dict[bytes, FrozenSet[str]] = {}

    def batch(self, message: Message) -> List[InferenceRequest]:
        """Returns the requests of an EXECUTE message."""
        view = message.view
        at = message.body
        count, data_begin = _unpack_batch(view, at)
        at += 8
        # One copy of all small tensors: the buffer of the message is used again.
        data = bytearray(view[data_begin:])
        uses: Dict[int, Any] = {}
        requests = []
        for _ in range(count):
            (number, correlation, timeout, flags, traced, inputs, id_size, correlation_size,
             parameters_size, outputs_size) = _unpack_request(view, at)
            at += _REQUEST_SIZE
            request_id = ""
            if id_size:
                request_id = str(view[at:at + id_size], "utf-8", "replace")
                at += id_size
            if correlation_size != _NO_TEXT:
                correlation = str(view[at:at + correlation_size], "utf-8", "replace")
                at += correlation_size
            parameters = b""
            if parameters_size:
                parameters = bytes(view[at:at + parameters_size])
                at += parameters_size
            outputs = bytes(view[at:at + outputs_size])
            at += outputs_size
            requested = self._sets.get(outputs)
            if requested is None:
                requested = self._set(outputs)
            tensors, at = self._tensors(view, at, inputs, data, uses)
            requests.append(_received_request(
                number, request_id, correlation, flags, timeout, parameters, requested, tensors,
                number if traced else 0, self._decoupled))
        return requests

    def _tensors(self, view: memoryview, at: int, count: int, data: bytearray, uses: Dict[int, Any]
                 ) -> Tuple[List[Tensor], int]:
        tensors: List[Tensor] = []
        for _ in range(count):
            data_type, rank, name_size, segment, offset, size = _unpack_tensor(view, at)
            at += _TENSOR_SIZE
            raw = bytes(view[at:at + name_size])
            name = self._names.get(raw)
            if name is None:
                name = self._name(raw)
            at += name_size
            shape = (_SHAPES[rank] if rank < 16 else protocol.shape_struct(rank)).unpack_from(view, at)
            at += 8 * rank
            buffer: Any = data
            if segment:
                buffer = uses.get(segment)
                if buffer is None:
                    buffer = uses[segment] = self._segments.use(segment)
                if type(buffer) is SegmentUse:
                    tensors.append(_received_on_gpu(name, data_type, shape, buffer, offset, size))
                    continue
            tensors.append(_received_tensor(name, data_type, shape, buffer, offset, size))
        return tensors, at

    def _name(self, raw: bytes) -> str:
        name = raw.decode("utf-8", "replace")
        if len(self._names) < _MAX_TEXTS:
            self._names[raw] = name
        return name

    def _set(self, raw: bytes) -> FrozenSet[str]:
        names = frozenset(raw.decode("utf-8", "replace").split("\0")[:-1])
        if len(self._sets) < _MAX_TEXTS:
            self._sets[raw] = names
        return names

    def response(self, message: Message) -> Tuple[bool, Any]:
        """Returns whether an INFER_RESPONSE is the final one, and its response or None."""
        view = message.view
        at = message.body
        final, data_begin = _unpack_pair(view, at)
        kind = _unpack_u32(view, at + 8)[0]
        at += 12
        if kind == protocol.NONE:
            return bool(final), None
        if kind == protocol.ERROR:
            code, size = _unpack_pair(view, at)
            text = str(view[at + 8:at + 8 + size], "utf-8", "replace")
            try:
                error = TritonError(text, ErrorCode(code))
            except ValueError:
                error = TritonError(text)
            return bool(final), InferenceResponse._received([], error, b"")
        size = _unpack_u32(view, at)[0]
        parameters = bytes(view[at + 4:at + 4 + size])
        at += 4 + size
        count = _unpack_u32(view, at)[0]
        tensors, _ = self._tensors(view, at + 4, count, bytearray(view[data_begin:]), {})
        return bool(final), InferenceResponse._received(tensors, None, parameters)
