# SPDX-License-Identifier: Apache-2.0
"""The question to silero_vad: is there speech in this recording?

The recordings are those that Debian's alsa-utils installs for testing loudspeakers: a voice that
names a loudspeaker, and a burst of noise. A silence is made here.
"""

import wave
from pathlib import Path

import numpy as np

SOUNDS = Path("/usr/share/sounds/alsa")
RATE = 16000
CHUNK = 512  # samples in one request: 32 ms
CONTEXT = 64  # samples of the chunk before, which the model wants to see again


def read_wav(path: Path) -> np.ndarray:
    """A 16-bit recording as samples from -1 to 1 at 16 kHz, its channels averaged."""
    with wave.open(str(path), "rb") as recording:
        if recording.getsampwidth() != 2:
            raise ValueError(f"{path}: expected 16-bit samples")
        rate, channels = recording.getframerate(), recording.getnchannels()
        frames = recording.readframes(recording.getnframes())
    samples = np.frombuffer(frames, dtype="<i2").reshape(-1, channels).mean(axis=1) / 32768
    return to_16_khz(samples.astype(np.float32), rate)


def to_16_khz(samples: np.ndarray, rate: int) -> np.ndarray:
    """Keeps every third sample of 48 kHz (every second of 32 kHz, …) after a low-pass filter.

    Without the filter, what lies above 8 kHz would fold back into the band that is kept.
    """
    step, rest = divmod(rate, RATE)
    if rest != 0:
        raise ValueError(f"a rate of {rate} Hz is no multiple of {RATE} Hz")
    if step == 1:
        return samples
    reach = 16 * step
    taps = np.sinc(np.arange(-reach, reach + 1) / step) * np.hamming(2 * reach + 1)
    filtered = np.convolve(samples, taps / taps.sum(), mode="same")
    return np.ascontiguousarray(filtered[::step], dtype=np.float32)


def speech_probabilities(run, samples: np.ndarray) -> np.ndarray:
    """One probability for each 32 ms; the state goes out with a request and back with its answer."""
    chunks = -(-len(samples) // CHUNK)
    padded = np.zeros(CONTEXT + chunks * CHUNK, dtype=np.float32)
    padded[CONTEXT : CONTEXT + len(samples)] = samples
    state = np.zeros((2, 1, 128), dtype=np.float32)
    probabilities = []
    for start in range(0, chunks * CHUNK, CHUNK):
        inputs = {
            "input": padded[np.newaxis, start : start + CONTEXT + CHUNK],
            "state": state,
            "sr": np.array([RATE], dtype=np.int64),
        }
        answer = run("silero_vad", inputs, ["output", "stateN"])
        state = answer["stateN"]
        probabilities.append(float(answer["output"][0, 0]))
    return np.array(probabilities)


def speech_spans(probabilities: np.ndarray) -> list[tuple[float, float]]:
    """Beginnings and ends, in seconds, of the stretches that are more likely speech than not."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], probabilities > 0.5, [0]))))
    return [(a * CHUNK / RATE, b * CHUNK / RATE) for a, b in zip(edges[::2], edges[1::2])]


def recordings() -> dict[str, np.ndarray]:
    """Name to samples: two that speak, two that do not."""
    if not (SOUNDS / "Front_Center.wav").is_file():
        raise FileNotFoundError(f"no recordings in {SOUNDS}: install the package alsa-utils")
    return {
        "Front_Center.wav": read_wav(SOUNDS / "Front_Center.wav"),
        "Rear_Left.wav": read_wav(SOUNDS / "Rear_Left.wav"),
        "Noise.wav": read_wav(SOUNDS / "Noise.wav"),
        "a second of silence": np.zeros(RATE, dtype=np.float32),
    }


EXPECTED = {
    "Front_Center.wav": True,
    "Rear_Left.wav": True,
    "Noise.wav": False,
    "a second of silence": False,
}


def ask(run) -> dict[str, bool]:
    """Prints what the model says of each recording; returns whether it heard speech."""
    heard = {}
    for name, samples in recordings().items():
        probabilities = speech_probabilities(run, samples)
        spans = speech_spans(probabilities)
        heard[name] = bool(spans)
        where = ", ".join(f"{begin:.2f}-{end:.2f} s" for begin, end in spans) or "no speech"
        print(f"  {name:<22} highest probability {probabilities.max():.3f}   {where}")
    return heard
