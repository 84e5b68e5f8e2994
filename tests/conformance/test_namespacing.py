# SPDX-License-Identifier: Apache-2.0
"""--model-namespacing: models of the same name in several repositories."""

import re

import ensembles
import models
import numpy as np
import pytest
import raw_http
import tritonclient.http as http_client
from tritonclient.utils import InferenceServerException

AMBIGUOUS = ("There are 2 identifiers of model '{}' in global map, model namespace must be "
             "provided to resolve ambiguity.")


def identity(root, name):
    models.Repository(root).identity(name, [("INT32", [4])], batch=8,
                                     extra=models.ONE_CPU_INSTANCE)


def ensemble(root, name, *members):
    ensembles.write_ensemble(root, name, ensembles.chain(*members), ensembles.X, ensembles.Y,
                             batch=8)


class Namespaces:
    """Three repositories and a server over them."""

    def __init__(self, start_server, folder, *flags):
        self.second = folder / "second"
        self.third = folder / "third"
        self.server = start_server(
            "namespacing", self.write, "--model-namespacing=true", "--exit-on-error=false",
            f"--model-repository={self.second}", f"--model-repository={self.third}", *flags,
            wait_path="/v2/health/live")
        self.first = self.server.repository
        self.client = http_client.InferenceServerClient(self.server.http)

    def write(self, first):
        for root in (first, self.second):
            identity(root, "m")
            ensemble(root, "both", "m")
        identity(first, "u1")
        identity(self.second, "u2")
        ensemble(first, "own", "m")
        ensemble(first, "mixed", "u2", "m")
        ensemble(self.third, "ambiguous", "m")

    def ready(self):
        index = self.client.get_model_repository_index()
        return sorted(m["name"] for m in index if m.get("state") == "READY")

    def works(self, model, name="INPUT0", output="OUTPUT0"):
        x = np.arange(4, dtype=np.int32).reshape(1, 4)
        tensor = http_client.InferInput(name, [1, 4], "INT32")
        tensor.set_data_from_numpy(x)
        return self.client.infer(model, [tensor]).as_numpy(output).tolist() == x.tolist()

    def error(self, model, name="INPUT0"):
        with pytest.raises(InferenceServerException) as caught:
            self.works(model, name)
        return caught.value.status(), caught.value.message()

    def steps(self, model):
        config = self.client.get_model_config(model)
        return [(s["model_name"], s["model_namespace"])
                for s in config["ensemble_scheduling"]["step"]]


@pytest.fixture(scope="module")
def spaces(start_server, tmp_path_factory):
    made = Namespaces(start_server, tmp_path_factory.mktemp("spaces"))
    yield made
    made.client.close()


@pytest.fixture
def explicit(start_server, tmp_path):
    made = Namespaces(start_server, tmp_path, "--model-control-mode=explicit")
    yield made
    made.client.close()


def test_both_are_in_the_index(spaces):
    assert spaces.ready() == ["both", "both", "m", "m", "mixed", "own", "u1", "u2"]


def test_a_unique_name_is_enough(spaces):
    assert spaces.works("u1") and spaces.works("u2")
    assert spaces.client.get_model_metadata("u2")["versions"] == ["1"]


def test_a_name_in_two_repositories_is_ambiguous(spaces):
    assert spaces.error("m") == ("400", AMBIGUOUS.format("m"))
    for ask in (spaces.client.get_model_metadata, spaces.client.get_model_config):
        with pytest.raises(InferenceServerException) as caught:
            ask("m")
        assert caught.value.message() == AMBIGUOUS.format("m")
    assert not spaces.client.is_model_ready("m")
    with pytest.raises(InferenceServerException, match="requested model 'm' is not available"):
        spaces.client.get_inference_statistics("m")


def test_an_ensemble_finds_its_members(spaces):
    assert spaces.works("own", "x", "y") and spaces.works("mixed", "x", "y")
    assert spaces.steps("own") == [("m", str(spaces.first))]
    assert spaces.steps("mixed") == [("u2", str(spaces.second)), ("m", str(spaces.first))]
    assert spaces.error("both", "x") == ("400", AMBIGUOUS.format("both"))


def test_statistics_of_all_models(spaces):
    statistics = spaces.client.get_inference_statistics()["model_stats"]
    assert sorted(m["name"] for m in statistics) == ["both", "both", "m", "m", "mixed", "own",
                                                     "u1", "u2"]


def test_metrics_name_the_namespace(spaces):
    text = raw_http.get(spaces.server, "/metrics", port=spaces.server.metrics_port).body.decode()
    lines = re.findall(r"^nv_inference_request_success\{(.*)\} ", text, re.MULTILINE)
    labels = [dict(re.findall(r'(\w+)="([^"]*)"', line)) for line in lines]
    named = sorted((m["model"], m["namespace"]) for m in labels if m["model"] in ("m", "u2"))
    assert named == sorted([("m", str(spaces.first)), ("m", str(spaces.second)),
                            ("u2", str(spaces.second))])


def test_load_and_unload_take_all_of_a_name(explicit):
    explicit.client.load_model("m")
    assert explicit.ready() == ["m", "m"]
    explicit.client.load_model("own")
    explicit.client.load_model("both")
    assert explicit.ready() == ["both", "both", "m", "m", "own"]
    explicit.client.unload_model("m")
    assert explicit.ready() == []
    assert explicit.error("m") == ("404", "Identifier of model 'm' is not found in global map")
    explicit.client.load_model("m")
    assert explicit.ready() == ["both", "both", "m", "m", "own"]
    assert explicit.works("own", "x", "y")


def test_an_ensemble_of_an_ambiguous_model_is_refused(explicit):
    explicit.client.load_model("m")
    with pytest.raises(InferenceServerException) as caught:
        explicit.client.load_model("ambiguous")
    model = f"{explicit.third}::ambiguous"
    assert caught.value.message() == (
        f"load failed for model '{model}': ensemble {model} contains models that are not "
        "available or ambiguous: m\n")
