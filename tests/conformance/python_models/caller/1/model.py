# SPDX-License-Identifier: Apache-2.0
"""Calls other models and the server as its input requests, and returns JSON."""

import asyncio
import json

import numpy as np
import triton_python_backend_utils as pb_utils


def fp32(values):
    return pb_utils.Tensor("IN_FP32", np.array(values, np.float32))


def call_types(values, **more):
    return pb_utils.InferenceRequest(model_name="types", requested_output_names=["OUT_FP32"],
                                     inputs=[fp32(values)], **more)


def call_counter(count):
    return pb_utils.InferenceRequest(
        model_name="counter", requested_output_names=["OUT"],
        inputs=[pb_utils.Tensor("COUNT", np.array([count], np.int32))])


def values(response, name="OUT_FP32"):
    if response.has_error():
        return {"error": response.error().message(), "code": int(response.error().code())}
    return pb_utils.get_output_tensor_by_name(response, name).as_numpy().tolist()


class TritonPythonModel:
    async def execute(self, requests):
        responses = []
        for request in requests:
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            name, _, argument = how.partition(" ")
            answer = getattr(self, name)(argument)
            if asyncio.iscoroutine(answer):
                answer = await answer
            text = json.dumps(answer, ensure_ascii=False).encode()
            responses.append(pb_utils.InferenceResponse(
                [pb_utils.Tensor("TEXT", np.array([text], np.object_))]))
        return responses

    def sync(self, _):
        return values(call_types([1, 2.5]).exec())

    def many(self, count):
        return [values(call_types([i]).exec())[0] for i in range(int(count))]

    async def at_once(self, count):
        calls = [call_types([i]).async_exec() for i in range(int(count))]
        return [values(r)[0] for r in await asyncio.gather(*calls)]

    def large(self, count):
        sent = np.arange(int(count), dtype=np.float32)
        response = call_types(sent, preferred_memory=pb_utils.PreferredMemory(
            pb_utils.TRITONSERVER_MEMORY_CPU)).exec()
        got = pb_utils.get_output_tensor_by_name(response, "OUT_FP32").as_numpy()
        return bool((sent == got).all())

    def stream(self, count):
        return [values(r, "OUT") for r in call_counter(int(count)).exec(decoupled=True)
                if r.has_error() or r.output_tensors()]

    async def stream_async(self, count):
        found = []
        for response in await call_counter(int(count)).async_exec(decoupled=True):
            if response.has_error() or response.output_tensors():
                found.append(values(response, "OUT"))
        return found

    def decoupled_as_one(self, count):
        return values(call_counter(int(count)).exec(), "OUT")

    def unknown(self, _):
        return values(pb_utils.InferenceRequest(
            model_name="absent", requested_output_names=["OUT"], inputs=[fp32([1])]).exec())

    def version(self, number):
        return values(call_types([1], model_version=int(number)).exec())

    def bad_input(self, _):
        return values(pb_utils.InferenceRequest(
            model_name="about", requested_output_names=["SECOND"], inputs=[fp32([1])]).exec())

    def callee(self, how):
        return values(pb_utils.InferenceRequest(
            model_name="faults", requested_output_names=["OUT"],
            inputs=[pb_utils.Tensor("HOW", np.array([[how.encode()]], np.object_))]).exec(), "OUT")

    def identity(self, _):
        """A model of another backend."""
        response = pb_utils.InferenceRequest(
            model_name="plain", requested_output_names=["OUTPUT0"],
            inputs=[pb_utils.Tensor("INPUT0", np.array(["ä", ""], np.object_))]).exec()
        if response.has_error():
            return response.error().message()
        return [b.decode() for b in
                pb_utils.get_output_tensor_by_name(response, "OUTPUT0").as_numpy()]

    def about(self, _):
        response = pb_utils.InferenceRequest(
            model_name="about", requested_output_names=["ABOUT"], request_id="inner",
            correlation_id=7, flags=pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START,
            timeout=5000000, parameters={"text": "x", "number": 3, "flag": True},
            inputs=[pb_utils.Tensor("IN", np.array([b""], np.object_))]).exec()
        if response.has_error():
            return response.error().message()
        text = pb_utils.get_output_tensor_by_name(response, "ABOUT").as_numpy()[0]
        return json.loads(text)

    def ready(self, name):
        model, _, version = name.partition(" ")
        return pb_utils.is_model_ready(model_name=model, model_version=version)

    def load(self, name):
        pb_utils.load_model(model_name=name)
        return pb_utils.is_model_ready(model_name=name)

    def unload(self, name):
        pb_utils.unload_model(model_name=name)
        return "unloaded"

    def logs(self, text):
        logger = pb_utils.Logger
        logger.log_info(f"info {text}")
        logger.log_warn(f"warn {text}")
        logger.log_error(f"error {text}")
        logger.log_verbose(f"verbose {text}")
        logger.log(f"plain {text}")
        return "logged"
