# SPDX-License-Identifier: Apache-2.0
"""The request to the ensemble ocr: which text does this image contain? One request, image in, text
out.

The images are drawn text, and the same text changed to look like photographs: noise, blur, a
rotated or tilted camera, uneven light, low contrast, JPEG. One image is blank.
"""

import io
from typing import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import text_in_image

OUTPUTS = ["texts", "boxes", "scores"]
PAPER = (236, 230, 214)
INK = (40, 42, 60)
SIGN = ["Way out", "Last train 23:45", "Mind the gap"]


def draw(lines: list[str], size=(720, 360), paper=PAPER, ink=INK, height=40) -> Image.Image:
    image = Image.new("RGB", size, paper)
    font = ImageFont.truetype(str(text_in_image.FONT), height)
    pencil = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        # The spaces are wide, as on a sign, because the model sometimes misses a narrow space.
        pencil.text((90, 60 + 90 * row), line.replace(" ", "  "), fill=ink, font=font)
    return image


def noisy(image: Image.Image, strength: float) -> Image.Image:
    noise = np.random.default_rng(7).normal(0, strength, (image.height, image.width, 3))
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))


def lit_from_the_side(image: Image.Image) -> Image.Image:
    """Applies full light at the lower right corner and a third of it at the upper left corner."""
    rows, columns = np.mgrid[0 : image.height, 0 : image.width]
    light = 0.33 + 0.67 * (rows / image.height + columns / image.width) / 2
    return Image.fromarray((np.asarray(image) * light[:, :, np.newaxis]).astype(np.uint8))


Corners = list[tuple[float, float]]


def perspective(image: Image.Image, stood: Corners, seen: Corners, around) -> Image.Image:
    """Moves the four corners `stood` of the image to the points `seen`."""
    equations, values = [], []
    for (x, y), (u, v) in zip(seen, stood):
        equations += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    coefficients = np.linalg.solve(np.array(equations), np.array(values))
    return image.transform(
        image.size, Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BICUBIC,
        fillcolor=around,
    )


def from_aside(image: Image.Image) -> Image.Image:
    """Applies the perspective of a camera on the left: the right side is smaller, and the lines
    converge."""
    width, height = image.size
    stood = [(0, 0), (width, 0), (width, height), (0, height)]
    seen = [(0, 0), (width, 0.12 * height), (width, 0.9 * height), (0, height)]
    return perspective(image, stood, seen, PAPER)


def turned(image: Image.Image, degrees: float) -> Image.Image:
    return image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=PAPER)


def compressed(image: Image.Image) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=50)
    return Image.open(file).convert("RGB")


def photographed(image: Image.Image) -> Image.Image:
    """Applies a little of each effect."""
    seen = turned(from_aside(image), -4)
    blurred = lit_from_the_side(seen).filter(ImageFilter.GaussianBlur(1.0))
    return compressed(noisy(blurred, 6))


IMAGES: dict[str, tuple[Callable[[], Image.Image], list[str]]] = {
    "drawn": (text_in_image.draw_image, text_in_image.LINES),
    "white on black": (lambda: draw(SIGN, paper="black", ink="white"), SIGN),
    "low contrast": (lambda: draw(SIGN, paper=(150, 150, 150), ink=(110, 110, 118)), SIGN),
    "noise": (lambda: noisy(draw(SIGN), 25), SIGN),
    "blur": (lambda: draw(SIGN).filter(ImageFilter.GaussianBlur(1.6)), SIGN),
    "turned 7 degrees": (lambda: turned(draw(SIGN), 7), SIGN),
    "turned -12 degrees": (lambda: turned(draw(SIGN), -12), SIGN),
    "from aside": (lambda: from_aside(draw(SIGN)), SIGN),
    "uneven light": (lambda: lit_from_the_side(draw(SIGN)), SIGN),
    "JPEG": (lambda: compressed(draw(SIGN)), SIGN),
    "photographed": (lambda: photographed(draw(SIGN)), SIGN),
    "photographed large": (
        lambda: photographed(draw(SIGN).resize((2160, 1080), Image.Resampling.BICUBIC)), SIGN,
    ),
    "small": (lambda: draw(["Exit 12"], (213, 111), height=24).crop((60, 40, 213, 111)), ["Exit 12"]),
    "nothing": (lambda: noisy(Image.new("RGB", (400, 300), PAPER), 8), []),
}


def read(run, image: Image.Image) -> dict[str, np.ndarray]:
    """`texts` (lines, as bytes), `boxes` [lines, 4, 2] in pixels, `scores` [lines]."""
    return run("ocr", {"image": np.asarray(image)}, OUTPUTS)


def ask(run, names=("photographed", "nothing")) -> dict[str, list[str]]:
    """Prints the lines of each image with their scores; returns the lines."""
    found = {}
    for name in names:
        answer = read(run, IMAGES[name][0]())
        found[name] = [text.decode("utf-8") for text in answer["texts"]]
        lines = [f"{text!r} {score:.3f}" for text, score in zip(found[name], answer["scores"])]
        print(f"  {name + ':':<24} {', '.join(lines) or 'no text'}")
    return found


EXPECTED = {name: lines for name, (_, lines) in IMAGES.items()}
