# SPDX-License-Identifier: Apache-2.0
"""A client of REST over HTTP/2, on the package h2: several requests on one connection."""

import socket

import h2.config
import h2.connection
import h2.events
import h2.settings
from raw_http import Response


class Reset(Exception):
    """The server has reset the stream; `code` is HTTP/2's."""

    def __init__(self, code):
        super().__init__(f"the stream was reset with the code {code}")
        self.code = code


class Http2Client:
    """One connection to the HTTP port. `tls` is the context of a server with TLS, which must offer
    h2; `window` is the initial window of each stream."""

    def __init__(self, server, tls=None, port=None, window=None, timeout=60):
        self.server = server
        if port is None and server.http_socket:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(str(server.http_socket))
        else:
            self.socket = socket.create_connection(("127.0.0.1", port or server.http_port),
                                                   timeout=timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
            assert self.socket.selected_alpn_protocol() == "h2"
        # The tests send what no good client would send.
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=True, header_encoding="latin-1", validate_outbound_headers=False,
            normalize_outbound_headers=False))
        self.h2.initiate_connection()
        if window is not None:
            self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.reads = window is None  # whether what arrives enlarges the windows again
        self.responses, self.ended, self.resets, self.informed = {}, set(), {}, {}
        self.goaway = None
        self.has_settings = False
        self._flush()
        while not self.has_settings or (
                window is not None and self.h2.local_settings.initial_window_size != window):
            self.receive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def _flush(self):
        data = self.h2.data_to_send()
        if data:
            try:
                self.socket.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # what the server has sent before can still be read

    def receive(self):
        """Takes in what the server sends next."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise EOFError("the server has closed the connection")
        for event in self.h2.receive_data(data):
            self._take(event)
        self._flush()

    def _take(self, event):
        stream = getattr(event, "stream_id", None)
        if isinstance(event, h2.events.InformationalResponseReceived):
            self.informed.setdefault(stream, []).append(dict(event.headers)[":status"])
        elif isinstance(event, h2.events.ResponseReceived):
            fields = dict(event.headers)
            self.responses[stream] = Response(int(fields.pop(":status")), headers=fields)
        elif isinstance(event, h2.events.DataReceived):
            self.responses[stream].body += event.data
            if self.reads and event.flow_controlled_length:
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.add(stream)
        elif isinstance(event, h2.events.StreamReset):
            self.resets[stream] = event.error_code
        elif isinstance(event, h2.events.RemoteSettingsChanged):
            self.has_settings = True
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.goaway = event.error_code

    def open(self, method, path, headers=None, end=False) -> int:
        """Sends a head and returns the number of the stream."""
        stream = self.h2.get_next_available_stream_id()
        fields = [(b":method", method.encode()), (b":scheme", b"http"),
                  (b":authority", b"localhost"), (b":path", path.encode("latin-1"))]
        pairs = headers.items() if isinstance(headers, dict) else headers or []
        for name, value in pairs:
            fields.append((name.lower().encode("latin-1"), str(value).encode("latin-1")))
        self.h2.send_headers(stream, fields, end_stream=end)
        self._flush()
        return stream

    def send(self, stream, data, end=True):
        """Sends bytes of a body as the windows permit, until the server has answered."""
        data = data.encode() if isinstance(data, str) else data
        while data and not self._is_over(stream):
            size = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size,
                       len(data))
            if size == 0:
                self.receive()
                continue
            self.h2.send_data(stream, data[:size])
            data = data[size:]
            self._flush()
        if end and not self._is_over(stream):
            self.h2.end_stream(stream)
            self._flush()

    def _is_over(self, stream):
        return stream in self.ended or stream in self.resets

    def wait_for(self, stream, size) -> bytes:
        """Waits for at least `size` bytes of the body and returns what has come."""
        while not self._is_over(stream) and (
                stream not in self.responses or len(self.responses[stream].body) < size):
            self.receive()
        return self.responses[stream].body

    def finish(self, stream) -> Response:
        """Waits for the end of a response. Raises Reset if it has none."""
        while not self._is_over(stream):
            self.receive()
        if stream not in self.ended:
            raise Reset(self.resets[stream])
        return self.responses.pop(stream)

    def request(self, method, path, body=None, headers=None, length=True) -> Response:
        fields = dict(headers or {})
        if body is None:
            return self.finish(self.open(method, path, fields, end=True))
        data = body.encode() if isinstance(body, str) else body
        if length:
            fields["content-length"] = len(data)
        stream = self.open(method, path, fields)
        self.send(stream, data)
        return self.finish(stream)
