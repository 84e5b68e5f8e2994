# SPDX-License-Identifier: Apache-2.0
"""ModelConfig: the configuration that auto_complete_config completes."""

from __future__ import annotations

import json
import typing

_Tensors = typing.List[typing.Dict[str, typing.Any]]
_UNKNOWN_TYPE = "TYPE_INVALID"


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


class ModelConfig:
    """The configuration of a model, as a dictionary in the form of its JSON.

    The setters add to the configuration, and raise ValueError if they contradict what the
    configuration file says.
    """

    _IN_FUNCTION = "in auto-complete-config function for model"

    def __init__(self, model_config: str) -> None:
        self._model_config: dict[str, typing.Any] = json.loads(model_config)

    def as_dict(self) -> dict[str, typing.Any]:
        """Returns the configuration itself: changes to the dictionary take effect."""
        return self._model_config

    @property
    def _name(self) -> str:
        return str(self._model_config.get("name", ""))

    def set_max_batch_size(self, max_batch_size: int) -> None:
        """Sets the largest batch. Raises ValueError if the configuration has a larger one."""
        configured = self._model_config.get("max_batch_size", 0)
        if configured > max_batch_size:
            raise ValueError(
                f"configuration specified max_batch_size {configured}, but in auto-complete-config "
                f"function for model '{self._name}' specified max_batch_size {max_batch_size}")
        self._model_config["max_batch_size"] = max_batch_size

    def set_dynamic_batching(self) -> None:
        """Turns dynamic batching on. Raises ValueError if the model has another scheduler."""
        for choice in ("sequence_batching", "ensemble_scheduling"):
            if choice in self._model_config:
                raise ValueError(
                    f"Configuration specified scheduling_choice as '{choice}', but "
                    f"auto-complete-config function for model '{self._name}' tries to set "
                    "scheduling_choice as 'dynamic_batching'")
        self._model_config.setdefault("dynamic_batching", {})

    def add_input(self, input: dict[str, typing.Any]) -> None:
        """Adds or completes an input: {"name", "data_type", "dims", and optionally "optional"}.

        Raises ValueError if a key is missing or unknown, or if the configuration contradicts it.
        """
        self._add("input", input, ("name", "data_type", "dims", "optional"))

    def add_output(self, output: dict[str, typing.Any]) -> None:
        """Adds or completes an output: {"name", "data_type", "dims"}. Raises as add_input does."""
        self._add("output", output, ("name", "data_type", "dims"))

    def set_model_transaction_policy(self, transaction_policy_dict: dict[str, typing.Any]) -> None:
        """Sets {"decoupled": bool}. Raises ValueError if the configuration says otherwise."""
        for key in transaction_policy_dict:
            if key != "decoupled":
                raise ValueError(
                    f"model transaction property {self._IN_FUNCTION} '{self._name}' contains "
                    "property other than 'decoupled'.")
        policy = self._model_config.setdefault("model_transaction_policy", {})
        for key, value in transaction_policy_dict.items():
            if policy.setdefault(key, value) != value:
                raise ValueError(
                    "trying to change decoupled property in auto-complete-config for model "
                    f"'{self._name}', which is already set to '{policy[key]}'.")

    def _add(self, kind: str, given: dict[str, typing.Any], keys: tuple[str, ...]) -> None:
        self._check_keys(kind, given, keys)
        tensors: _Tensors = self._model_config.setdefault(kind, [])
        for configured in tensors:
            if configured.get("name") == given["name"]:
                self._complete(kind, configured, given)
                return
        tensors.append({key: given[key] for key in keys if key in given})

    def _check_keys(self, kind: str, given: dict[str, typing.Any], keys: tuple[str, ...]) -> None:
        where = f"{self._IN_FUNCTION} '{self._name}'"
        if "name" not in given:
            raise ValueError(f"{kind} {where} is missing 'name' property.")
        named = f"{kind} '{given['name']}' {where}"
        if not set(given) <= set(keys):
            raise ValueError(f"{named} contains property other than {_listed(keys)}.")
        for key in ("data_type", "dims"):
            if key not in given:
                raise ValueError(f"{named} is missing '{key}' property.")

    def _complete(self, kind: str, configured: dict[str, typing.Any],
                  given: dict[str, typing.Any]) -> None:
        """Adds to a tensor of the configuration what it leaves open."""
        name = given["name"]
        data_type = configured.get("data_type", _UNKNOWN_TYPE)
        if data_type not in (_UNKNOWN_TYPE, given["data_type"]):
            raise ValueError(
                f"unable to load model '{self._name}', configuration expects datatype {data_type} "
                f"for {kind} '{name}', model provides {given['data_type']}")
        for key in ("dims", "optional"):
            found = configured.get(key)
            if key in given and found not in (None, [], given[key]):
                raise ValueError(
                    f"model '{self._name}', tensor '{name}': the model expects {key} {given[key]} "
                    f"but the model configuration specifies {key} {found}")
        configured.update(given)
