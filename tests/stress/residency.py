#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends requests to many models of which few fit into the budget of memory, with Zipf's
distribution. No request may fail or be stuck, the budget may never be exceeded by more than one
model, and the hit ratio must be near that of a cache that evicts the least recently used model.

    tests/stress/residency.py [--minutes 10] [--models 50] [--fit 5] [--clients 4]
                              [--build build/release]

The clients are tritonclient's, half of them over HTTP, half over gRPC. The cache to compare with
gets the models in the order in which the requests were sent. Exits with 0 if there was no error.
Needs the packages of tests/requirements.txt.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))
# pylint: disable=wrong-import-position
import budget_models
import numpy as np
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from server_process import ServerProcess, sanitized


class Trace:
    """The models in the order of their requests, and what became of the requests."""

    def __init__(self, models, exponent, fit, seed):
        self.lock = threading.Lock()
        self.random = random.Random(seed)
        self.names = [f"m{number:02}" for number in range(models)]
        self.weights = [1 / (rank ** exponent) for rank in range(1, models + 1)]
        self.random.shuffle(self.names)
        self.lru = budget_models.OfflineLru(fit)
        self.failures = []  # guarded by lock, as all below
        self.latencies = []

    def next(self):
        with self.lock:
            (name,) = self.random.choices(self.names, self.weights)
            self.lru.use(name)
            return name

    def end(self, name, seconds, failure):
        with self.lock:
            self.latencies.append(seconds)
            if failure:
                self.failures.append(f"{name}: {failure}")
                if len(self.failures) <= 10:
                    print(f"  {self.failures[-1]}", flush=True)


def client_loop(number, server, trace, until, options):
    """Sends one request after the other."""
    module = http_client if number % 2 == 0 else grpc_client
    address = server.http if number % 2 == 0 else server.grpc
    settings = {"network_timeout": options.limit} if module is http_client else {}
    with module.InferenceServerClient(address, **settings) as client:
        tensor = module.InferInput("INPUT0", [1], "FP32")
        while time.monotonic() < until:
            name = trace.next()
            value = np.float32(random.uniform(0, 100))
            tensor.set_data_from_numpy(np.array([value], dtype=np.float32))
            begun = time.monotonic()
            failure = None
            try:
                more = {} if module is http_client else {"client_timeout": options.limit}
                found = client.infer(name, [tensor], **more).as_numpy("OUTPUT0")
                if found[0] != value:
                    failure = f"sent {value}, got {found[0]}"
            except Exception as error:  # every failure is a finding
                failure = f"{type(error).__name__}: {error}"
            trace.end(name, time.monotonic() - begun, failure)
            if options.pause:
                time.sleep(random.uniform(0, 2 * options.pause))  # the rate, not a wait


def own_bytes(server) -> int:
    """Returns the bytes of memory that belong to the process alone."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", text).group(1)) * 1024


def drive(server, options):
    """Runs the clients. Returns the trace, and the samples of the memory of the process."""
    trace = Trace(options.models, options.exponent, options.fit, options.seed)
    begun = time.monotonic()
    until = begun + options.minutes * 60
    threads = [threading.Thread(target=client_loop, args=(i, server, trace, until, options),
                                daemon=True) for i in range(options.clients)]
    for thread in threads:
        thread.start()
    next_report = begun
    samples = []
    while any(thread.is_alive() for thread in threads):
        now = time.monotonic()
        samples.append(own_bytes(server))
        if now > until + options.limit + 30:
            trace.failures.append("a client is stuck")
            break
        if now >= next_report:
            numbers, _ = budget_models.numbers(server)
            print(f"{now - begun:5.0f} s  {trace.lru.requests:7} requests, "
                  f"{int(numbers['loads_total_ok'])} loads, {int(numbers['evictions_total'])} evictions, "
                  f"{numbers['used_bytes'] / budget_models.MIB:.0f} MiB", flush=True)
            next_report = now + 10
        time.sleep(0.02)  # between two looks at the memory
    return trace, samples


def verdict(server, trace, samples, options):
    """Prints the figures. Returns the reasons for which this run has failed."""
    numbers, _ = budget_models.numbers(server)
    requests = trace.lru.requests
    offline = trace.lru.ratio()
    hits = 1 - numbers["loads_total_ok"] / max(1, requests)
    found = numbers["hits_total"] / max(1, requests)
    budget = numbers["budget_bytes"]
    most = numbers["peak_bytes"]
    size = options.size * budget_models.MIB
    latencies = sorted(trace.latencies)
    print(f"{requests} requests, {len(trace.failures)} failed, to {options.models} models of "
          f"which {options.fit} fit, {options.clients} clients")
    print(f"hit ratio: {hits:.4f} by loads, {found:.4f} by requests that did not wait, offline "
          f"LRU {offline:.4f}: ratio {hits / max(offline, 1e-9):.3f}")
    print(f"memory: budget {budget / budget_models.MIB:.1f} MiB, at most "
          f"{most / budget_models.MIB:.1f} MiB by the server's account; the process had "
          f"{samples[0] / budget_models.MIB:.0f} MiB at first, at most "
          f"{max(samples) / budget_models.MIB:.0f} MiB; {int(numbers['loads_total_ok'])} loads, "
          f"{int(numbers['evictions_total'])} evictions")
    print(f"latency: median {latencies[len(latencies) // 2] * 1e3:.1f} ms, p99 "
          f"{latencies[int(len(latencies) * 0.99)] * 1e3:.1f} ms, max {latencies[-1] * 1e3:.0f} ms")
    bad = list(trace.failures)
    if max(samples) > samples[0] + budget + 2 * size and not sanitized(server):
        bad.append(f"the process had {max(samples) - samples[0]:.0f} bytes more than at first")
    if most > budget + size * 1.1:
        bad.append(f"{most:.0f} bytes were in memory: the budget was exceeded by more than a model")
    if hits < 0.95 * offline:
        bad.append(f"the hit ratio {hits:.4f} is below 0.95 of {offline:.4f}")
    for name in ("refusals_total", "loads_total_failed", "waiting_requests"):
        if numbers[name]:
            bad.append(f"{name} is {numbers[name]:.0f}")
    return bad


def run(options) -> list:
    """Runs the whole test. Returns the reasons for which it has failed."""
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="nereid-stress-") as folder:
        root = Path(folder)
        size = options.size * budget_models.MIB
        for number in range(options.models):
            budget_models.add(root / "models", f"m{number:02}", build / "tests" / "plugins", size)
        flags = [f"--backend-directory={build / 'backends'}",
                 budget_models.budget(options.fit, size), *options.flag]
        server = ServerProcess([str(build / "bin" / "nereid"), "serve"], root / "models",
                               root / "server.log", flags).start()
        try:
            trace, samples = drive(server, options)
            bad = verdict(server, trace, samples, options)
            server.stop()
        except BaseException:
            print(server.log_tail(30), file=sys.stderr)
            server.kill()
            raise
    return bad


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--fit", type=int, default=5, help="how many models fit into the budget")
    parser.add_argument("--size", type=int, default=16, metavar="MIB", help="of each model")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--exponent", type=float, default=1.0, help="of Zipf's distribution")
    parser.add_argument("--pause", type=float, default=0.0, metavar="S",
                        help="mean pause of a client between two requests")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--limit", type=float, default=60, metavar="S",
                        help="seconds after which a request counts as stuck")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flag", action="append", default=[], help="of the server")
    return parser.parse_args(arguments)


def main() -> int:
    bad = run(parse())
    for text in bad[:20]:
        print(f"FAILED: {text}")
    print("failed" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    sys.exit(main())
