# SPDX-License-Identifier: Apache-2.0
"""nereid infer against whole servers: forms of inputs, outputs, both protocols, streams, and servers
that are hostile."""

import io
import json
import socket as sockets
import subprocess
import threading
import wave

import command_line
import decoupled_models
import models
import numpy as np
import pytest
from PIL import Image


def write(root):
    repository = models.Repository(root)
    repository.identity("numbers", [("FP32", [-1])], batch=4)
    repository.identity("half", [("FP16", [3])])
    repository.identity("text", [("BYTES", [-1])])
    repository.identity("picture", [("UINT8", [2, 4, 3])])
    repository.identity("two", [("INT64", [2]), ("BOOL", [1])])


@pytest.fixture(scope="module")
def tool(request):
    return command_line.runner(request.config)


@pytest.fixture(scope="module")
def serving(start_server):
    return start_server("tool-infer", write)


@pytest.fixture(params=["http", "grpc"])
def url(request, serving):
    return f"http://{serving.http}" if request.param == "http" else f"grpc://{serving.grpc}"


def answer(done):
    """The outputs of --format json by name."""
    return {o["name"]: o for o in json.loads(done.stdout.splitlines()[0])["outputs"]}


def test_numbers(tool, serving, url):
    done = tool(serving, "infer", "numbers", "-i", "INPUT0=1,2.5,-3", url=url)
    head, name, values = done.stdout.splitlines()
    assert head.startswith("numbers version 1, ") and head.endswith(" ms")
    assert name == "OUTPUT0  FP32  [1,3]" and values == "  [[  1, 2.5,  -3]]"
    done = tool(serving, "infer", "two", "-i", "INPUT0=[9007199254740993,-1]", "-i", "INPUT1=true",
                "--format", "json", "--id", "me", url=url)
    assert answer(done)["OUTPUT0"]["data"] == [9007199254740993, -1]
    assert answer(done)["OUTPUT1"]["data"] == [True]
    assert json.loads(done.stdout)["id"] == "me"


def test_halves_and_texts(tool, serving, url):
    done = tool(serving, "infer", "half", "-i", "INPUT0=0.5,65504,-2", "--format=json", url=url)
    assert answer(done)["OUTPUT0"]["data"] == [0.5, 65504, -2]
    done = tool(serving, "infer", "text", "-i", "INPUT0=a \x1b[2J\nb", url=url)
    assert done.stdout.splitlines()[-1] == '  ["a \\x1b[2J\\nb"]'


def test_files(tool, serving, url, tmp_path):
    np.save(tmp_path / "in.npy", np.arange(6, dtype=np.float64).reshape(2, 3))
    saved = tmp_path / "out.npy"
    tool(serving, "infer", "numbers", "-i", f"INPUT0=@{tmp_path}/in.npy", "-o", f"OUTPUT0={saved}",
         url=url)
    assert np.array_equal(np.load(saved), np.arange(6, dtype=np.float32).reshape(2, 3))
    assert np.load(saved).dtype == np.float32
    np.save(tmp_path / "text.npy", np.array(["é", "b"]))
    done = tool(serving, "infer", "text", "-i", f"INPUT0=@{tmp_path}/text.npy", "--format=json",
                url=url)
    assert answer(done)["OUTPUT0"]["data"] == ["é", "b"]


def test_recordings(tool, serving, url, tmp_path):
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(np.array([-32768, 0, 16384], "<i2").tobytes())
    words = ("infer", "numbers", "-i", f"INPUT0=@{tmp_path}/a.wav", "--format=json")
    done = tool(serving, *words, "--audio-rate", "16000", url=url)
    assert answer(done)["OUTPUT0"]["data"] == [-1, 0, 0.5]
    done = tool(serving, *words, "--audio-rate", "8000", url=url, code=2)
    assert "has 16000 frames in a second, and --audio-rate says 8000" in done.stderr


def test_a_photograph_is_turned_upright(tool, serving, url, tmp_path):
    """The camera was held so that the left half of what it saw is the upper half of the file."""
    pixels = np.zeros((16, 8, 3), np.uint8)
    pixels[:8] = 200
    exif = Image.Exif()
    exif[0x0112] = 8
    Image.fromarray(pixels).save(tmp_path / "turned.jpg", quality=100, exif=exif)
    done = tool(serving, "infer", "picture", "-i", f"INPUT0=@{tmp_path}/turned.jpg",
                "--format=json", url=url)
    seen = np.reshape(answer(done)["OUTPUT0"]["data"], (2, 4, 3))
    assert (seen[:, 0] > 190).all() and (seen[:, 3] < 10).all()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "PPM"])
