#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the results of a server with the same models run directly by the Python package
onnxruntime.

    examples/check.py --repository DIRECTORY (--http HOST:PORT --grpc HOST:PORT | --server PROGRAM)

With --server it starts the program on free ports and stops it at the end. Four checks are made over
each protocol:

    - The requests of ask.py give the same results as the direct run: the same words, the same types,
      the same intervals of speech.
    - Every request of the direct run is sent again with the same inputs. Each output must have the
      same type and shape and differ by at most TOLERANCE.
    - The intervals of speech equal those of the silero-vad package, to the sample.
    - The ensemble ocr reads every image of photographs.py correctly, at the right places, and answers a
      request for some of its outputs.

Once, over HTTP, it also reads the images of unseen.py, with the required rate.

The reason for the tolerance: the server and the direct run use the same release of the same
library, so on one machine they execute the same kernels on the same numbers. Only the number of
threads may differ, and with it the order of summation, which changes a float by a few units in the
last place. All outputs are probabilities or cells of a recurrent state, at most a few units large,
where such a step is 1e-7. After a few layers the difference stays below 1e-5, and no result depends
on that digit. An error of the server (a swapped byte, a row of another request, an output of the
wrong shape) is larger by orders of magnitude.
"""

import argparse
import ast
import contextlib
import io
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np

import file_types
import photographs
import pictures
import serving
import speech
import text_in_image
import unseen

TOLERANCE = 1e-5
START_LIMIT = 120  # seconds until a server that was started here must be ready
STOP_LIMIT = 60  # maximum seconds for the stop


class Recorder:
    """Runs models directly and keeps each request with its results."""

    def __init__(self, run):
        self._run = run
        self.requests = []

    def __call__(self, model, inputs, outputs, turn=None):
        answer = self._run(model, inputs, outputs, turn)
        self.requests.append((model, inputs, answer, turn))
        return answer


def ask_everything(run, repository: Path) -> dict:
    """Returns the results without the printed text."""
    with contextlib.redirect_stdout(io.StringIO()):
        return {
            "speech": speech.ask(run),
            "file types": file_types.ask(run, repository),
            "text in an image": text_in_image.ask(run, repository),
            "a photograph": pictures.ask(run, repository),
        }


def differences(run, requests) -> tuple[list[str], dict[str, float]]:
    """Returns the differences when `run` gets the recorded requests, and the largest distance for
    each model."""
    found, largest = [], {}
    for number, (model, inputs, expected, turn) in enumerate(requests):
        got = run(model, inputs, list(expected), turn)
        for name, array in expected.items():
            what = f"request {number} to {model}, output {name}"
            if got[name] is None or (got[name].dtype, got[name].shape) != (array.dtype, array.shape):
                shape = None if got[name] is None else (got[name].dtype, got[name].shape)
                found.append(f"{what}: got {shape}, expected {array.dtype}, {array.shape}")
                continue
            distance = float(np.max(np.abs(got[name] - array)))
            largest[model] = max(largest.get(model, 0.0), distance)
            # The form of the condition makes a NaN fail, too.
            if not distance <= TOLERANCE:
                found.append(f"{what}: differs by {distance:.3g}")
    return found, largest


def segments_of_the_package(repository: Path) -> dict[str, list[tuple[int, int]]]:
    """Returns the intervals that the silero-vad package finds in the direct run's probabilities.

    The package's function is plain Python, but its module imports a framework, so only the function
    is used.
    """
    source = (repository.parent / "silero_vad_package" / "utils_vad.py").read_text("utf-8")
    name = "get_speech_timestamps_from_probs"
    body = [n for n in ast.parse(source).body if getattr(n, "name", "") == name]
    module = {"List": list}
    exec(compile(ast.Module(body, []), name, "exec"), module)  # pylint: disable=exec-used
    heard = speech.recordings()
    probabilities = speech.speech_probabilities(serving.Directly(repository), heard)
    return {
        recording: [
            (found["start"], found["end"])
            for found in module[name](
                probabilities[recording], speech.RATE, audio_length_samples=len(samples)
            )
        ]
        for recording, samples in heard.items()
    }


def wrong_readings(run) -> list[str]:
    """Returns the texts that the ensemble ocr reads wrong or finds at a wrong place."""
    wrong = []
    for name, (image, expected) in photographs.IMAGES.items():
        seen = image()
        answer = photographs.read(run, seen)
        texts = [text.decode("utf-8") for text in answer["texts"]]
        count = len(expected)
        shapes = [answer[output].shape for output in photographs.OUTPUTS]
        if texts != expected or shapes != [(count,), (count, 4, 2), (count,)]:
            wrong.append(f"{name}: {texts} of the shapes {shapes}, expected {expected}")
        elif not all(text_inside(seen, box) for box in answer["boxes"]):
            wrong.append(f"{name}: a box is not where the text is: {answer['boxes'].tolist()}")
    alone = run("ocr", {"image": np.asarray(photographs.IMAGES["drawn"][0]())}, ["texts"])["texts"]
    if [text.decode("utf-8") for text in alone] != photographs.EXPECTED["drawn"]:
        wrong.append(f"the texts alone: {alone}")
    return wrong


def text_inside(image, box) -> bool:
    """Returns whether the pixels around the middle of a box vary as text does, more than noise."""
    gray = np.asarray(image.convert("L"), np.float32)
    steps = np.linspace(0.1, 0.9, 200)[:, np.newaxis]
    left, right = (box[0] + box[3]) / 2, (box[1] + box[2]) / 2
    at = np.clip(left + (right - left) * steps, 0, np.array(image.size) - 1).astype(int)
    along = gray[at[:, 1], at[:, 0]]
    return float(along.max() - along.min()) > 30


def check(http: str, grpc: str, repository: Path) -> int:
    """Prints a line for each check and one with the counts; returns how many failed."""
    segments = segments_of_the_package(repository)
    recorder = Recorder(serving.Directly(repository))
    direct = ask_everything(recorder, repository)
    failed, passed = 0, 0
    expected = {
        "speech": speech.EXPECTED,
        "file types": file_types.EXPECTED,
        "text in an image": text_in_image.EXPECTED,
        "a photograph": pictures.EXPECTED,
    }
    for run in (serving.OverHttp(http), serving.OverGrpc(grpc)):
        answers = ask_everything(run, repository)
        for question, answer in answers.items():
            right = answer == direct[question] == expected[question]
            failed += not right
            passed += right
            print(f"{'ok  ' if right else 'FAIL'} {run.protocol}: {question}")
            if not right:
                print(f"     got      {answer}\n     directly {direct[question]}")
        heard = speech.ask_segments(run)
        failed += heard != segments
        passed += heard == segments
        print(f"{'ok  ' if heard == segments else 'FAIL'} {run.protocol}: speech to the sample")
        if heard != segments:
            print(f"     got      {heard}\n     package  {segments}")
        wrong = wrong_readings(run)
        failed += len(wrong)
        passed += not wrong
        print(f"{'FAIL' if wrong else 'ok  '} {run.protocol}: {len(photographs.IMAGES)} images")
        for text in wrong:
            print(f"     {text}")
        found, largest = differences(run, recorder.requests)
        failed += len(found)
        for text in found:
            print(f"FAIL {run.protocol}: {text}")
        if not found:
            passed += 1
            worst = ", ".join(f"{model} {value:.1e}" for model, value in sorted(largest.items()))
            print(f"ok   {run.protocol}: {len(recorder.requests)} requests; differences: {worst}")
        if run.protocol == "HTTP":
            for kind, mark in unseen.examine(run).items():
                failed += not mark.passes(kind)
                passed += mark.passes(kind)
                print(f"{'ok  ' if mark.passes(kind) else 'FAIL'} unseen, {kind}: {mark}")
        run.close()
    print(f"{passed} passed, {failed} failed")
    return failed


def free_ports(count: int) -> list[int]:
    """Returns ports on which nobody listens. All are held until the last one is chosen."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for held in sockets:
            held.bind(("127.0.0.1", 0))
        return [held.getsockname()[1] for held in sockets]


