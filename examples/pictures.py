# SPDX-License-Identifier: Apache-2.0
"""The request to the model photo: what does this photograph show?"""

from pathlib import Path

import numpy as np
from PIL import Image

SIDE = 224
EXPECTED = {"cat.png": "Egyptian cat"}


def tensor_of(path: Path) -> np.ndarray:
    """Returns the picture as the model takes it: [1, 224, 224, 3] of UINT8."""
    picture = Image.open(path).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return np.asarray(picture, np.uint8)[np.newaxis]


def ask(run, repository: Path) -> dict[str, str]:
    """Returns the most probable class of each picture."""
    labels = (repository / "photo" / "labels.txt").read_text("utf-8").splitlines()
    found = {}
    for name in EXPECTED:
        image = tensor_of(repository.parent / "pictures" / name)
        probabilities = run("photo", {"image": image}, ["class"])["class"][0]
        best = int(np.argmax(probabilities))
        found[name] = labels[best]
        print(f"  {name}: {labels[best]} ({probabilities[best]:.0%})")
    return found
