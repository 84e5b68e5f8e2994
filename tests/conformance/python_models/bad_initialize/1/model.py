# SPDX-License-Identifier: Apache-2.0
"""Fails in initialize."""


class TritonPythonModel:
    def initialize(self, args):
        raise RuntimeError("no öil in the engine")

    def execute(self, requests):
        return None
