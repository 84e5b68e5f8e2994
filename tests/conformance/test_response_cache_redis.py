# SPDX-License-Identifier: Apache-2.0
"""The response cache in a real Redis: with a password, over TLS, stopped and started under load."""

import itertools
import shutil
import subprocess
import threading
import time

import models
import numpy as np
import pytest
import raw_http
from clients import Transport
from server_process import ServerFailed, free_ports
from test_response_cache import cache_directory, counts, fresh, statistics


class Redis:
    """A Redis server of the test, which stores nothing on disk."""

    def __init__(self, folder, *options):
        # Debian's redis-tools has the program under another name; its behavior depends on the name
        # it is called with.
        program = shutil.which("redis-server") or shutil.which("redis-check-rdb")
        if program is None:
            pytest.skip("needs redis-server, or redis-check-rdb of Debian's redis-tools")
        self.program = folder / "redis-server"
        self.program.symlink_to(program)
        self.folder = folder
        self.port = free_ports(1)[0]
        self.options = options
        self.process = None

    def start(self, ready="Ready to accept connections"):
        port = "tls-port" if "--tls-cert-file" in self.options else "port"
        with open(self.folder / "redis.log", "w") as log:
            self.process = subprocess.Popen(
                [str(self.program), "--port", "0", f"--{port}", str(self.port), "--bind",
                 "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.folder),
                 *self.options], stdout=log, stderr=log)
        end = time.monotonic() + 30
        while ready not in (self.folder / "redis.log").read_text():
            assert self.process.poll() is None and time.monotonic() < end, \
                (self.folder / "redis.log").read_text()
            time.sleep(0.01)
        return self

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def flags(self, *settings):
        return [f"--cache-config=redis,{setting}"
                for setting in ("host=127.0.0.1", f"port={self.port}", *settings)]

    def command(self, *words, options=()):
        run = subprocess.run(["redis-cli", "-p", str(self.port), *options, *words],
                             capture_output=True, text=True, check=True)
        return run.stdout.split("\n")[:-1]


@pytest.fixture
def make_redis(tmp_path_factory, is_peer):
    if is_peer:
        pytest.skip("Triton's wheel has no redis cache; tests/peer runs ours in it")
    made = []

    def make(*options):
        made.append(Redis(tmp_path_factory.mktemp("redis"), *options))
        return made[-1].start()

    yield make
    for redis in made:
        redis.kill()


@pytest.fixture
def start(start_server, request):
    return lambda *flags: start_server("redis_cache", models.write_cached, *flags,
                                       *cache_directory(request))


def ask(client, array):
    answer = client.infer("cached", [client.input("INPUT0", array)])
    assert (answer.array("OUTPUT0") == array).all()


def wait_for(client, **wanted):
    """Waits until the insertions are counted; they are made after the answers."""
    end = time.monotonic() + 20
    while True:
        now = counts(statistics(client, "cached"))
        if all(now[k] == v for k, v in wanted.items()) or time.monotonic() > end:
            assert {k: now[k] for k in wanted} == wanted
            return
        time.sleep(0.01)


def fill_and_find(client):
    array = fresh(2, 2)
    before = counts(statistics(client, "cached"))
    ask(client, array)
    wait_for(client, cache_miss=before["cache_miss"] + 1)
    ask(client, array)
    wait_for(client, cache_miss=before["cache_miss"] + 1, cache_hit=before["cache_hit"] + 1)
    return array


def test_servers_share_their_answers(make_redis, start, loop):
    redis = make_redis()
    first = Transport("http", start(*redis.flags()), loop)
    array = fill_and_find(first)
    keys = redis.command("KEYS", "*")
    assert len(keys) == 1 and keys[0].startswith("nereid:")
    assert sorted(redis.command("HKEYS", keys[0])) == ["0:b", "0:i", "0:s", "0:t"]
    assert redis.command("HGET", keys[0], "0:t") == ["0"]
    assert redis.command("TTL", keys[0]) == ["-1"]
    second = Transport("grpc", start(*redis.flags("pool_size=2")), loop)
    ask(second, array)
    wait_for(second, cache_hit=1, cache_miss=0, executions=0)
    for client in (first, second):
        client.close()


def test_what_is_in_redis_may_be_anything(make_redis, start, loop):
    redis = make_redis()
    client = Transport("http", start(*redis.flags()), loop)
    array = fill_and_find(client)
    key = redis.command("KEYS", "*")[0]
    for change in (("HSET", key, "0:b", "garbage", "0:s", "7"), ("HDEL", key, "0:t"),
                   ("DEL", key), ("SET", key, "no hash"), ):
        redis.command(*change)
        ask(client, array)
    client.close()


