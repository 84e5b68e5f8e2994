#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One process with clients of tests/stress/sequences.py. It may be killed at any time.

    sequence_client.py GRPC_ADDRESS HTTP_ADDRESS NUMBER CLIENTS LIMIT IDLE

Runs CLIENTS clients at once. Each plays one sequence after the other and checks every sum. The ids
contain NUMBER, so they belong to this process only; they are few, so that they are reused often.
Prints one line of JSON each second, and one for each wrong sum and each request without an answer
within LIMIT seconds.
"""

import asyncio
import collections
import json
import random
import sys
import time

import aiohttp
import grpc
import numpy as np
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

# Model: its initial state. See sequences.py.
MODELS = {"sum_oldest": 0, "sum_direct": 0, "sum_zero": 0, "sum_file": 100, "sum_flat": 0,
          "witness": None}
IDS_EACH = 3  # number of ids that a client uses in turn
# A cancelled request may still be on its way, on a different connection than the next one. If it is
# a START, it would restart the next sequence with its id. Therefore an id is not used for this
# number of seconds after a cancellation. The same applies to all ids after a process was killed.
REST = 2.0


class Lost(Exception):
    """The server does not know the sequence any more, or the model is being replaced."""


def is_loss(text: str) -> bool:
    return any(part in text for part in (
        "must specify the START flag", "is not at ready state", "has no available versions",
        "scheduler for model has stopped", "Request for unknown model", "is not found"))


class Over:
    """Sends requests over gRPC or HTTP. Returns the sum, or raises Lost or another exception."""

    def __init__(self, stub, session, http, limit):
        self.stub, self.session, self.http, self.limit = stub, session, http, limit

    async def grpc(self, model, sequence, number, start, end, timeout=None):
        message = pb.ModelInferRequest(model_name=model)
        tensor = message.inputs.add(name="INPUT", datatype="INT32", shape=[1, 1])
        tensor.contents.int_contents.append(number)
        if isinstance(sequence, str):
            message.parameters["sequence_id"].string_param = sequence
        else:
            message.parameters["sequence_id"].int64_param = sequence
        message.parameters["sequence_start"].bool_param = start
        message.parameters["sequence_end"].bool_param = end
        try:
            answer = await self.stub.ModelInfer(message, timeout=timeout or self.limit)
        except grpc.aio.AioRpcError as error:
            if is_loss(error.details() or ""):
                raise Lost(error.details()) from None
            raise
        return int(np.frombuffer(answer.raw_output_contents[0], np.int32)[0])

    async def json(self, model, sequence, number, start, end, timeout=None):
        document = {"parameters": {"sequence_id": sequence, "sequence_start": start,
                                   "sequence_end": end},
                    "inputs": [{"name": "INPUT", "datatype": "INT32", "shape": [1, 1],
                                "data": [number]}]}
        limit = aiohttp.ClientTimeout(total=timeout or self.limit)
        async with self.session.post(f"http://{self.http}/v2/models/{model}/infer", json=document,
                                     timeout=limit) as answer:
            body = await answer.json(content_type=None)
        if "error" in body:
            if is_loss(body["error"]):
                raise Lost(body["error"])
            raise RuntimeError(body["error"])
        return body["outputs"][0]["data"][0]


class Tally:
    def __init__(self):
        self.counts = collections.Counter()
        self.rested = collections.defaultdict(lambda: time.monotonic() + REST)  # id -> the time from which it may be used

    def give_up(self, sequence):
        self.rested[sequence] = time.monotonic() + REST

    def say(self, kind, **more):
        print(json.dumps({"kind": kind, **more}), flush=True)

    async def each_second(self):
        while True:
            await asyncio.sleep(1)
            self.say("counts", **self.counts)
            self.counts.clear()


async def play(over, tally, model, sequence, limit, idle):
    """One sequence, whatever way it ends. Every sum is checked."""
    ask = over.json if random.random() < 0.3 else over.grpc
    length = random.randint(1, 12)
    way = random.choices(["end", "leave", "cancel", "deadline", "again"], [68, 10, 8, 6, 8])[0]
    breaking = random.randrange(length)
    total = None
    last = time.monotonic()
    for place in range(length):
        start = place == 0 or (way == "again" and place == breaking)
        end = place == length - 1 and way != "leave"
        number = random.randint(-1000, 1000)
        if start:
            total = MODELS[model]
        expected = number if total is None else total + number
        begun = time.monotonic()
        try:
            if way == "cancel" and place == breaking:
                call = asyncio.ensure_future(ask(model, sequence, number, start, end))
                await asyncio.sleep(random.random() * 0.02)
                call.cancel()
                tally.counts["cancelled"] += 1
                await asyncio.gather(call, return_exceptions=True)
                tally.give_up(sequence)
                return
            short = random.random() * 0.01 if way == "deadline" and place == breaking else None
            found = await ask(model, sequence, number, start, end, short)
        except Lost:
            # Without a reload only a sequence that was idle for too long may be lost.
            tally.counts["lost" if begun - last < idle * 0.5 else "idle"] += 1
            return
        except (grpc.aio.AioRpcError, asyncio.TimeoutError, RuntimeError,
                aiohttp.ClientError) as error:
            taken = time.monotonic() - begun
            if taken > limit * 0.9:
                tally.say("stuck", model=model, sequence=sequence, seconds=taken)
            elif short is not None:
                tally.counts["deadline"] += 1
                tally.give_up(sequence)
            else:
                text = error.details() if isinstance(error, grpc.aio.AioRpcError) else repr(error)
                tally.say("error", model=model, text=str(text)[:200])
            return
        last = time.monotonic()
        tally.counts["requests"] += 1
        if found != expected:
            tally.say("wrong", model=model, sequence=sequence, place=place, found=found,
                      expected=expected, way=way)
            return
        if total is not None:
            total += number
        if random.random() < 0.02:
            await asyncio.sleep(random.random() * 0.2)
    tally.counts["sequences"] += 1


async def client(over, tally, number, index, limit, idle):
    ids = [(number * 1_000 + index) * IDS_EACH + i + 1 for i in range(IDS_EACH)]
    while True:
        model = random.choice(list(MODELS))
        texts = random.random() < 0.2 and model != "witness"
        names = [f"text-{one}" if texts else one for one in ids]
        sequence = min(names, key=lambda one: (max(tally.rested[one], time.monotonic()),
                                               random.random()))
        await asyncio.sleep(max(0.0, tally.rested[sequence] - time.monotonic()))
        await play(over, tally, model, sequence, limit, idle)


async def main(grpc_address, http_address, number, clients, limit, idle):
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(grpc_address, options=options) as channel, \
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        tally = Tally()
        over = Over(service_pb2_grpc.GRPCInferenceServiceStub(channel), session, http_address,
                    limit)
        await asyncio.gather(tally.each_second(), *[
            client(over, tally, number, index, limit, idle) for index in range(clients)])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]),
                     float(sys.argv[5]), float(sys.argv[6])))
