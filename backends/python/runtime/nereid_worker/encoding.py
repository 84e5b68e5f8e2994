# SPDX-License-Identifier: Apache-2.0
"""Writes what a model has made into messages."""

import os
from typing import Any, Dict, Iterable, List, Tuple

import numpy as np
from nereid_pb.cuda import CudaError, driver
from nereid_pb.gpu_tensor import GpuTensor

from . import protocol
from .channel import Channel
from .segments import aligned, are_kept

_pack_tensor = protocol.TENSOR.pack
_pack_u32 = protocol.U32.pack
_pack_pair = protocol.U32_PAIR.pack
_SHAPES = protocol.SHAPES
_MAX_INLINE = protocol.MAX_INLINE_TENSOR
_MAX_DATA = protocol.MAX_DATA
_BYTES_TYPES = (bytes, bytearray)
_NONE = _pack_u32(protocol.NONE)
_RESCHEDULE = _pack_u32(protocol.RESCHEDULE)
_LATER = _pack_u32(protocol.LATER)
_RESPONSE = _pack_u32(protocol.RESPONSE)


class Encoder:
    """Collects the parts of one message: the description of tensors, and their content.

    Small content follows the description. Large content that lies in a segment of the server is left
    there; other large content is copied into one segment of the worker, and content on GPUs into one
    on each GPU.
    """

    __slots__ = ("_channel", "_data_size", "_held", "_large", "_large_size", "_on_gpus", "data", "meta")

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.meta: List[bytes] = []
        self.data: List[Any] = []
        self._data_size = 0
        # The positions in `meta` of tensors whose segment is not known yet, and their content.
        self._large: List[Any] = []
        self._large_size = 0
        # By segment of the server: the positions in `meta` of the tensors in it, and their content.
        self._held: Dict[int, Tuple[List[Any], List[Any]]] = {}
        # By device: as _large, with tensors and without an offset.
        self._on_gpus: Dict[int, List[Any]] = {}

    def tensors(self, tensors: Iterable[Any]) -> None:
        """Adds tensors."""
        meta = self.meta
        for tensor in tensors:
            payload = tensor._payload()
            size = len(payload) if type(payload) in _BYTES_TYPES else payload.nbytes
            if size <= _MAX_INLINE and type(payload) is GpuTensor:
                payload = payload._to_host()
            shape = tensor._shape
            name = tensor._name.encode()
            rank = len(shape)
            if size <= _MAX_INLINE and self._data_size + size <= _MAX_DATA:
                meta.append(_pack_tensor(tensor._data_type, rank, len(name), 0, self._data_size, size))
                self._data_size += size
                if size:
                    self.data.append(payload)
            else:
                self._place(tensor._data_type, rank, name, payload, size)
            meta.append(name)
            if rank:
                meta.append((_SHAPES[rank] if rank < 16 else protocol.shape_struct(rank)).pack(*shape))

    def _place(self, data_type: int, rank: int, name: bytes, payload: Any, size: int) -> None:
        found = None
        if isinstance(payload, np.ndarray):
            found = self._channel.memory.server.find(payload)
        place = (len(self.meta), data_type, rank, len(name), size)
        if type(payload) is GpuTensor:
            self.meta.append(b"")
            self._on_gpus.setdefault(payload._locate()[0], []).append((place, payload))
            return
        if found is not None:
            self.meta.append(_pack_tensor(data_type, rank, len(name), *found, size))
            places, payloads = self._held.setdefault(found[0], ([], []))
            places.append(place)
            payloads.append(payload)
            return
        self.meta.append(b"")
        self._copy(place, payload)

    def _copy(self, place: Any, payload: Any) -> None:
        offset = aligned(self._large_size)
        self._large_size = offset + place[-1]
        self._large.append((place, offset, payload))

    def _take(self, size: int, taken: List[int], device: int = -1, uuid: bytes = b"") -> Tuple[int, Any]:
        """Takes a segment, which is added to `taken`, and passes it to the server. Returns its id and its
        memory. Raises the errors of OutputSegments.take()."""
        segment, memory, file = self._channel.memory.outputs.take(size, device)
        taken.append(segment)
        try:
            if file >= 0:
                self._channel.announce(segment, len(memory), file, uuid)
        finally:
            if file >= 0:
                os.close(file)
        return segment, memory

    def _copy_on_gpu(self, device: int, tensors: List[Any], taken: List[int]) -> None:
        """Copies tensors into a segment on their GPU, which is added to `taken`, and passes that. Without
        room there, or if the server does not share that GPU's memory, they are copied to host memory."""
        size = sum(aligned(place[-1]) for place, _ in tensors)
        try:
            uuid = driver().uuid(device)
            if uuid not in self._channel.memory.gpus:
                raise MemoryError
            segment, shared = self._take(size, taken, device, uuid)
        except (CudaError, MemoryError):
            for place, tensor in tensors:
                self._copy(place, tensor._to_host())
            return
        copies = []
        offset = 0
        for place, tensor in tensors:
            position, data_type, rank, name_size, size = place
            copies.append((shared.address + offset, tensor._locate()[1], size))
            self.meta[position] = _pack_tensor(data_type, rank, name_size, segment, offset, size)
            offset += aligned(size)
        driver().copy(device, copies)

    def _copy_large(self, taken: List[int]) -> None:
        """Copies large tensors into segments of the worker, which are added to `taken`, and passes those."""
        for device, tensors in self._on_gpus.items():
            self._copy_on_gpu(device, tensors, taken)
        if not self._large_size:
            return
        segment, memory = self._take(self._large_size, taken)
        for place, offset, payload in self._large:
            position, data_type, rank, name_size, size = place
            memory[offset:offset + size] = payload
            self.meta[position] = _pack_tensor(data_type, rank, name_size, segment, offset, size)

    def _copy_kept(self) -> None:
        """Copies what lies in segments of the server and could still change."""
        for segment in [one for one, (_, payloads) in self._held.items() if are_kept(payloads)]:
            for place, payload in zip(*self._held.pop(segment)):
                self._copy(place, payload)

    def response(self, response: Any, requested: Any) -> None:
        """Adds a response, without the outputs that were not requested and are no states."""
        error = response._error
        if error is not None:
            self.error(error._message, error._code)
            return
        outputs = response._outputs
        for tensor in outputs:
            if tensor._name not in requested:
                wanted = frozenset(requested) | self._channel.states
                outputs = [tensor for tensor in outputs if tensor._name in wanted]
                break
        parameters = response._parameters
        self.meta.append(_RESPONSE + _pack_u32(len(parameters)) + parameters
                         + _pack_u32(len(outputs)))
        self.tensors(outputs)

    def error(self, message: str, code: int) -> None:
        """Adds an error."""
        self.meta.append(_error(message, code))

    def none(self) -> None:
        """Adds that there is no response."""
        self.meta.append(_NONE)

    def later(self) -> int:
        """Adds that the response sender answers the request. Returns the place for make_error()."""
        self.meta.append(_LATER)
        return len(self.meta) - 1

    def make_error(self, place: int, message: str, code: int) -> None:
        """Makes what later() has added an error."""
        self.meta[place] = _error(message, code)

    def reschedule(self) -> None:
        """Adds that the request is to be executed again."""
        self.meta.append(_RESCHEDULE)

    def send(self, kind: int, number: int) -> None:
        """Copies the large tensors and sends the message.

        The server may pass results to clients for a long time after it has them. So the caller drops
        requests and responses before: what something still refers to then is copied.
        """
        if kind == protocol.RESULTS and self._held:
            self._copy_kept()
        if self._large_size or self._on_gpus:
            taken: List[int] = []
            try:
                self._copy_large(taken)
            except BaseException:
                self._channel.memory.outputs.give_back(taken)
                raise
        if self._held:
            for held, (_, payloads) in self._held.items():
                self._channel.memory.server.hold(held, payloads)
            self._held = {}
        meta = b"".join(self.meta)
        self._channel.send(kind, number, [meta, *self.data] if self.data else [meta])


def _error(message: str, code: int) -> bytes:
    text = message.encode("utf-8", "replace").replace(b"\0", b"\\0")
    return _pack_u32(protocol.ERROR) + _pack_pair(int(code), len(text)) + text
