# SPDX-License-Identifier: Apache-2.0
"""The ways to run a model that bench/real_models compares: the framework called directly, Nereid as it
is, Nereid with a written configuration, and Triton. Each measures a load of some clients and returns
throughput (1/s), p50_us, p99_us, cpu_us (processor time of the process for a request), requests."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from catalogue import BACKENDS, FILES
from servers import Nereid, Server, Triton

CORES = len(os.sched_getaffinity(0))
MIN_REQUESTS = 5  # of a measurement; with fewer it is made again, three times as long
GROUP = 'instance_group { kind: KIND_CPU count: %d }\n'
THREADS = 'parameters { key: "cpu_threads_per_instance" value { string_value: "%d" } }\n'


def _run(command, allowed=(0,)):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, check=False)
    if done.returncode not in allowed:
        sys.exit(f"real_models: {command[0]} failed:\n{done.stderr}{done.stdout}")
    return done.stdout


class Direct:
    """A program of bench/direct_calls that calls one model with a number of threads."""

    def __init__(self, options, model, files, threads):
        program = options.build / "bin" / f"direct_model_{BACKENDS[model.platform]}"
        command = [program, files / "1" / FILES[model.platform], files / "request" / "inputs", threads]
        if model.platform == "onnx":
            library = options.build / "backends" / "onnxruntime" / "libonnxruntime.so.1"
            command = [program, library, *command[1:], 1]
        elif model.platform == "savedmodel":
            command += model.graph_outputs
        if not program.exists():
            sys.exit(f"real_models: there is no {program}; build the target direct_calls")
        self.process = subprocess.Popen([str(word) for word in command], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self._line()

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"real_models: {' '.join(self.process.args)} ended with an error")
        return line

    def measure(self, callers, warmup, seconds):
        self.process.stdin.write(f"{callers} {warmup} {seconds}\n")
        self.process.stdin.flush()
        result = json.loads(self._line())
        if result["requests"] < MIN_REQUESTS:
            return self.measure(callers, warmup, 3 * seconds)
        return result

    def resident_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


class Served:
    """A server with one model, or with several."""

    def __init__(self, options, name, command, repository):
        self.options = options
        self.server = Server(name, command, repository, repository.parent / f"{name}.log")

    def _counts(self, model):
        stats = json.loads(self.server.get(f"/v2/models/{model}/stats")[1])["model_stats"][0]
        return stats["inference_count"], stats["execution_count"]

    def start_load(self, model, files, clients, warmup, seconds):
        command = [self.options.build / "bin" / "nereid", "bench", model.name,
                   "--url", f"http://127.0.0.1:{self.server.http_port}", "--concurrency", clients,
                   "--warmup", warmup, "--window", seconds / 3, "--max-windows", 3,
                   "--stability", 1e6, "--no-plot", "--format", "json"]
        for i, given in enumerate(model.inputs):
            shape = ",".join(map(str, given.shape or (1,)))
            command += ["--input", f"{given.name}=raw:{files / 'request' / f'{i}.raw'}",
                        "--shape", f"{given.name}={shape}"]
        return subprocess.Popen([str(word) for word in command], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end_load(self, load):
        out, errors = load.communicate(timeout=600)
        # 1 also says that the windows differ, as they do if requests are long.
        if load.returncode not in (0, 1) or json.loads(out)["levels"][0]["errors"]:
            self.server.fail(f"was loaded with {' '.join(load.args)}, which failed: {errors}{out}")
        level = json.loads(out)["levels"][0]
        latency = level["latency_ms"]
        return {"throughput": level["inferences_per_second"], "requests": level["requests"],
                "mean_us": latency["mean"] * 1000, "p50_us": latency["p50"] * 1000,
                "p99_us": latency["p99"] * 1000,
                "compute_us": (level["server"] or {}).get("compute_infer_us", 0)}

    def measure(self, model, files, clients, warmup, seconds):
        counts, cpu = self._counts(model.name), self.server.cpu_seconds()
        result = self.end_load(self.start_load(model, files, clients, warmup, seconds))
        # Of all requests, also those of the warm-up; none is in flight at either end.
        inferences, executions = (after - before for before, after in
                                  zip(counts, self._counts(model.name)))
        result["cpu_us"] = (self.server.cpu_seconds() - cpu) * 1e6 / max(1, inferences)
        result["mean_batch"] = inferences / max(1, executions)
        if result["requests"] < MIN_REQUESTS:
            return self.measure(model, files, clients, warmup, 3 * seconds)
        return result

    def resident_mib(self):
        return self.server.resident_mib()

    def stop(self):
        self.server.stop()


def tuned_configs(model):
    """What a person would write who knows the machine: name -> config.pbtxt. "wide": one request uses all
    cores. "narrow": an instance for each core. "batched": requests that wait share an execution."""
    head = model.config or f'backend: "{BACKENDS[model.platform]}"\n'
    if model.keeps_state:
        return {"wide": head + THREADS % CORES, "narrow": head + THREADS % 1}
    wide, narrow = GROUP % 1 + THREADS % CORES, GROUP % CORES + THREADS % 1
    if not model.batches:
        return {"wide": head + wide, "narrow": head + narrow}
    if not model.config:
        # 1: no two requests share an execution.
        return {"wide": head + "max_batch_size: 1\n" + wide,
                "narrow": head + "max_batch_size: 1\n" + narrow,
                "batched": head + "max_batch_size: 16\ndynamic_batching { }\n" + wide}
    return {"wide": head + wide, "narrow": head + narrow,
            "batched": head + "dynamic_batching { }\n" + wide}


def write_repository(folder, models, files, config_of):
    """Links the models of `files` into the repository `folder`; `config_of`: model -> its configuration or
    an empty text."""
    for model in models:
        home = folder / model.name
        home.mkdir(parents=True)
        (home / "1").symlink_to(files / model.name / "1")
        text = config_of(model)
        if text:
            (home / "config.pbtxt").write_text(text)


def nereid(options, name, models, files, work, config_of=lambda model: model.config, flags=()):
    repository = work / name / "models"
    write_repository(repository, models, files, config_of)
    return Served(options, name, [*Nereid(options.build).command, *flags], repository)


def triton(options, model, files, work):
    """Triton with Nereid's plug-in, for the platforms whose plug-in tools/peer copies: ONNX."""
    if not options.peer or model.platform != "onnx":
        return None
    repository = work / "triton" / "models"
    # Triton follows no links out of the repository, and wants a version's folder that is one.
    write_repository(repository, [model], files, lambda m: m.config)
    (repository / model.name / "1").unlink()
    shutil.copytree(files / model.name / "1", repository / model.name / "1")
    return Served(options, "triton", Triton(options.peer, options.build).command, repository)


def transport(options, model, files, work):
    """A server whose model does nothing, with an input and an output of as many bytes as the model's
    inputs: what a request costs beside the model."""
    size = sum(file.stat().st_size for file in (files / model.name / "request").glob("*.raw")) // 4
    home = work / "transport" / "models" / "nothing"
    (home / "1").mkdir(parents=True)
    (home / "config.pbtxt").write_text(
        'backend: "identity"\nmax_batch_size: 0\n'
        f'input {{ name: "INPUT0" data_type: TYPE_FP32 dims: [ {size} ] }}\n'
        f'output {{ name: "OUTPUT0" data_type: TYPE_FP32 dims: [ {size} ] }}\n')
    return Served(options, "transport", Nereid(options.build).command, home.parent)


def cores_text():
    model = next((line.partition(":")[2].strip() for line in
                  pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                  if line.startswith("model name")), "unknown processor")
    return f"{CORES} CPUs ({model})"
