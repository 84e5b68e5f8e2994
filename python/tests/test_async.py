# SPDX-License-Identifier: Apache-2.0
"""asyncio."""

import asyncio
import gc
import threading

import numpy as np
import pytest
from inputs import repeat

import nereid


def test_many_requests_at_once(server):
    model = server.model("batched")

    async def ask(number):
        response = await model.infer_async({"IN": np.full((1, 3), number, np.float32)})
        return float(response["OUT"][0, 0])

    async def main():
        before = threading.active_count()
        answers = await asyncio.gather(*[ask(number) for number in range(200)])
        return answers, threading.active_count() - before

    answers, more_threads = asyncio.run(main())
    assert answers == list(range(200))
    assert more_threads == 0


def test_streams(server):
    async def main():
        stream = server.model("repeat").stream_async(repeat([1, 2, 3], delay_ms=5))
        return [response["OUT"][0] async for response in stream]

    assert asyncio.run(main()) == [1, 2, 3]


def test_errors(server):
    async def main():
        with pytest.raises(nereid.InvalidArgumentError):
            await server.model("echo_fp32").infer_async({})
        with pytest.raises(nereid.UnsupportedError):
            await server.model("repeat").infer_async(repeat([1, 2]))

    asyncio.run(main())


def test_cancelling_the_task_cancels_the_request(server):
    async def main():
        task = asyncio.ensure_future(
            server.model("repeat").infer_async(repeat([1] * 1000, delay_ms=20))
        )
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_loop_may_close_with_open_requests(server):
    async def main():
        stream = server.model("repeat").stream_async(repeat([1] * 1000, delay_ms=10))
        await stream.__anext__()
        return stream

    stream = asyncio.run(main())
    del stream
    gc.collect()
    assert server.model("echo_fp32").infer({"IN": np.zeros(1, np.float32)}).final


def test_several_loops_in_several_threads(server):
    results = []

    async def main(number):
        response = await server.model("batched").infer_async(
            {"IN": np.full((1, 1), number, np.float32)}
        )
        results.append(float(response["OUT"][0, 0]))

    threads = [
        threading.Thread(target=lambda n=number: asyncio.run(main(n))) for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(6))
