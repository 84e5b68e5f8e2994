# SPDX-License-Identifier: Apache-2.0
"""public_client.py HTTP GRPC METRICS SCRIPT: runs a client program that was written for the usual ports of
a server on this machine, unchanged, with a server on other ports."""

import contextlib
import importlib.util
import runpy
import sys
import unittest.mock

import tritonclient.grpc
import tritonclient.http


def redirect(module, attribute, ports):
    """Replaces the usual addresses in the first argument of module.attribute, or in its url."""
    function = getattr(module, attribute)

    def redirected(url):
        for usual, port in ports.items():
            url = url.replace(f"localhost:{usual}", f"127.0.0.1:{port}")
        return url

    def call(*arguments, **named):
        if arguments:
            arguments = (redirected(arguments[0]), *arguments[1:])
        else:
            named["url"] = redirected(named["url"])
        return function(*arguments, **named)

    return unittest.mock.patch.object(module, attribute, call)


def main():
    """Runs the program."""
    http, grpc, metrics, script = sys.argv[1:]
    ports = {8000: http, 8001: grpc, 8002: metrics}
    sys.argv = [script]
    with contextlib.ExitStack() as redirected:
        redirected.enter_context(redirect(tritonclient.http, "InferenceServerClient", ports))
        redirected.enter_context(redirect(tritonclient.grpc, "InferenceServerClient", ports))
        if importlib.util.find_spec("requests") is not None:
            import requests  # one of the programs asks for metrics with it
            redirected.enter_context(redirect(requests, "get", ports))
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
