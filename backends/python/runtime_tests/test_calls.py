# SPDX-License-Identifier: Apache-2.0
import asyncio
import gc

import pytest
import triton_python_backend_utils as pb_utils


def request():
    return pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[])


def responses(count):
    return [pb_utils.InferenceResponse(parameters={"i": i}) for i in range(count)]


def test_a_call_returns_the_response(host, stream):
    (expected,) = responses(1)
    host.streams = [stream([expected]), stream([expected])]
    made = request()
    assert made.exec() is expected and made.exec() is expected
    assert host.named("infer") == [(made, False)] * 2


def test_a_call_at_the_wrong_time(host):
    host.failures["infer"] = "BLS is only supported during the 'execute' function."
    with pytest.raises(pb_utils.TritonModelException) as caught:
        request().exec()
    assert str(caught.value) == "BLS is only supported during the 'execute' function."


def test_decoupled_must_be_a_bool(host):
    with pytest.raises(TypeError):
        request().exec("yes")


def test_a_stream_is_read_and_read_again(host, stream):
    expected = responses(3)
    host.streams = [stream(expected)]
    iterator = request().exec(decoupled=True)
    assert host.named("infer")[0][1] is True
    assert next(iterator) is expected[0]
    assert list(iterator) == expected[1:]
    assert list(iterator) == expected and list(iterator) == expected
    with pytest.raises(StopIteration):
        next(iterator)


def test_a_stream_without_responses(host, stream):
    host.streams = [stream([])]
    iterator = request().exec(decoupled=True)
    assert list(iterator) == [] and list(iterator) == []


def test_the_rest_of_a_stream_is_dropped(host, stream):
    source = stream(responses(3))
    host.streams = [source]
    iterator = request().exec(decoupled=True)
    next(iterator)
    del iterator
    gc.collect()
    assert source.closed


def test_a_stream_that_has_ended_is_not_closed_nor_cancelled(host, stream):
    source = stream(responses(1))
    host.streams = [source]
    iterator = request().exec(decoupled=True)
    list(iterator)
    iterator.cancel()
    del iterator
    gc.collect()
    assert not source.closed and not source.cancelled


def test_a_stream_is_cancelled(host, stream):
    source = stream(responses(2))
    host.streams = [source]
    iterator = request().exec(decoupled=True)
    iterator.cancel()
    assert source.cancelled


def test_calls_without_a_loop(host, stream):
    host.streams = [stream(responses(1))]
    with pytest.raises(RuntimeError, match="no running event loop"):
        request().async_exec()
    assert host.calls == []


def test_many_calls_at_once(host, stream):
    expected = responses(100)
    host.streams = [stream([r]) for r in expected]

    async def run():
        return await asyncio.gather(*(request().async_exec() for _ in range(100)))

    assert asyncio.run(run()) == expected


def test_a_call_starts_before_it_is_awaited(host, stream):
    host.streams = [stream(responses(1))]

    async def run():
        future = request().async_exec()
        assert len(host.named("infer")) == 1
        done, _ = await asyncio.wait([future])
        return done.pop().result()

    assert asyncio.run(run()).parameters() == '{"i": 0}'


@pytest.mark.parametrize("count", [0, 1, 3])
def test_streams_in_coroutines(host, stream, count):
    expected = responses(count)
    host.streams = [stream(expected), stream(expected)]

    async def run():
        plain = list(await request().async_exec(decoupled=True))
        awaited = [r async for r in await request().async_exec(decoupled=True)]
        return plain, awaited

    assert asyncio.run(run()) == (expected, expected)


def test_a_stream_whose_future_is_cancelled(host, stream):
    source = stream(responses(2))
    host.streams = [source]

    async def run():
        future = request().async_exec(decoupled=True)
        future.cancel()
        await asyncio.sleep(0)

    asyncio.run(run())
    gc.collect()
    assert source.closed
