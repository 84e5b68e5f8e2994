#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs many sequences at once, for a long time, with clients that crash, cancel, send no END and
reuse ids, while models are reloaded: no sum may be wrong, no request may be stuck, and no memory
may be lost.

    tests/stress/sequences.py [--minutes 10] [--clients 200] [--build build/release]
                              [--reload-every 15] [--crash-every 10] [--idle 5]

Exits with 0 if there was no error. Under ThreadSanitizer: --build build/tsan, with
TSAN_OPTIONS=suppressions=tests/tsan.supp. Needs the packages of tests/requirements.txt.
"""

import argparse
import collections
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))
# pylint: disable=wrong-import-position
import raw_http
from sequence_models import accumulator, state, write_file_state
from sequences import Plugin, batching, metric, pending, write_witness
from server_process import ServerProcess

PROCESSES = 4
MODELS = ("sum_oldest", "sum_direct", "sum_zero", "sum_file", "sum_flat", "witness")
WIDE = "oldest { max_candidate_sequences: 96 }"


def write(root: Path, build: Path, idle: float):
    """Writes the models of sequence_client.MODELS, some of them with fewer slots than sequences."""
    accumulator(root, "sum_oldest", state(), has_start=True, batch=16, strategy=WIDE)
    accumulator(root, "sum_direct", state(), has_start=True, batch=48, strategy="direct { }")
    accumulator(root, "sum_zero", state(initial="zero_data: true"), has_start=False, batch=32,
                strategy=WIDE)
    folder = accumulator(root, "sum_file", state(initial='data_file: "initial_state_data"'),
                         has_start=False, batch=48, strategy="direct { }")
    write_file_state(folder, struct.pack("<i", 100))
    accumulator(root, "sum_flat", state(), has_start=True, batch=1, strategy=WIDE)
    plugin = Plugin(build / "tests" / "plugins" / "libtriton_witness.so")
    write_witness(root, "witness", plugin, batching(WIDE), batch=16)
    for config in root.glob("*/config.pbtxt"):
        text = config.read_text().replace("max_sequence_idle_microseconds: 60000000",
                                          f"max_sequence_idle_microseconds: {int(idle * 1e6)}")
        lines = [line for line in text.splitlines() if 'key: "trace"' not in line]
        config.write_text("\n".join(lines) + "\n")


class Clients:
    """One process with clients, which is started again whenever it is killed."""

    def __init__(self, server, number, count, limit, idle, seen):
        self.command = [sys.executable, str(Path(__file__).with_name("sequence_client.py")),
                        server.grpc, server.http, str(number), str(count), str(limit), str(idle)]
        self.seen = seen
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()

    def read(self, process):
        for line in process.stdout:
            try:
                said = json.loads(line)
            except ValueError:  # killed in the middle of a line
                continue
            self.seen.take(said)

    def crash(self):
        self.process.kill()
        self.process.wait()
        self.start()

    def stop(self):
        self.process.kill()
        self.process.wait()


class Seen:
    """The reports of the clients of all processes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = collections.Counter()  # guarded by lock
        self.complaints = []  # guarded by lock

    def take(self, said):
        kind = said.pop("kind")
        with self.lock:
            if kind == "counts":
                self.counts.update(said)
            else:
                self.counts[kind] += 1
                self.complaints.append(f"{kind}: {said}")
                if len(self.complaints) <= 20:
                    print(f"  {kind}: {said}", flush=True)


def resident_kib(server) -> int:
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise KeyError("VmRSS")


def slope(samples):
    """KiB a minute, by least squares."""
    count = len(samples)
    mean_x = sum(x for x, _ in samples) / count
    mean_y = sum(y for _, y in samples) / count
    square = sum((x - mean_x) ** 2 for x, _ in samples)
    return 60 * sum((x - mean_x) * (y - mean_y) for x, y in samples) / square if square else 0.0


