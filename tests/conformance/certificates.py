# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests, made by the openssl program when they are needed."""

import os
import ssl
import subprocess
from pathlib import Path

NEW_KEYS = {"ec": ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            "rsa2048": ("-newkey", "rsa:2048"), "rsa4096": ("-newkey", "rsa:4096")}


def openssl(*words, **options):
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, **options)


class Certificates:
    """A certificate authority "ca" in a folder, and what it has signed. NAME.crt and NAME.key are
    the files of NAME, for the hosts localhost and 127.0.0.1."""

    def __init__(self, folder: Path, key="ec"):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.key = key
        self.authority("ca")

    def path(self, name) -> Path:
        return self.folder / name

    @property
    def ca(self) -> Path:
        return self.path("ca.crt")

    def authority(self, name):
        openssl("req", "-x509", *NEW_KEYS["ec"], "-nodes", "-days", 2, "-subj", f"/CN={name}",
                "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.crt"))

    def issue(self, name, issuer="ca", days=2):
        """Makes a certificate for "CN=<name>,O=test" with a new key."""
        request = self.path(f"{name}.csr")
        openssl("req", *NEW_KEYS[self.key], "-nodes", "-subj", f"/O=test/CN={name}", "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", self.path(f"{name}.key"),
                "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.path(f"{issuer}.crt"), "-CAkey",
                self.path(f"{issuer}.key"), "-CAcreateserial", "-days", days, "-copy_extensions",
                "copy", "-out", self.path(f"{name}.crt"))
        return self

    def install(self, name, target):
        """Replaces the files of `target` by those of `name`, each at once."""
        for suffix in (".key", ".crt"):
            fresh = self.path(target + suffix + ".new")
            fresh.write_bytes(self.path(name + suffix).read_bytes())
            os.replace(fresh, self.path(target + suffix))

    def flags(self, service, name="server", mutual=False) -> list:
        """The server's flags; `service` is "http", "grpc" or "metrics"."""
        return [f"--{service}-use-ssl=true", f"--{service}-use-ssl-mutual={str(mutual).lower()}",
                f"--{service}-server-cert={self.path(name + '.crt')}",
                f"--{service}-server-key={self.path(name + '.key')}",
                *([f"--{service}-root-cert={self.ca}"] if mutual else [])]

    def context(self, *protocols, certificate=None) -> ssl.SSLContext:
        """What a Python client needs; `certificate` is the name of its own."""
        context = client_context(self.ca, *protocols)
        if certificate:
            context.load_cert_chain(self.path(f"{certificate}.crt"),
                                    self.path(f"{certificate}.key"))
        return context


def client_context(ca: Path, *protocols) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(ca))
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context
