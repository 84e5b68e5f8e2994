# SPDX-License-Identifier: Apache-2.0
"""auto_complete_config() of Python models."""

import pytest
from python_server import write_model

BODY = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
{body}

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([[1]], np.int32))])
                for _ in requests]
"""

COMPLETE = [
    'config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [1]})',
    'config.add_output({"name": "OUT", "data_type": "TYPE_INT32", "dims": [1]})',
    "config.set_max_batch_size(8)",
]
IN = 'input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }\n'
OUT = 'output { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }\n'
WHERE = "in auto-complete-config function for model"


def body(*lines):
    return BODY.format(body="\n".join(f"        {line}" for line in [*lines, "return config"]))


# name: (lines of the function, configuration, text of the error; {m} is the model's name)
REFUSED = {
    "batch": (["config.set_max_batch_size(4)"], "max_batch_size: 8\n",
              "configuration specified max_batch_size 8, but in auto-complete-config function for "
              "model '{m}' specified max_batch_size 4"),
    "scheduler": (["config.set_dynamic_batching()"], "sequence_batching { }\n" + IN + OUT,
                  "Configuration specified scheduling_choice as 'sequence_batching', but "
                  "auto-complete-config function for model '{m}' tries to set scheduling_choice as "
                  "'dynamic_batching'"),
    "extra": (['config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [1], "x": 1})'],
              "", "input 'IN' " + WHERE + " '{m}' contains property other than 'name', 'data_type', "
              "'dims' and 'optional'."),
    "no_name": (['config.add_input({"data_type": "TYPE_INT32", "dims": [1]})'], "",
                "input " + WHERE + " '{m}' is missing 'name' property."),
    "no_type": (['config.add_input({"name": "IN", "dims": [1]})'], "",
                "input 'IN' " + WHERE + " '{m}' is missing 'data_type' property."),
    "no_dims": (['config.add_input({"name": "IN", "data_type": "TYPE_INT32"})'], "",
                "input 'IN' " + WHERE + " '{m}' is missing 'dims' property."),
    "type": (['config.add_input({"name": "IN", "data_type": "TYPE_FP32", "dims": [1]})'], IN,
             "unable to load model '{m}', configuration expects datatype TYPE_INT32 for input 'IN', "
             "model provides TYPE_FP32"),
    "dims": (['config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [2]})'], IN,
             "model '{m}', tensor 'IN': the model expects dims [2] but the model configuration "
             "specifies dims [1]"),
    "optional": (['config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [1], '
                  '"optional": True})'], IN,
                 "model '{m}', tensor 'IN': the model expects optional True but the model "
                 "configuration specifies optional False"),
    "output_extra": (['config.add_output({"name": "OUT", "data_type": "TYPE_INT32", "dims": [1], '
                      '"optional": True})'], "",
                     "output 'OUT' " + WHERE + " '{m}' contains property other than 'name', "
                     "'data_type' and 'dims'."),
    "output_no_name": (['config.add_output({"data_type": "TYPE_INT32", "dims": [1]})'], "",
                       "output " + WHERE + " '{m}' is missing 'name' property."),
    "output_type": (['config.add_output({"name": "OUT", "data_type": "TYPE_FP32", "dims": [1]})'],
                    OUT, "unable to load model '{m}', configuration expects datatype TYPE_INT32 for "
                    "output 'OUT', model provides TYPE_FP32"),
    "policy": (['config.set_model_transaction_policy({"other": True})'], "",
               "model transaction property " + WHERE + " '{m}' contains property other than "
               "'decoupled'."),
    "decoupled": (['config.set_model_transaction_policy({"decoupled": False})'],
                  "model_transaction_policy { decoupled: true }\n",
                  "trying to change decoupled property in auto-complete-config for model '{m}', "
                  "which is already set to 'True'."),
    "none": (["return None"], "", "auto_complete_config function in model '{m}' must return a valid "
             "pb.ModelConfig object."),
    "text": (["return 'text'"], "", "auto_complete_config function in model '{m}' must return a "
             "valid pb.ModelConfig object."),
    "raises": (["raise ValueError('no')"], "", "ValueError: no"),
}

TAKEN = {
    "all": ([*COMPLETE, "config.set_dynamic_batching()",
             'config.set_model_transaction_policy({"decoupled": False})'], ""),
    "part": (COMPLETE, "max_batch_size: 4\n" + IN),
    "dictionary": (["config.as_dict()['max_batch_size'] = 2",
                    "config.as_dict()['input'] = [{'name': 'IN', 'data_type': 'TYPE_INT32', "
                    "'dims': [1]}]", COMPLETE[1]], ""),
    "ignored": ([*COMPLETE, "config.as_dict()['version_policy'] = {'all': {}}",
                 "config.as_dict()['parameters'] = {'x': {'string_value': 'y'}}"], ""),
    "decoupled_policy": ([*COMPLETE, 'config.set_model_transaction_policy({"decoupled": True})'],
                         ""),
    "optional": (['config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [1], '
                  '"optional": True})', *COMPLETE[1:]], ""),
}


@pytest.fixture(scope="module")
def completing(start_python):
    """A server whose models complete their configurations."""
    def write(root):
        for name, (lines, config) in TAKEN.items():
            write_model(root, f"takes_{name}", body(*lines), config)
        for name, (lines, config, _) in REFUSED.items():
            write_model(root, f"refuses_{name}", body(*lines), config)
        plain = body(*COMPLETE).replace("    @staticmethod\n", "")
        write_model(root, "takes_method", plain)
        without = body().replace("    @staticmethod\n", "").replace("auto_complete_config", "other")
        write_model(root, "takes_nothing", without, "max_batch_size: 0\n" + IN + OUT)
        write_model(root, "unconfigured", without)
        for name in ("takes_all", "unconfigured"):
            (root / name / "config.pbtxt").unlink()
    names = [*TAKEN, "method", "nothing"]
    server = start_python("completing", write, "--model-control-mode=explicit",
                          *(f"--load-model=takes_{name}" for name in names))
    yield server
    server.stop()


@pytest.fixture(params=["http", "grpc"])
def client(request, completing, connect):
    return connect(request.param, completing)


def config_of(client, model):
    told = client.json("get_model_config", f"takes_{model}")
    return told.get("config", told)


def tensors(config):
    return [(t["name"], t["data_type"], [int(d) for d in t["dims"]])
            for t in [*config["input"], *config["output"]]]


@pytest.mark.parametrize("model, batch", [
    ("all", 8), ("part", 8), ("dictionary", 2), ("ignored", 8), ("method", 8), ("nothing", 0)])
def test_a_configuration_is_completed(client, model, batch):
    config = config_of(client, model)
    assert config.get("max_batch_size", 0) == batch
    assert tensors(config) == [("IN", "TYPE_INT32", [1]), ("OUT", "TYPE_INT32", [1])]


def test_the_scheduler_and_the_policy_are_taken(client):
    assert "dynamic_batching" in config_of(client, "all")
    assert config_of(client, "decoupled_policy")["model_transaction_policy"]["decoupled"] is True
    assert config_of(client, "optional")["input"][0]["optional"] is True


def test_other_settings_are_not_taken(client):
    config = config_of(client, "ignored")
    assert not config.get("parameters")
    assert "all" not in config.get("version_policy", {})


def test_a_model_without_configuration_and_function_loads(client):
    client.call("load_model", "unconfigured")
    assert client.call("is_model_ready", "unconfigured")
    config = client.json("get_model_config", "unconfigured")
    assert not config.get("config", config).get("input")
    client.call("unload_model", "unconfigured")


@pytest.mark.parametrize("name", REFUSED)
def test_a_completion_that_is_refused(client, name):
    status, text = client.error(client.call, "load_model", f"refuses_{name}")
    assert status in (400, "INVALID_ARGUMENT", "INTERNAL"), text
    assert REFUSED[name][2].format(m=f"refuses_{name}") in text


def test_completion_can_be_switched_off(start_python, connect):
    """The function is not called, and a model without tensors is refused or has none."""
    def write(root):
        write_model(root, "off", body("raise ValueError('called')"), "max_batch_size: 0\n" + IN + OUT)
    server = start_python("off", write, "--disable-auto-complete-config",
                          "--model-control-mode=explicit", "--load-model=off")
    assert connect("http", server).call("is_model_ready", "off")
    server.stop()
