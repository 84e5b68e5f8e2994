# SPDX-License-Identifier: Apache-2.0
"""The two load generators. Each measures one case on one server and returns a dict with throughput
(1/s), p50_us, p99_us, server_cpu_us (for each request), requests, errors."""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from cases import ROOT


class BenchClient:
    """Nereid's own load generator. It uses little CPU time, so that the server gets the cores."""
    name = "nereid-bench-client"

    def __init__(self, build, seconds):
        self.program = build / "bin" / "nereid-bench-client"
        self.seconds = seconds
        if not self.program.exists():
            sys.exit(f"against_triton: there is no {self.program}; configure with "
                     "-DNEREID_BUILD_BENCH=ON and build it")

    def can_measure(self, case):
        del case
        return True

    def measure(self, server, case):
        grpc = case.protocol == "grpc"
        command = [
            self.program, "--protocol", "grpc" if grpc else "http",
            "--port", server.grpc_port if grpc else server.http_port,
            "--encoding", "json" if case.protocol == "json" else "binary",
            "--connections", case.connections, "--streams", case.streams,
            "--model", case.model, "--input", case.input_name, "--shape", f"1,{case.elements}",
            "--verify", "identity" if case.is_identity else "none",
            "--sequence", case.sequence, "--tls", "yes" if server.tls else "no",
            "--seconds", self.seconds, "--server-pid", server.pid]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=180, check=False)
        if not done.stdout:
            return {"errors": 1, "first_error": done.stderr.strip()}
        return json.loads(done.stdout)


class PerfAnalyzer:
    """Triton's load generator. It uses more CPU time than a light server, so on few shared cores
    the throughput is its own limit. The server's CPU time for each request is correct."""
    name = "perf_analyzer"

    def __init__(self, folder, peer, seconds):
        done = subprocess.run([ROOT / "bench/fetch_perf_analyzer.sh", folder, peer], check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"against_triton: fetch_perf_analyzer.sh failed:\n{done.stderr}")
        self.program = folder / "perf_analyzer"
        # It always measures three windows.
        self.window_ms = max(200, int(seconds * 1000 / 3))

    def can_measure(self, case):
        # It reports "no valid requests", because it needs seconds to write megabytes of JSON. The
        # lengths of its sequences cannot be chosen.
        return not case.sequence and (case.protocol != "json" or case.elements < 1000)

    def measure(self, server, case):
        grpc = case.protocol == "grpc"
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "result.csv"
            command = [
                self.program, "-m", case.model, "-i", "grpc" if grpc else "http",
                "-u", f"127.0.0.1:{server.grpc_port if grpc else server.http_port}",
                "--shape", f"{case.input_name}:1,{case.elements}",
                "--concurrency-range", case.connections * case.streams,
                "--measurement-interval", self.window_ms, "--max-trials", 3,
                "--stability-percentage", 999, "-f", table]
            if case.model != "identity":  # there the batch is not a part of the shape
                command[command.index("--shape") + 1] = f"{case.input_name}:{case.elements}"
            if case.protocol == "json":
                command += ["--input-tensor-format", "json", "--output-tensor-format", "json"]
            count, cpu = server.inference_count(case.model), server.cpu_seconds()
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                  timeout=180, check=False)
            cpu = server.cpu_seconds() - cpu
            count = server.inference_count(case.model) - count
            if done.returncode != 0 or not table.exists() or count == 0:
                text = re.sub(r"\s+", " ", done.stdout + done.stderr)
                return {"errors": 1, "first_error": text[-300:]}
            with open(table, newline="", encoding="utf-8") as rows:
                row = next(csv.DictReader(rows))
        return {"requests": count, "errors": 0, "throughput": float(row["Inferences/Second"]),
                "p50_us": float(row["p50 latency"]), "p99_us": float(row["p99 latency"]),
                "server_cpu_us": cpu * 1e6 / count, "first_error": ""}
