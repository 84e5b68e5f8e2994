# SPDX-License-Identifier: Apache-2.0
"""Attacks on TLS: handshakes that do not end, that cost the server much, and bytes that are none.

The server has a key of RSA 4096, whose signature takes milliseconds. The other client speaks TLS,
too."""

import contextlib
import resource
import select
import shutil
import socket
import ssl
import threading
import time

import pytest
from certificates import Certificates
from conftest import FIGURES, attacker, memory_of, settled_memory, write_victims

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no program openssl")

HALF_OPEN = 10_000
SECONDS = 2.0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"), key="rsa4096").issue("server")


@pytest.fixture(scope="module")
def tls_server(start_server, test_plugins, certificates):
    return start_server("tls_victims", write_victims(test_plugins), *certificates.flags("http"),
                        *certificates.flags("grpc"), tls=certificates.context("http/1.1"))


@pytest.fixture(scope="module")
def many_files():
    """Returns how many connections this process may have, less some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield min(hard - 500, HALF_OPEN)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def client_hello(certificates, *protocols) -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = certificates.context(*protocols).wrap_bio(incoming, outgoing,
                                                        server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()


def open_half(port, count, first_bytes):
    connections = []
    for _ in range(count):
        connection = attacker(port, timeout=20)
        connections.append(connection)
        if first_bytes:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(first_bytes)
    return connections


def wait_until_closed(connections, seconds):
    """Waits until the server has closed all connections, and closes them."""
    # Not poll(): with thousands of descriptors it stays in the kernel for a millisecond, in which
    # nothing else gets that CPU.
    with select.epoll() as poll:
        by_number = {connection.fileno(): connection for connection in connections}
        for number in by_number:
            poll.register(number, select.EPOLLIN | select.EPOLLRDHUP)
        end = time.monotonic() + seconds
        while by_number and time.monotonic() < end:
            for number, _ in poll.poll(1, 16):
                try:
                    gone = not by_number[number].recv(1 << 16)
                except OSError:
                    gone = True
                if gone:
                    poll.unregister(number)
                    by_number.pop(number).close()
    left = len(by_number)
    for connection in by_number.values():
        connection.close()
    return left


@pytest.mark.parametrize("port,protocol,sent", [
    ("http_port", "http/1.1", "nothing"), ("http_port", "http/1.1", "hello"),
    ("grpc_port", "h2", "hello")])
def test_half_open_handshakes(tls_server, attack, least, certificates, many_files, port, protocol,
                              sent):
    """Thousands of clients begin a handshake and say nothing more. Each ends within the time limit,
    and the memory of all of them has a bound."""
    hello = client_hello(certificates, protocol)
    first_bytes = {"nothing": b"", "hello": hello}[sent]

    def begin_and_wait(at):
        assert wait_until_closed(open_half(at, many_files, first_bytes), 40) == 0

    floor = least(tls_server, begin_and_wait, certificates.ca)
    with attack(tls_server, peak_mib=250, worst_ms=4000, ca=certificates.ca, floor=floor):
        begin_and_wait(getattr(tls_server, port))
    FIGURES.append(f"  {many_files} half-open handshakes ({sent}, {protocol}); afterwards "
                   f"{settled_memory(tls_server):.0f} MiB of {memory_of(tls_server, 'VmHWM'):.0f}")


@pytest.mark.parametrize("port,protocol", [("http_port", "http/1.1"), ("grpc_port", "h2")])
def test_handshake_flood(tls_server, attack, least, certificates, port, protocol):
    """Clients make the server compute one signature after the other, and never finish."""
    hello = client_hello(certificates, protocol)
    begun = []

    def begin_handshakes(at, stop, place):
        while not stop.is_set():
            with contextlib.suppress(OSError), attacker(at) as connection:
                connection.sendall(hello)
                begun[place] += 1

    def flood(at):
        stop = threading.Event()
        begun[:] = [0] * 4
        threads = [threading.Thread(target=begin_handshakes, args=(at, stop, place))
                   for place in range(len(begun))]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS)
        stop.set()
        for thread in threads:
            thread.join()

    floor = least(tls_server, flood, certificates.ca)
    with attack(tls_server, peak_mib=250, worst_ms=2500, ca=certificates.ca, floor=floor):
        flood(getattr(tls_server, port))
    FIGURES.append(f"  {sum(begun)} handshakes were begun in {SECONDS} s ({protocol})")


def test_new_clients_get_in_during_a_flood(tls_server, certificates):
    """New clients get in while another one begins handshakes and goes away."""
    hello = client_hello(certificates, "http/1.1")
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            with contextlib.suppress(OSError), attacker(tls_server.http_port) as connection:
                connection.sendall(hello)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        for _ in range(5):
            connection = tls_server.http_connection(timeout=30)
            connection.request("GET", "/v2/health/live")
            assert connection.getresponse().status == 200
            connection.close()
    finally:
        stop.set()
        thread.join()


def test_garbage_instead_of_records(tls_server, attack, certificates):
    """Each garbage ends only its own connection."""
    garbage = [b"\x16\x03\x01\xff\xff" + bytes(1000), bytes(1000), b"\xff" * 20_000,
               b"\x16\x03\x01\x00\x00" * 1000, b"\x15\x03\x03\x00\x02\x01\x00" * 1000,
               b"\x17\x03\x03\x40\x00" + bytes(16384), b"GET / HTTP/1.1\r\n\r\n"]
    hello = client_hello(certificates, "http/1.1", "h2")
    with attack(tls_server, peak_mib=100, worst_ms=1500, ca=certificates.ca):
        for data in garbage:
            for begin in (b"", hello):
                connections = [*open_half(tls_server.http_port, 20, begin + data),
                               *open_half(tls_server.grpc_port, 20, begin + data)]
                assert wait_until_closed(connections, 20) == 0


def test_records_of_one_byte(tls_server, attack, certificates):
    """Each byte of an endless request costs a record."""
    context = certificates.context("http/1.1")
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with attack(tls_server, peak_mib=100, worst_ms=1500, ca=certificates.ca), \
            socket.create_connection(("127.0.0.1", tls_server.http_port), timeout=5) as raw:
        session = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        while True:
            try:
                session.do_handshake()
                break
            except ssl.SSLWantReadError:
                raw.sendall(outgoing.read())
                incoming.write(raw.recv(1 << 16))
        session.write(b"POST /v2/models/plain/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(100_000):
                session.write(b"x")
            raw.sendall(outgoing.read())
