# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils

IN = {"name": "IN", "data_type": "TYPE_INT32", "dims": [2]}
WHERE = "in auto-complete-config function for model 'm'"


def config(**settings):
    return pb_utils.ModelConfig(json.dumps({"name": "m", "max_batch_size": 0, **settings}))


def refused(text, function, *arguments):
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    assert str(caught.value) == text


def test_an_empty_configuration_is_completed():
    made = config()
    made.set_max_batch_size(8)
    made.add_input({**IN, "optional": True})
    made.add_output({**IN, "name": "OUT"})
    made.set_dynamic_batching()
    made.set_model_transaction_policy({"decoupled": True})
    assert made.as_dict() == {
        "name": "m", "max_batch_size": 8, "input": [{**IN, "optional": True}],
        "output": [{**IN, "name": "OUT"}], "dynamic_batching": {},
        "model_transaction_policy": {"decoupled": True}}
    made.as_dict()["max_batch_size"] = 3
    assert made.as_dict()["max_batch_size"] == 3


def test_the_largest_batch():
    made = config(max_batch_size=4)
    made.set_max_batch_size(8)
    assert made.as_dict()["max_batch_size"] == 8
    refused("configuration specified max_batch_size 8, but in auto-complete-config function for "
            "model 'm' specified max_batch_size 4", made.set_max_batch_size, 4)


def test_the_scheduler():
    made = config(dynamic_batching={"preferred_batch_size": [4]})
    made.set_dynamic_batching()
    assert made.as_dict()["dynamic_batching"] == {"preferred_batch_size": [4]}
    refused("Configuration specified scheduling_choice as 'sequence_batching', but "
            "auto-complete-config function for model 'm' tries to set scheduling_choice as "
            "'dynamic_batching'", config(sequence_batching={}).set_dynamic_batching)


@pytest.mark.parametrize("kind, add, extra", [
    ("input", "add_input", "'name', 'data_type', 'dims' and 'optional'"),
    ("output", "add_output", "'name', 'data_type' and 'dims'"),
])
def test_tensors(kind, add, extra):
    def adds(configured, given):
        made = config(**({kind: [configured]} if configured else {}))
        getattr(made, add)(given)
        return made.as_dict()[kind]

    def fails(text, configured, given):
        refused(text, adds, configured, given)

    assert adds(None, IN) == [IN]
    assert adds({"name": "IN", "data_type": "TYPE_INVALID", "dims": []}, IN) == [IN]
    assert adds({**IN, "reshape": {}}, IN) == [{**IN, "reshape": {}}]
    assert adds({**IN, "name": "OTHER"}, IN) == [{**IN, "name": "OTHER"}, IN]
    fails(f"{kind} 'IN' {WHERE} contains property other than {extra}.", None, {**IN, "more": 1})
    fails(f"{kind} {WHERE} is missing 'name' property.", None, {"dims": [1]})
    fails(f"{kind} 'IN' {WHERE} is missing 'data_type' property.", None,
          {"name": "IN", "dims": [1]})
    fails(f"{kind} 'IN' {WHERE} is missing 'dims' property.", None,
          {"name": "IN", "data_type": "TYPE_INT32"})
    fails(f"unable to load model 'm', configuration expects datatype TYPE_FP32 for {kind} 'IN', "
          "model provides TYPE_INT32", {**IN, "data_type": "TYPE_FP32"}, IN)
    fails("model 'm', tensor 'IN': the model expects dims [2] but the model configuration specifies "
          "dims [1]", {**IN, "dims": [1]}, IN)


def test_optional_inputs():
    made = config(input=[{**IN, "optional": False}])
    made.add_input(IN)
    refused("model 'm', tensor 'IN': the model expects optional True but the model configuration "
            "specifies optional False", made.add_input, {**IN, "optional": True})


def test_the_transaction_policy():
    made = config(model_transaction_policy={"decoupled": True})
    made.set_model_transaction_policy({"decoupled": True})
    refused("trying to change decoupled property in auto-complete-config for model 'm', which is "
            "already set to 'True'.", made.set_model_transaction_policy, {"decoupled": False})
    refused(f"model transaction property {WHERE} contains property other than 'decoupled'.",
            made.set_model_transaction_policy, {"other": 1})


def test_the_functions_for_configurations():
    made = {"input": [IN], "output": [{**IN, "name": "OUT"}]}
    assert pb_utils.get_input_config_by_name(made, "IN") is made["input"][0]
    assert pb_utils.get_input_config_by_name(made, "OUT") is None
    assert pb_utils.get_output_config_by_name(made, "OUT") is made["output"][0]
    assert pb_utils.get_output_config_by_name({}, "OUT") is None
    assert pb_utils.using_decoupled_model_transaction_policy(made) is False
    assert pb_utils.using_decoupled_model_transaction_policy(
        {"model_transaction_policy": {"decoupled": True}}) is True


def test_the_functions_for_data_types():
    assert pb_utils.triton_string_to_numpy("TYPE_FP32") is np.float32
    assert pb_utils.triton_string_to_numpy("TYPE_STRING") is np.object_
    for name in ("TYPE_BF16", "TYPE_BYTES", "FP32", ""):
        with pytest.raises(KeyError):
            pb_utils.triton_string_to_numpy(name)
    for number in range(1, 14):
        kind = pb_utils.triton_to_numpy_type(number)
        assert pb_utils.numpy_to_triton_type(kind) == number
        assert pb_utils.numpy_to_triton_type(np.dtype(kind)) == number
    with pytest.raises(KeyError):
        pb_utils.triton_to_numpy_type(14)
    assert pb_utils.numpy_to_triton_type(np.complex64) is None
    assert pb_utils.numpy_to_triton_type("nothing") is None
    assert len(pb_utils.TRITON_STRING_TO_NUMPY) == 13
