#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the silero-vad package itself makes of the examples' recordings with its TorchScript
model, as silero_vad.json beside this file.

    make_silero.py PACKAGE     the folder silero_vad of the unpacked wheel of silero-vad 6.2.3

Run by hand, with PyTorch. The recordings are those of examples/speech.py.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples"))
sys.modules.setdefault("serving", types.SimpleNamespace(Turn=None))  # asks servers; not needed here
import speech  # noqa: E402


def main():
    package = Path(sys.argv[1])
    sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))  # only reads files
    spec = importlib.util.spec_from_file_location("utils_vad", package / "utils_vad.py")
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    model = torch.jit.load(package / "data" / "silero_vad.jit").eval()
    found = {}
    for name, samples in speech.recordings().items():
        audio = torch.from_numpy(samples)
        segments = utils.get_speech_timestamps(audio, model, sampling_rate=speech.RATE)
        model.reset_states()
        chunks = torch.nn.functional.pad(audio, (0, -len(audio) % speech.CHUNK))
        with torch.no_grad():
            probabilities = [model(chunk[None], speech.RATE).item()
                             for chunk in chunks.split(speech.CHUNK)]
        model.reset_states()
        found[name] = {"segments": [[s["start"], s["end"]] for s in segments],
                       "probabilities": probabilities}
    (HERE / "silero_vad.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