@contextlib.contextmanager
def started(program: Path, repository: Path, *options: str):
    """Runs a server over the repository; yields its HTTP and gRPC addresses."""
    http, grpc, metrics = free_ports(3)
    command = [str(program), "serve", f"--model-repository={repository}"]
    command += [f"--http-port={http}", f"--grpc-port={grpc}", f"--metrics-port={metrics}"]
    # The plug-ins of the same build, not the installed ones.
    command += [f"--backend-directory={program.resolve().parents[1] / 'backends'}", *options]
    with tempfile.TemporaryFile(mode="w+") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_until_ready(server, http)
            yield f"localhost:{http}", f"localhost:{grpc}"
            server.send_signal(signal.SIGTERM)
            if server.wait(STOP_LIMIT) != 0:
                raise RuntimeError(f"the server ended with exit code {server.returncode}")
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read()[-4000:])
            raise
        finally:
            server.kill()
            server.wait()


def wait_until_ready(server: subprocess.Popen, port: int) -> None:
    url = f"http://localhost:{port}/v2/health/ready"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended at once with exit code {server.returncode}")
        try:
            direct.open(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"the server was not ready after {START_LIMIT} s")


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare a server's answers with direct runs.")
    parser.add_argument("--repository", type=Path, required=True, metavar="DIRECTORY")
    parser.add_argument("--http", metavar="HOST:PORT")
    parser.add_argument("--grpc", metavar="HOST:PORT")
    parser.add_argument("--server", type=Path, metavar="PROGRAM", help="the server program to start")
    options = parser.parse_args()
    if options.server:
        with started(options.server, options.repository) as (http, grpc):
            failed = check(http, grpc, options.repository)
    elif options.http and options.grpc:
        failed = check(options.http, options.grpc, options.repository)
    else:
        parser.error("name a server with --http and --grpc, or a program with --server")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