def run(server, options):
    """Runs the clients. Returns their reports and the samples of the memory."""
    seen = Seen()
    groups = [Clients(server, number, options.clients // PROCESSES, options.limit, options.idle,
                      seen) for number in range(1, PROCESSES + 1)]
    begun = time.monotonic()
    next_crash, next_reload = begun + options.crash_every, begun + options.reload_every
    next_report = begun
    samples = []
    try:
        while (now := time.monotonic()) < begun + options.minutes * 60:
            time.sleep(0.2)  # the stress goes on meanwhile
            if not server.alive():
                raise RuntimeError("the server died:\n" + server.log_tail())
            if options.crash_every and now >= next_crash:
                random.choice(groups).crash()
                seen.counts["crashes"] += 1
                next_crash = now + options.crash_every
            if options.reload_every and now >= next_reload:
                reload(server, random.choice(MODELS), seen)
                next_reload = now + options.reload_every
            if now >= next_report:
                samples.append((now - begun, resident_kib(server)))
                if len(samples) % 3 == 1:
                    print(f"{now - begun:5.0f} s  {samples[-1][1] / 1024:7.1f} MiB  "
                          f"{dict(seen.counts)}", flush=True)
                next_report = now + 5
    finally:
        for group in groups:
            group.stop()
    return seen, samples


def reload(server, model, seen):
    """Changes the model's directory, so that the load creates a new model, and loads it."""
    (server.repository / model / "1" / "changed").write_text(str(time.time()))
    answer = raw_http.request(server, "POST", f"/v2/repository/models/{model}/load", b"{}")
    if answer.status != 200:
        seen.take({"kind": "error", "text": f"reload of {model}: {answer.body[:200]}"})
    seen.counts["reloads"] += 1


def settle(server, idle):
    """Waits until all sequences have ended after the clients are gone. Returns the remaining ones.
    """
    end = time.monotonic() + idle * 3 + 30
    while time.monotonic() < end:
        left = {model: pending(server, model) for model in MODELS}
        live = {model: metric(server, "nereid_sequence_active", model) for model in MODELS}
        if not any(left.values()) and not any(live.values()):
            return {}
        time.sleep(0.2)
    return {"pending": left, "live": live}


def verdict(options, seen, samples, left):
    """Prints the figures. Returns the reasons for which this run has failed."""
    # The pools of the allocator and of ONNX Runtime fill in the first minutes.
    steady = [s for s in samples if s[0] > options.minutes * 60 * 0.5]
    grown = slope(steady) if len(steady) > 3 else 0.0
    print(f"{dict(seen.counts)}")
    print(f"memory: {samples[0][1] / 1024:.1f} MiB at first, {samples[-1][1] / 1024:.1f} MiB at "
          f"last, slope {grown:+.0f} KiB/min over the second half")
    bad = [text for text in seen.complaints]
    if not seen.counts["requests"]:
        bad.append("no request was answered")
    if seen.counts["lost"] and not options.reload_every:
        bad.append(f"{seen.counts['lost']} sequences were lost without a reload")
    if left:
        bad.append(f"left after all clients had gone: {left}")
    if options.minutes >= 10 and grown > options.most_growth:
        bad.append(f"memory grows by {grown:.0f} KiB/min, more than {options.most_growth}")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--reload-every", type=float, default=15, metavar="S", help="0: never")
    parser.add_argument("--crash-every", type=float, default=10, metavar="S", help="0: never")
    parser.add_argument("--idle", type=float, default=5, metavar="S",
                        help="max_sequence_idle_microseconds of the models")
    parser.add_argument("--limit", type=float, default=60, metavar="S",
                        help="seconds after which a request counts as stuck")
    parser.add_argument("--most-growth", type=float, default=256, metavar="KIB",
                        help="maximum growth of memory per minute, in runs of ten minutes and more")
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="nereid-stress-") as folder:
        root = Path(folder)
        write(root / "models", build, options.idle)
        flags = [f"--backend-directory={build / 'backends'}", "--model-control-mode=explicit",
                 *[f"--load-model={model}" for model in MODELS]]
        server = ServerProcess([str(build / "bin" / "nereid"), "serve"], root / "models",
                               root / "server.log", flags).start()
        try:
            seen, samples = run(server, options)
            bad = verdict(options, seen, samples, settle(server, options.idle))
            server.stop()
        except BaseException:
            print(server.log_tail(30), file=sys.stderr)
            server.kill()
            raise
    for text in bad[:20]:
        print(f"FAILED: {text}")
    print("failed" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    sys.exit(main())
