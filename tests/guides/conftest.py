# SPDX-License-Identifier: Apache-2.0
"""The options and programs of the tests of deploy/."""

import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location(
    "deploy_fixtures", Path(__file__).resolve().parents[1] / "deploy" / "conftest.py")
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
pytest_addoption = _fixtures.pytest_addoption
backends = _fixtures.backends
is_peer = _fixtures.is_peer
server_command = _fixtures.server_command
