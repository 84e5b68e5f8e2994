# SPDX-License-Identifier: Apache-2.0
"""Models of a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Optional

from nereid.enums import ModelBatchFlag, ModelTxnPropertyFlag
from tritonserver._api._request import InferenceRequest
from tritonserver._api._response import AsyncResponseIterator, ResponseIterator

if TYPE_CHECKING:
    from tritonserver._api._server import Server


class Model:
    """A version of a model; version -1: as its version policy decides. state and reason are those
    of the server's index when the object was made, or None."""

    def __init__(
        self,
        server: Server,
        name: str,
        version: int = -1,
        state: Optional[str] = None,
        reason: Optional[str] = None,
    ) -> None:
        self._server = server
        self.name = name
        self.version = version
        self.state = state
        self.reason = reason

    def create_request(self, **kwargs: Any) -> InferenceRequest:
        """Returns a request to the model; the arguments are fields of InferenceRequest."""
        return InferenceRequest(self, **kwargs)

    def infer(
        self,
        inference_request: Optional[InferenceRequest] = None,
        raise_on_error: bool = True,
        **kwargs: Any,
    ) -> ResponseIterator:
        """Sends a request and returns an iterator over its responses.

        inference_request: or the fields of one. raise_on_error: whether the iterator raises the
        error of a failed response; the response is then the last of the error's args."""
        request = inference_request or InferenceRequest(self, **kwargs)
        return ResponseIterator(request, self._server.core, raise_on_error)

    def async_infer(
        self,
        inference_request: Optional[InferenceRequest] = None,
        raise_on_error: bool = True,
        **kwargs: Any,
    ) -> AsyncResponseIterator:
        """The same for asyncio: ``async for response in model.async_infer(inputs=...)``."""
        request = inference_request or InferenceRequest(self, **kwargs)
        return AsyncResponseIterator(request, self._server.core, raise_on_error)

    def metadata(self) -> dict[str, Any]:
        """Returns the model's metadata."""
        return dict(json.loads(self._server.core.model_metadata(self.name, self.version)))

    def ready(self) -> bool:
        """Returns whether the model answers requests."""
        return self._server.core.model_is_ready(self.name, self.version)

    def batch_properties(self) -> ModelBatchFlag:
        """Returns whether the model batches."""
        return ModelBatchFlag(self._server.core.batch_properties(self.name, self.version))

    def transaction_properties(self) -> ModelTxnPropertyFlag:
        """Returns whether the model is decoupled."""
        flags = self._server.core.transaction_properties(self.name, self.version)
        return ModelTxnPropertyFlag(flags)

    def statistics(self) -> dict[str, Any]:
        """Returns the model's statistics."""
        return dict(json.loads(self._server.core.model_statistics(self.name, self.version)))

    def config(self, config_version: int = 1) -> dict[str, Any]:
        """Returns the model's configuration."""
        text = self._server.core.model_config(self.name, self.version, config_version)
        return dict(json.loads(text))

    def __str__(self) -> str:
        return str({"name": self.name, "version": self.version, "state": self.state})
