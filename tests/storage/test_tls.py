# SPDX-License-Identifier: Apache-2.0
"""Certificates of stores are verified."""

import datetime
import ipaddress
import ssl

import pytest
from azure_server import ACCOUNT, AzureServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from probe import Probe, ProbeFailed


def certificate(folder, address):
    """Makes a certificate that signs itself, for one address. Returns the file with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "store")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(address)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256()))
    file = folder / f"{address}.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))
    return file


def probe_of(serve, file, tmp_path):
    server = AzureServer()
    server.anonymous = True
    server.put("models", "a", b"content")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serve(server)
    return Probe(f"as://{ACCOUNT}/models", tmp_path,
                 AZURE_STORAGE_SERVICE_ENDPOINT=server.url.replace("http:", "https:"))


def test_only_trusted_certificates_are_accepted(serve, tmp_path):
    file = certificate(tmp_path, ipaddress.ip_address("127.0.0.1"))
    probe = probe_of(serve, file, tmp_path)
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Invalid argument"
    assert "certificate" in str(failed.value)
    probe.environment["AWS_CA_BUNDLE"] = str(file)
    assert probe.read("a") == b"content"


def test_the_name_must_be_that_of_the_server(serve, tmp_path):
    file = certificate(tmp_path, ipaddress.ip_address("127.0.0.2"))
    probe = probe_of(serve, file, tmp_path)
    probe.environment["SSL_CERT_FILE"] = str(file)
    with pytest.raises(ProbeFailed) as failed:
        probe.list()
    assert failed.value.code == "Invalid argument"
