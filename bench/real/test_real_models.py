# SPDX-License-Identifier: Apache-2.0
"""Tests of bench/real_models: its judgement with figures that are made up, and a short run."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "real"), str(ROOT / "bench" / "compare")]
# pylint: disable=wrong-import-position
import catalogue
import table
import targets


def rounds(latency_ms, throughput, cpu_ms=1.0):
    return [{"p50_us": latency_ms * 1000 * spread, "throughput": throughput / spread,
             "cpu_us": cpu_ms * 1000} for spread in (0.9, 1, 1.3)]


def results(default_ms, default_rate):
    lone = {"direct/1/1": rounds(100, 10), "direct/2/1": rounds(60, 16),
            "default": rounds(default_ms, 15), "tuned/wide": rounds(62, 15),
            "transport": rounds(1, 1000), "triton": rounds(90, 11)}
    crowd = {"direct/1/4": rounds(200, 20), "direct/2/4": rounds(240, 16),
             "default": rounds(200, default_rate), "tuned/narrow": rounds(200, 19),
             "transport": rounds(1, 1e6), "triton": rounds(400, 10)}
    memory = {"direct/1": 100, "direct/2": 100, "default": 120, "triton": 300}
    return {"models": {"m": {1: lone, 4: crowd}}, "memory_mib": {"m": memory}}


def missed(given):
    return [(v.clients, v.target) for v in targets.judge(given) if not v.reached]


def test_the_best_direct_call_is_the_measure():
    assert missed(results(66, 19.5)) == []
    assert missed(results(68.5, 19.5)) == [(1, "latency beside direct/2/1")]
    assert missed(results(66, 18.5)) == [(4, "throughput beside direct/1/4"),
                                         (4, "throughput beside tuned/narrow")]


def test_the_way_of_a_request_is_not_the_models():
    """A model of 10 us cannot be served in 11: what a request costs without a model is allowed."""
    given = results(66, 19.5)
    lone = given["models"]["m"][1]
    lone.update({"direct/2/1": rounds(0.01, 1e5), "transport": rounds(0.1, 9000),
                 "default": rounds(0.11, 8500)})
    assert missed(given) == []
    lone["default"] = rounds(0.2, 5000)
    assert missed(given) == [(1, "latency beside direct/2/1")]


def test_several_models_at_once():
    one = {"default": {"a": {"throughput": 20}, "b": {"throughput": 30}},
           "off": {"a": {"throughput": 10}, "b": {"throughput": 30}}}
    verdict = targets.judge_together([one] * 3)
    assert verdict.reached and round(verdict.value, 3) == 1.414
    one["off"]["b"]["throughput"] = 40
    assert not targets.judge_together([one] * 3).reached


def test_table_and_plot():
    given = json.loads(json.dumps(results(66, 19.5)))  # numbers of clients become texts
    text = table.markdown(given)
    assert "| m | 1 | 60.0 ms | 66.0 ms | 62.0 ms | 90.0 ms | 1.00 | 1.00 | 1.00 | 100 | 120 | 300 |" \
        in text
    assert "| m | 4 | 20.0/s | 19.5/s | 19.0/s | 10.0/s |" in text
    assert table.svg(given, 4).count("<rect") == 1 + 3 + 3
    del given["models"]["m"]["1"]["triton"]
    assert "| m | 1 | 60.0 ms | 66.0 ms | 62.0 ms | - |" in table.markdown(given)


def test_every_model_has_one_source():
    names = [model.name for model in catalogue.MODELS]
    assert len(set(names)) == len(names)
    assert all((model.weights is None) != (model.build is None) for model in catalogue.MODELS)
    assert any(model.quick for model in catalogue.MODELS)


def test_a_short_run(tmp_path):
    """Models that need no download, without Triton."""
    quick = [model for model in catalogue.MODELS if model.quick]
    assert all(model.build for model in quick)
    build = os.environ.get("NEREID_BUILD", ROOT / "build" / "release")
    command = [sys.executable, ROOT / "bench" / "real_models", "--quick", "--no-triton",
               "--build", build,
               "--files", tmp_path / "files", "--json", tmp_path / "results.json",
               "--markdown", tmp_path / "table.md", "--svg", tmp_path / "plots"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "results.json").read_text())
    assert set(found["models"]) == {model.name for model in quick}
    for by_clients in found["models"].values():
        assert set(by_clients) == {"1", "4", "16"}
        for arrangements in by_clients.values():
            assert {"default", "transport", "tuned/wide"} <= set(arrangements)
            assert all(r["requests"] > 0 for some in arrangements.values() for r in some)
    assert (tmp_path / "plots" / "real_models_16.svg").read_text().startswith("<svg")
    assert "forest" in (tmp_path / "table.md").read_text()
