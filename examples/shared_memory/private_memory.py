#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inference with tensors in memory that has no name, over the server's Unix socket.

    examples/shared_memory/private_memory.py SOCKET MODEL

The client creates anonymous memory (memfd_create) and sends its descriptor with the request that
registers it. No other process can open the memory, and it is freed when its users are gone. Sends
numbers to a model with the INT32 input INPUT0 and the output OUTPUT0 and prints what comes back.
Needs only Python's standard library.
"""

import http.client
import json
import mmap
import os
import socket
import struct
import sys


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket. A request may bring one descriptor."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path
        self.descriptors = []

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def send(self, data):
        if self.sock is None:
            self.connect()
        if self.descriptors:
            # With the first bytes of the request: the server wants it before the request is complete.
            sent = socket.send_fds(self.sock, [data], self.descriptors)
            self.descriptors, data = [], data[sent:]
        if data:
            self.sock.sendall(data)


class Client:
    def __init__(self, path):
        self.connection = UnixConnection(path)

    def post(self, path, document, descriptors=()):
        """Returns the reply, a JSON document. Raises RuntimeError with the server's error."""
        self.connection.descriptors = list(descriptors)
        self.connection.request("POST", path, json.dumps(document),
                                {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{reply.status}: {text.decode()}")
        return json.loads(text) if text else None

    def close(self):
        self.connection.close()


class PrivateRegion:
    """Anonymous memory that this process and the server share."""

    def __init__(self, client, name, size):
        self.client, self.name = client, name
        descriptor = os.memfd_create(name)
        try:
            os.ftruncate(descriptor, size)
            self.memory = mmap.mmap(descriptor, size)
            client.post(f"/v2/systemsharedmemory/region/{name}/register", {"byte_size": size},
                        [descriptor])
        finally:
            os.close(descriptor)  # the mappings keep the memory

    def part(self, offset, size):
        """Returns the parameters of a tensor that is in a part of the region."""
        return {"shared_memory_region": self.name, "shared_memory_offset": offset,
                "shared_memory_byte_size": size}

    def close(self):
        self.client.post(f"/v2/systemsharedmemory/region/{self.name}/unregister", {})
        self.memory.close()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    client = Client(sys.argv[1])
    numbers = [1, 2, 3, 4]
    half = len(numbers) * 4
    region = PrivateRegion(client, "private", 2 * half)
    region.memory[:half] = struct.pack("4i", *numbers)
    client.post(f"/v2/models/{sys.argv[2]}/infer", {
        "inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [len(numbers)],
                    "parameters": region.part(0, half)}],
        "outputs": [{"name": "OUTPUT0", "parameters": region.part(half, half)}]})
    print(*struct.unpack("4i", region.memory[half:]))
    region.close()
    client.close()


if __name__ == "__main__":
    main()
