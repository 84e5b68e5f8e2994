# SPDX-License-Identifier: Apache-2.0
"""Prepares images for a network: decodes them (PPM, 8 bits for each color), scales them to the size
of the output, and returns the colors as planes of numbers from -1 to 1."""

import json
import re

import numpy as np
import triton_python_backend_utils as pb_utils


def decoded(data):
    """Returns an array of height, width and color."""
    header = re.match(rb"P6\s+(\d{1,5})\s+(\d{1,5})\s+255\s", data)
    if header is None:
        raise ValueError("no PPM image with 8 bits for each color")
    width, height = int(header[1]), int(header[2])
    pixels = np.frombuffer(data, np.uint8, offset=header.end())
    if not width or not height or pixels.size != width * height * 3:
        raise ValueError(f"{pixels.size} bytes for {width} x {height} pixels")
    return pixels.reshape(height, width, 3)


class TritonPythonModel:
    def initialize(self, args):
        output = pb_utils.get_output_config_by_name(json.loads(args["model_config"]), "PIXELS")
        self.type = pb_utils.triton_string_to_numpy(output["data_type"])
        self.height, self.width = (int(n) for n in output["dims"][1:])

    def execute(self, requests):
        return [self.response(request) for request in requests]

    def response(self, request):
        images = pb_utils.get_input_tensor_by_name(request, "IMAGE").as_numpy()
        try:
            prepared = [self.prepared(decoded(image)) for image in images[:, 0]]
        except ValueError as error:
            return pb_utils.InferenceResponse(error=pb_utils.TritonError(
                str(error), pb_utils.TritonError.INVALID_ARG))
        return pb_utils.InferenceResponse([pb_utils.Tensor("PIXELS", np.stack(prepared))])

    def prepared(self, image):
        height, width, _ = image.shape
        rows = np.arange(self.height) * height // self.height
        columns = np.arange(self.width) * width // self.width
        scaled = image[rows][:, columns].astype(self.type) / 127.5 - 1
        return scaled.transpose(2, 0, 1).astype(self.type)
