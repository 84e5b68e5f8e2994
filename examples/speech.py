# SPDX-License-Identifier: Apache-2.0
"""The request to silero_vad: where in this recording is speech?

The recordings are those that Debian's alsa-utils installs to test loudspeakers: a voice that names
a loudspeaker, and a burst of noise. This file makes a silence, and a recording of all loudspeakers
in turn, as speaker-test(1) plays it.

Each recording is a sequence of requests whose state stays in the server. All recordings are sent at
the same time, one piece of each in turn.
"""

import uuid
import wave
from pathlib import Path

import numpy as np

from serving import Turn

SOUNDS = Path("/usr/share/sounds/alsa")
RATE = 16000
CHUNK = 512  # samples in one request: 32 ms
CONTEXT = 64  # samples of the previous chunk, which the model needs again


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

    Without the filter, frequencies above 8 kHz would appear as aliases.
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


def pieces(samples: np.ndarray):
    """Returns [1, CONTEXT + CHUNK] for each 32 ms: the end of the previous piece, and the new
    samples."""
    chunks = -(-len(samples) // CHUNK)
    padded = np.zeros(CONTEXT + chunks * CHUNK, dtype=np.float32)
    padded[CONTEXT : CONTEXT + len(samples)] = samples
    for start in range(0, chunks * CHUNK, CHUNK):
        yield padded[np.newaxis, start : start + CONTEXT + CHUNK]


def speech_probabilities(run, recordings: dict[str, np.ndarray]) -> dict[str, list[float]]:
    """One probability for each 32 ms of each recording."""
    # The id must differ from the ids of all other sequences.
    ids = {name: f"{name} {uuid.uuid4()}" for name in recordings}
    waiting = {name: list(pieces(samples)) for name, samples in recordings.items()}
    found = {name: [] for name in recordings}
    for place in range(max(map(len, waiting.values()))):
        for name, parts in waiting.items():
            if place >= len(parts):
                continue
            turn = Turn(ids[name], start=place == 0, end=place == len(parts) - 1)
            inputs = {"input": parts[place], "sr": np.array([RATE], dtype=np.int64)}
            answer = run("silero_vad", inputs, ["output"], turn)
            found[name].append(float(answer["output"][0, 0]))
    return found


# An interval begins where the probability of speech is above one half, and ends where it has been
# low for some time. Short intervals are dropped. The numbers are the defaults of the package.
BEGIN = 0.5
END = 0.35
SHORTEST = 0.25 * RATE
PAUSE = 0.1 * RATE
MARGIN = int(0.03 * RATE)  # extension of an interval on both sides


def speech_segments(probabilities: list[float], samples: int) -> list[tuple[int, int]]:
    """Returns the first sample of each interval of speech, and the first sample after it."""
    found = []
    begin = quiet_since = None
    for place, probability in enumerate(probabilities):
        now = place * CHUNK
        if probability >= BEGIN:
            begin = now if begin is None else begin
            quiet_since = None
        elif probability < END and begin is not None:
            quiet_since = now if quiet_since is None else quiet_since
            if now - quiet_since >= PAUSE:
                found.append((begin, quiet_since))
                begin = quiet_since = None
    if begin is not None:
        found.append((begin, samples))
    return with_margins([(a, b) for a, b in found if b - a > SHORTEST], samples)


def with_margins(stretches: list[tuple[int, int]], samples: int) -> list[tuple[int, int]]:
    """Extends each interval by MARGIN on both sides. If two would overlap, they share the pause."""
    begins = [a for a, _ in stretches]
    ends = [b for _, b in stretches]
    for i in range(len(stretches) - 1):
        pause = begins[i + 1] - ends[i]
        grows = MARGIN if pause >= 2 * MARGIN else pause // 2
        ends[i] += grows
        begins[i + 1] -= grows
    if stretches:
        begins[0] = max(0, begins[0] - MARGIN)
        ends[-1] = min(samples, ends[-1] + MARGIN)
    return list(zip(begins, ends))


LOUDSPEAKERS = ["Front_Left", "Front_Center", "Front_Right", "Side_Right", "Rear_Right",
                "Rear_Center", "Rear_Left", "Side_Left"]


def recordings() -> dict[str, np.ndarray]:
    """Name to samples at 16 kHz."""
    if not (SOUNDS / "Front_Center.wav").is_file():
        raise FileNotFoundError(f"no recordings in {SOUNDS}: install the package alsa-utils")
    found = {name: read_wav(SOUNDS / name) for name in ("Front_Center.wav", "Noise.wav")}
    found["a second of silence"] = np.zeros(RATE, dtype=np.float32)
    walk = [read_wav(SOUNDS / f"{name}.wav") for name in LOUDSPEAKERS]
    found["round the loudspeakers"] = np.concatenate(walk)
    return found


# Numbers of intervals of speech: "front, center" has two, some other recordings have one.
EXPECTED = {
    "Front_Center.wav": 2,
    "Noise.wav": 0,
    "a second of silence": 0,
    "round the loudspeakers": 10,
}


def ask_segments(run) -> dict[str, list[tuple[int, int]]]:
    """Returns the intervals of speech in each recording, in samples."""
    heard = recordings()
    probabilities = speech_probabilities(run, heard)
    return {name: speech_segments(probabilities[name], len(heard[name])) for name in heard}


def ask(run) -> dict[str, int]:
    """Prints the intervals of speech in each recording and returns their numbers."""
    heard = ask_segments(run)
    for name, segments in heard.items():
        where = [f"{begin / RATE:.2f}-{end / RATE:.2f} s" for begin, end in segments]
        for first in range(0, max(1, len(where)), 4):
            title = name if first == 0 else ""
            print(f"  {title:<23} {', '.join(where[first : first + 4]) or 'no speech'}")
    return {name: len(segments) for name, segments in heard.items()}
