#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends a real request to each example model of a running server and prints the results.

    examples/ask.py [--http HOST:PORT] [--grpc HOST:PORT] [--repository DIRECTORY]

Speech, text and the photograph of a cat are sent over HTTP, file types and photographs of text over
gRPC. The repository is read for the labels, and the folder beside it for the cat. Exits with 1 if a
result is not the expected one.
"""

import argparse
import sys
from pathlib import Path

import file_types
import photographs
import pictures
import serving
import speech
import text_in_image

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description="Ask each example model one question.")
    parser.add_argument("--http", default="localhost:8000", metavar="HOST:PORT")
    parser.add_argument("--grpc", default="localhost:8001", metavar="HOST:PORT")
    parser.add_argument(
        "--repository",
        type=Path,
        default=HERE.parent / "build" / "examples" / "model_repository",
        metavar="DIRECTORY",
    )
    options = parser.parse_args()

    over_http = serving.OverHttp(options.http)
    over_grpc = serving.OverGrpc(options.grpc)
    wrong = []

    print("silero_vad, over HTTP: where in these recordings is speech?")
    if speech.ask(over_http) != speech.EXPECTED:
        wrong.append("silero_vad")
    print("magika, over gRPC: what kind of file is this?")
    if file_types.ask(over_grpc, options.repository) != file_types.EXPECTED:
        wrong.append("magika")
    print("ppocr_det and ppocr_rec, over HTTP: which text does this image show?")
    if text_in_image.ask(over_http, options.repository) != text_in_image.EXPECTED:
        wrong.append("ppocr_det and ppocr_rec")
    print("photo, over HTTP: what does this photograph show?")
    if pictures.ask(over_http, options.repository) != pictures.EXPECTED:
        wrong.append("photo")
    print("ocr, the ensemble of both, over gRPC: which text do these images show?")
    read = photographs.ask(over_grpc)
    if read != {name: photographs.EXPECTED[name] for name in read}:
        wrong.append("ocr")

    over_http.close()
    over_grpc.close()
    for models in wrong:
        print(f"{models}: this is not the expected answer", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