def test_pictures(tool, serving, form, tmp_path):
    pixels = np.full((2, 4, 3), (200, 100, 50), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, form, **({"quality": 100} if form == "JPEG" else {}))
    path = tmp_path / f"picture.{form.lower()}"
    path.write_bytes(file.getvalue())
    try:
        done = tool(serving, "infer", "picture", "-i", f"INPUT0=@{path}", "--format=json")
    except AssertionError as error:
        if "apt install" in str(error):
            pytest.skip(str(error))
        raise
    got = np.array(answer(done)["OUTPUT0"]["data"]).reshape(2, 4, 3)
    assert np.abs(got - pixels.astype(int)).max() <= 2
    path.write_bytes(file.getvalue()[:30])
    broken = tool(serving, "infer", "picture", "-i", f"INPUT0=@{path}", code=2)
    assert "input 'INPUT0': " in broken.stderr


def test_many(tool, serving, url):
    done = tool(serving, "infer", "numbers", "-i", "INPUT0=random", "--repeat=40",
                "--concurrency=4", "--format=json", url=url)
    summary = json.loads(done.stdout.splitlines()[1])
    assert summary["answered"] == 40 and summary["failed"] == 0 and summary["throughput"] > 0


def test_refusals(tool, serving, url):
    assert "none" in tool(serving, "infer", "none", "-i", "INPUT0=1", url=url, code=2).stderr
    failed = tool(serving, "infer", "numbers", "-i", "INPUT0=zeros", "--shape", "INPUT0=5,1", url=url,
                  code=1)
    assert "batch" in failed.stderr
    assert "the input 'INPUT0' has no value" in tool(serving, "infer", "text", url=url,
                                                     code=2).stderr


def test_a_decoupled_model(tool, start_server, server_plugins):
    server = start_server("tool-infer-decoupled", decoupled_models.write(server_plugins))
    words = ("infer", "repeat_int32", "-i", "IN=4,5", "-i", "DELAY=0,0", "-i", "WAIT=0")
    for url in (f"http://{server.http}", f"grpc://{server.grpc}"):
        done = tool(server, *words, "--format=json", url=url)
        got = [json.loads(line)["outputs"] for line in done.stdout.splitlines()]
        values = [o["data"] for outputs in got for o in outputs if o["name"] == "OUT"]
        assert values[:2] == [[4], [5]]
        assert "responses in" in tool(server, *words, url=url).stdout


def test_classes(tool, serving):
    done = tool(serving, "infer", "numbers", "-i", "INPUT0=1,3,2", "--classes=2")
    assert done.stdout.splitlines()[1:] == [
        "OUTPUT0  BYTES  [1,2]", "  ITEM  SCORE     CLASS  LABEL", "  0     3.000000  1",
        "  0     2.000000  2"]


def test_nobody_reads(request, serving):
    """A closed pipe ends the tool with a code and without a crash."""
    reader = subprocess.Popen(
        [command_line.program(request.config), "infer", "numbers", "-i", "INPUT0=1"],
        stdout=subprocess.PIPE, env=command_line.environment(serving))
    reader.stdout.close()
    assert reader.wait(60) == 2


METADATA = json.dumps({"name": "m", "versions": ["1"], "inputs": [
    {"name": "a", "datatype": "FP32", "shape": [1]}], "outputs": [
    {"name": "b\x1b[2J", "datatype": "FP32", "shape": [1]}]}).encode()
OUTPUT = b'{"outputs":[{"name":"b","datatype":"FP32","shape":[%s],"data":[1]}]}'
ANSWERS = [b"<html>", b"[" * 5000, OUTPUT % b"2", OUTPUT % b"9223372036854775807,9223372036854775807",
           b"{}" * 100, OUTPUT.replace(b"FP32", b"\\u001b[2J") % b"1"]


@pytest.mark.parametrize("body", ANSWERS, ids=range(len(ANSWERS)))
def test_a_hostile_server(tool, body):
    with sockets.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def serve():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    while request := connection.recv(65536):
                        content = body if request.startswith(b"POST") else METADATA
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
                                           % (len(content), content))

        threading.Thread(target=serve, daemon=True).start()
        done = tool(None, "infer", "m", "-i", "a=1", code=1,
                    url=f"127.0.0.1:{listener.getsockname()[1]}")
        assert done.stderr.startswith("nereid infer: ") and "\x1b" not in done.stderr + done.stdout
