# SPDX-License-Identifier: Apache-2.0
"""The real Triton refuses every text that Nereid refuses as a configuration.

Its answers do not contain the reason (its log does, in protobuf's words), so there are no messages
to compare. The texts are those of src/config/testdata/refused.
"""

import json
from pathlib import Path

import pytest
import raw_http

TEXTS = Path(__file__).resolve().parents[2] / "src" / "config" / "testdata" / "refused"
# Triton accepts names that are not UTF-8, although neither JSON nor gRPC can transfer them.
READ_BY_TRITON = {"invalid_utf8", "invalid_utf8_escape"}
GOOD = 'backend: "identity"\n'


def texts(ending):
    return sorted(TEXTS.glob(f"*.{ending}"))


@pytest.fixture(scope="module")
def triton(start_triton):
    def write(root):
        (root / "good" / "1").mkdir(parents=True)
        (root / "good" / "config.pbtxt").write_text(GOOD)
        for path in texts("pbtxt"):
            (root / path.stem / "1").mkdir(parents=True)
            (root / path.stem / "config.pbtxt").write_bytes(path.read_bytes())

    return start_triton("texts", write, "--model-control-mode=explicit")


def load(triton, model, document):
    path = f"/v2/repository/models/{model}/load"
    return raw_http.request(triton, "POST", path, json.dumps(document).encode())


def log_lines(triton, text):
    return [line for line in triton.log.read_text(errors="replace").splitlines() if text in line]


@pytest.mark.parametrize("path", texts("pbtxt"), ids=lambda path: path.stem)
def test_text_form(triton, path):
    assert load(triton, path.stem, {}).status == 500, path.read_bytes()
    unread = log_lines(triton, f"Poll failed for model directory '{path.stem}': "
                               "failed to read text proto from ")
    assert bool(unread) == (path.stem not in READ_BY_TRITON)


@pytest.mark.parametrize("path", texts("json"), ids=lambda path: path.stem)
def test_json_form(triton, path):
    refused = len(log_lines(triton, "Invalid config override: "))
    response = load(triton, "good", {"parameters": {"config": path.read_text()}})
    assert response.status != 200, response.body
    assert len(log_lines(triton, "Invalid config override: ")) > refused, response.body
