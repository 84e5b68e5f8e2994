# SPDX-License-Identifier: Apache-2.0
"""Splits texts into words and returns the number of each word in a vocabulary, filled up with zeros."""

import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        words = parameters["vocabulary"]["string_value"].split(",")
        self.numbers = {word: number for number, word in enumerate(words, 2)}

    def execute(self, requests):
        responses = []
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy()[:, 0]
            rows = [[self.numbers.get(word, 1) for word in text.decode().lower().split()]
                    for text in texts]
            ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
            for i, row in enumerate(rows):
                ids[i, :len(row)] = row
            upper = np.array([[text.decode().upper()] for text in texts], np.object_)
            responses.append(pb_utils.InferenceResponse(
                [pb_utils.Tensor("IDS", ids), pb_utils.Tensor("UPPER", upper)]))
        return responses