def test_password(make_redis, start, loop, monkeypatch):
    redis = make_redis("--requirepass", "secret")
    for settings, text in (([], "NOAUTH"), (["password=wrong"], "WRONGPASS")):
        with pytest.raises(ServerFailed, match=text):
            start(*redis.flags(*settings))
    client = Transport("http", start(*redis.flags("user=default", "password=secret")), loop)
    fill_and_find(client)
    client.close()
    monkeypatch.setenv("TRITONCACHE_REDIS_PASSWORD", "secret")
    client = Transport("http", start(*redis.flags("db=3")), loop)
    fill_and_find(client)
    client.close()
    options = ("-a", "secret", "--no-auth-warning", "-n", "3")
    assert len(redis.command("KEYS", "*", options=options)) == 1


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Returns a certificate authority and a certificate for 'redis.test' that it signed."""
    folder = tmp_path_factory.mktemp("certificates")

    def path(name):
        return str(folder / name)

    for name in ("ca", "other_ca"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                f"/CN={name}", "-keyout", path(f"{name}.key"), "-out", path(f"{name}.crt"))
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=redis.test", "-addext",
            "subjectAltName=DNS:redis.test", "-keyout", path("redis.key"), "-out",
            path("redis.csr"))
    openssl("x509", "-req", "-in", path("redis.csr"), "-CA", path("ca.crt"), "-CAkey",
            path("ca.key"), "-CAcreateserial", "-days", "2", "-copy_extensions", "copy", "-out",
            path("redis.crt"))
    return path


def test_tls(make_redis, start, loop, certificates):
    # The server requires a client certificate, too.
    redis = make_redis("--tls-cert-file", certificates("redis.crt"), "--tls-key-file",
                       certificates("redis.key"), "--tls-ca-cert-file", certificates("ca.crt"))
    ours = [f"cert={certificates('redis.crt')}", f"key={certificates('redis.key')}"]
    trusted = f"cacert={certificates('ca.crt')}"
    for settings, text in (
            ([], "closed the connection|reset by peer|did not answer"),
            ([*ours, f"cacert={certificates('other_ca.crt')}"], "certificate verify failed"),
            ([*ours, trusted, "sni=elsewhere.test"], "[Hh]ostname mismatch"),
            ([*ours, "cacert=/nonexistent"], "cannot use '/nonexistent'")):
        with pytest.raises(ServerFailed, match=text):
            start(*redis.flags("socket_timeout=2000", *settings))
    for settings in ([trusted], [trusted, "sni=redis.test"]):
        client = Transport("http", start(*redis.flags("tls_enabled=true", *ours, *settings)), loop)
        fill_and_find(client)
        client.close()


def test_a_start_without_redis_fails(start, is_peer):
    if is_peer:
        pytest.skip("needs our redis cache")
    port = free_ports(1)[0]
    with pytest.raises(ServerFailed, match=f"Failed to connect to Redis: Connection refused, at 127.0.0.1:{port}"):
        start("--cache-config=redis,host=127.0.0.1", f"--cache-config=redis,port={port}")


def test_redis_dies_and_comes_back_under_load(make_redis, start, loop):
    """Every request is answered, and each is counted as a hit or as a miss."""
    redis = make_redis()
    # Long timeouts, so that a Redis that waits for a CPU does not count as lost.
    server = start(*redis.flags("connect_timeout=5000", "socket_timeout=5000"))
    client = Transport("http", server, loop)
    fill_and_find(client)
    before = counts(statistics(client, "cached"))
    stop = threading.Event()
    answered = itertools.count()
    failures = []
    arrays = [fresh(4, 4) for _ in range(20)]

    def load(number):
        mine = Transport("http" if number % 2 else "grpc", server, loop)
        try:
            for i in itertools.count(number):
                if stop.is_set():
                    break
                ask(mine, arrays[i % len(arrays)])
                next(answered)
        except Exception as error:  # every failure is reported by the test
            failures.append(error)
        mine.close()

    threads = [threading.Thread(target=load, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()

    def hits():
        return counts(statistics(client, "cached"))["cache_hit"]

    def wait_for_hits(more):
        target, end = hits() + more, time.monotonic() + 30
        while hits() < target and not failures:
            assert time.monotonic() < end, "no hits any more"
            time.sleep(0.01)

    for _ in range(2):
        wait_for_hits(20)
        redis.kill()
        executed = counts(statistics(client, "cached"))["executions"]
        while counts(statistics(client, "cached"))["executions"] < executed + 50 and not failures:
            time.sleep(0.01)  # the model answers
        redis.start()
        wait_for_hits(20)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
    total = next(answered)
    end = time.monotonic() + 20
    while True:
        now = counts(statistics(client, "cached"))
        counted = sum(now[k] - before[k] for k in ("cache_hit", "cache_miss"))
        if counted >= total or time.monotonic() > end:
            break
        time.sleep(0.01)
    assert now["success"] - before["success"] == total
    assert now["fail"] == 0
    # A look-up that is skipped because too many others wait is neither; there were four at a time.
    assert counted == total
    assert now["executions"] - before["executions"] == now["cache_miss"] - before["cache_miss"]
    log = server.log_tail(10000)
    assert log.count("Redis is lost") == 2
    assert log.count(f"Redis at 127.0.0.1:{redis.port} is back") == 2
    assert raw_http.get(server, "/v2/health/ready").status == 200
    client.close()


def test_a_hanging_redis_costs_one_timeout(make_redis, start, loop):
    redis = make_redis()
    client = Transport("http", start(*redis.flags("connect_timeout=300", "socket_timeout=300")),
                       loop)
    fill_and_find(client)
    redis.process.send_signal(19)  # SIGSTOP
    try:
        begin = time.monotonic()
        for _ in range(200):
            ask(client, fresh(1, 1))
        # If each of the 200 requests waited for the timeout, this would take a minute.
        assert time.monotonic() - begin < 20
    finally:
        redis.process.send_signal(18)  # SIGCONT
    client.close()
