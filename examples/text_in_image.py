# SPDX-License-Identifier: Apache-2.0
"""The request to ppocr_det and ppocr_rec: which text does this image contain, and where?

Two models, one after the other: the first one marks the pixels that belong to text; the lines are
cut out along the marks; the second one reads each line. The image is drawn here with a font of
Debian's package fonts-dejavu-core.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
LINES = ["Inference server", "two commands, four models", "models that read text"]

MARK = 0.3  # a pixel with this probability belongs to text
SURE = 0.5  # boxes with a lower mean probability are dropped
SMALLEST = 5  # pixels: boxes with a shorter side are specks
UNCLIP = 1.6  # the marks are smaller than the text: the boxes grow by this fraction of area / outline
LINE_HEIGHT = 48  # rows of the second model's input


class Box(NamedTuple):
    """A rectangle of pixels: left and top are included, right and bottom are not."""

    left: int
    top: int
    right: int
    bottom: int


def draw_image() -> Image.Image:
    if not FONT.is_file():
        raise FileNotFoundError(f"no font {FONT}: install the package fonts-dejavu-core")
    image = Image.new("RGB", (640, 320), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(str(FONT), 36)
    for row, line in enumerate(LINES):
        draw.text((40, 40 + 85 * row), line, fill="black", font=font)
    return image


def to_tensor(image: Image.Image) -> np.ndarray:
    """Returns [3, rows, columns], blue first, with values from -1 to 1, the form on which both
    models were trained."""
    pixels = np.asarray(image.convert("RGB"), dtype=np.float32)[:, :, ::-1]
    return np.ascontiguousarray((pixels / 255 - 0.5) / 0.5).transpose(2, 0, 1)


def text_probabilities(run, image: Image.Image) -> np.ndarray:
    """Returns [rows, columns] of the image, scaled to multiples of 32: the probability that each
    pixel is text."""
    width, height = (max(32, round(side / 32) * 32) for side in image.size)
    tensor = to_tensor(image.resize((width, height), Image.Resampling.BILINEAR))
    batch = np.ascontiguousarray(tensor[np.newaxis])
    answer = run("ppocr_det", {"x": batch}, ["sigmoid_0.tmp_0"])
    return answer["sigmoid_0.tmp_0"][0, 0]


def connected_areas(mask: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns rows and columns of each group of marked pixels that are connected horizontally or
    vertically."""
    left_to_visit = mask.copy()
    areas = []
    for row, column in zip(*np.nonzero(mask)):
        if not left_to_visit[row, column]:
            continue
        left_to_visit[row, column] = False
        stack, found = [(row, column)], []
        while stack:
            y, x = stack.pop()
            found.append((y, x))
            for near in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                inside = 0 <= near[0] < mask.shape[0] and 0 <= near[1] < mask.shape[1]
                if inside and left_to_visit[near]:
                    left_to_visit[near] = False
                    stack.append(near)
        ys, xs = np.array(found).T
        areas.append((ys, xs))
    return areas


def text_boxes(probabilities: np.ndarray, size: tuple[int, int]) -> list[Box]:
    """Upright boxes around the lines of text, top to bottom, in pixels of an image of `size`."""
    rows, columns = probabilities.shape
    scale_x, scale_y = size[0] / columns, size[1] / rows
    boxes = []
    for ys, xs in connected_areas(probabilities > MARK):
        left, right, top, bottom = xs.min(), xs.max() + 1, ys.min(), ys.max() + 1
        width, height = right - left, bottom - top
        if min(width, height) < SMALLEST or probabilities[ys, xs].mean() < SURE:
            continue
        grow = width * height * UNCLIP / (2 * (width + height))
        boxes.append(
            Box(
                max(0, round((left - grow) * scale_x)),
                max(0, round((top - grow) * scale_y)),
                min(size[0], round((right + grow) * scale_x)),
                min(size[1], round((bottom + grow) * scale_y)),
            )
        )
    return sorted(boxes, key=lambda box: (box.top, box.left))


def read_lines(run, image: Image.Image, boxes: list[Box], characters: list[str]):
    """Returns the text in each box and the mean probability of its characters, with one request for
    all."""
    cuts = []
    for box in boxes:
        cut = image.crop(box)
        width = max(LINE_HEIGHT, round(cut.width * LINE_HEIGHT / cut.height))
        cuts.append(to_tensor(cut.resize((width, LINE_HEIGHT), Image.Resampling.BILINEAR)))
    # A batch has one width: shorter lines are padded with gray on the right.
    batch = np.zeros((len(cuts), 3, LINE_HEIGHT, max(c.shape[2] for c in cuts)), np.float32)
    for row, cut in zip(batch, cuts):
        row[:, :, : cut.shape[2]] = cut
    answer = run("ppocr_rec", {"x": batch}, ["softmax_11.tmp_0"])
    return [decode(steps, characters) for steps in answer["softmax_11.tmp_0"]]


def decode(steps: np.ndarray, characters: list[str]) -> tuple[str, float]:
    """Converts [steps, entries] to text: takes the best entry of each step, merges repeats, and
    drops blanks."""
    best = steps.argmax(axis=1)
    kept = (best != 0) & (best != np.concatenate(([0], best[:-1])))
    text = "".join(characters[i] for i in best[kept])
    return text, float(steps.max(axis=1)[kept].mean()) if kept.any() else 0.0


def ask(run, repository: Path) -> list[str]:
    """Prints each line of text with its position and probability, and returns the lines."""
    text = (repository / "ppocr_rec" / "characters.txt").read_text(encoding="utf-8")
    characters = text.removesuffix("\n").split("\n")
    image = draw_image()
    boxes = text_boxes(text_probabilities(run, image), image.size)
    if not boxes:
        print("  no text found")
        return []
    lines = read_lines(run, image, boxes, characters)
    for box, (line, score) in zip(boxes, lines):
        place = f"({box.left}, {box.top}) to ({box.right}, {box.bottom})"
        print(f"  {place:<24} {line!r} {score:.3f}")
    return [line for line, _ in lines]


EXPECTED = LINES
