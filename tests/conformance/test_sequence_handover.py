# SPDX-License-Identifier: Apache-2.0
"""Replicas hand sequences over to each other: their values continue, only one of them serves a sequence,
and nobody without the token gets one."""

import itertools
import queue
import random
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import raw_http
import replicas
import tritonclient.grpc as grpc_client
from replicas import CLAIM, KEPT_IN_MODEL, OFFER, SETTLE, TOKEN, Replica, write_models
from sequences import wait_for

pytestmark = pytest.mark.skipif("config.option.peer", reason="Triton hands no sequences over")

IDS = itertools.count(1000)
SUMS = ["state", "state_direct", "same"]
PATHS = [CLAIM, SETTLE, OFFER]


def not_started(model, sequence):
    return (f"inference request for sequence {sequence} to model '{model}' must specify the START flag on "
            "the first request of the sequence")


@pytest.fixture(scope="module")
def program(request):
    given = request.config.option.server_command
    return given.split()[0] if given else str(
        Path(__file__).resolve().parents[2] / "build" / "release" / "bin" / "nereid")


@pytest.fixture(scope="module")
def start_replicas(request, program, tmp_path_factory, server_plugins):
    """start(count, *flags, write=…) starts replicas that know each other."""
    options = request.config.option
    command = [program, "serve"]
    started = []

    def start(count=2, *flags, write=write_models, peers=True, token=TOKEN):
        folder = tmp_path_factory.mktemp("replicas")
        (folder / "token").write_text(token + "\n")
        made = []
        ports = replicas.ports(count)
        for i, own in enumerate(ports):
            others = ",".join(f"127.0.0.1:{port[0]}" for port in ports if port != own)
            models = folder / f"models{i}"
            write(models, server_plugins / "libtriton_sequence.so")
            wanted = [f"--sequence-handover-peers={others}",
                      f"--sequence-handover-token-file={folder}/token"] if peers else []
            replica = Replica(command, models, folder / f"{i}.log", [
                "--exit-timeout-secs=20", "--enable-sequence-listing=true", *wanted,
                *([f"--backend-directory={options.backend_directory}"]
                  if options.backend_directory else []), *flags], ports=own)
            started.append(replica)
            replica.start("/v2/health/ready")
            made.append(replica)
        return made

    yield start
    for replica in started:
        replica.kill()


@pytest.fixture(scope="module")
def pair(start_replicas):
    return start_replicas(2)


def begun(replica, model="state", value=3):
    sequence = next(IDS)
    assert replica.total(model, sequence, value, sequence_start=True)
    return sequence


def claimed(replica, sequence, model="state"):
    """Claims a sequence of which no request runs; returns the hold. The scheduler may not have finished
    the last request when its response arrives, so the claim is repeated, as replicas do it."""
    answers = []

    def is_decided():
        answers.append(replica.post(CLAIM, replicas.claim(model, sequence)))
        return answers[-1].status != 503

    wait_for(is_decided, "the end of the last request")
    assert answers[-1].status == 200, answers[-1]
    return replicas.hold_of(answers[-1].body)


def ended(replica, reason="handover", model="state"):
    page = raw_http.request(replica, "GET", "/metrics", port=replica.metrics_port).body.decode()
    (line,) = [line for line in page.splitlines()
               if line.startswith("nereid_sequence_ended_total") and f'model="{model}"' in line
               and f'reason="{reason}"' in line]
    return float(line.rsplit(" ", 1)[1])


@pytest.mark.parametrize("model", SUMS)
def test_sums_continue_at_the_other_replica(pair, model):
    one, two = pair
    sequence = begun(one, model)
    assert two.total(model, sequence, 4) == [7]
    assert two.total(model, sequence, 5) == [12]
    assert one.total(model, sequence, 6) == [18]  # and back
    assert two.total(model, sequence, 7, sequence_end=True) == [25]
    for replica in pair:
        answer = replica.add(model, sequence, 1)
        assert (answer.status, answer.error) == (400, not_started(model, sequence))


def test_text_ids(pair):
    one, two = pair
    assert one.total("list_of_texts", "user-1", 3, sequence_start=True) == [3]
    assert two.total("list_of_texts", "user-1", 4) == [3, 4]


def test_initial_states_are_not_used_again(pair):
    one, two = pair
    sequence = next(IDS)
    assert one.total("first", sequence, 3, sequence_start=True) == [103]
    assert two.total("first", sequence, 4) == [107]


@pytest.mark.parametrize("model", ["list", "list_ahead"])
def test_states_that_grow(pair, model):
    sequence = next(IDS)
    for i in range(40):
        flags = {"sequence_start": True} if i == 0 else {}
        assert pair[i % 2].total(model, sequence, i, **flags) == list(range(i + 1))


def test_the_sequence_is_at_one_replica_only(pair):
    one, two = pair
    sequence = begun(one)
    before = ended(one)
    assert two.total("state", sequence, 1) == [4]
    assert ended(one) == before + 1
    for replica, places in ((one, 0), (two, 1)):
        listed = raw_http.get(replica, "/v2/models/state/sequences").json["sequences"]
        assert sum(each["id"] == sequence for each in listed) == places


def test_requests_that_wait_keep_their_order(pair):
    """Requests of one sequence that arrive while it is fetched are executed in their order."""
    one, two = pair
    sequence = begun(one, "list", 0)
    answers = queue.Queue()
    with grpc_client.InferenceServerClient(two.grpc) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        for i in range(1, 21):
            tensor = grpc_client.InferInput("INPUT", [1, 1], "INT32")
            tensor.set_data_from_numpy(np.array([[i]], np.int32))
            client.async_stream_infer("list", [tensor], request_id=str(i), sequence_id=sequence)
        for _ in range(20):
            result, error = answers.get(timeout=30)
            assert error is None, error
            last = int(result.get_response().id)
            assert result.as_numpy("OUTPUT_STATE").tolist() == [list(range(last + 1))]
        client.stop_stream()


def test_a_start_needs_no_other_replica(pair):
    one, two = pair
    sequence = begun(one)
    assert two.total("state", sequence, 100, sequence_start=True) == [100]
    assert two.total("state", sequence, 1) == [101]


def test_a_sequence_that_nobody_knows(pair):
    sequence = next(IDS)
    answer = pair[0].add("state", sequence, 1)
    assert (answer.status, answer.error) == (400, not_started("state", sequence))


def test_a_model_that_keeps_its_sequences_itself(pair):
    one, two = pair
    sequence = begun(one, KEPT_IN_MODEL)
    answer = two.add(KEPT_IN_MODEL, sequence, 1)
    assert (answer.status, answer.error) == (400, not_started(KEPT_IN_MODEL, sequence))
    answer = one.post(CLAIM, replicas.claim(KEPT_IN_MODEL, sequence))
    assert answer.status == 501
    assert answer.body.decode() == (
        f"sequences of model '{KEPT_IN_MODEL}' cannot be handed over: it keeps their states itself, "
        "because its configuration has no 'state'")
    assert one.total(KEPT_IN_MODEL, sequence, 4) == [7]


# Transfers that fail.


def test_a_receiver_that_vanishes_leaves_the_sequence_where_it_is(pair):
    one, two = pair
    sequence = begun(one)
    hold = claimed(one, sequence)
    # Nothing else comes. A request waits until the hold has ended, wherever it arrives.
    assert two.total("state", sequence, 1) == [4]
    answer = one.post(SETTLE, replicas.settlement(hold, True))
    assert (answer.status, answer.body) == (404, b"the sequence is not held any more")
    assert two.total("state", sequence, 1) == [5]


def test_a_sequence_that_is_given_back(pair):
    one, _ = pair
    sequence = begun(one)
    hold = claimed(one, sequence)
    assert one.post(CLAIM, replicas.claim("state", sequence)).status == 503
    waiting = ThreadPoolExecutor(1).submit(one.total, "state", sequence, 2)
    assert one.post(SETTLE, replicas.settlement(hold, False)).status == 200
    assert waiting.result() == [5]


def test_a_settlement_may_be_repeated(pair):
    one, _ = pair
    sequence = begun(one)
    hold = claimed(one, sequence)
    for _ in range(3):
        assert one.post(SETTLE, replicas.settlement(hold, True)).status == 200
    answer = one.add("state", sequence, 1)
    assert (answer.status, answer.error) == (400, not_started("state", sequence))


def test_a_sequence_is_not_taken_while_a_request_runs(pair):
    one, two = pair
    sequence = begun(one, "list", 0)
    slow = {"inputs": [raw_http.tensor("INPUT", "INT32", [1, 1], [1])],
            "parameters": {"sequence_id": sequence, "execute_delay_ms": 500}}
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(raw_http.infer, one, "list", slow)
        wait_for(lambda: any(each["id"] == sequence and each["executing"] for each in raw_http.get(
            one, "/v2/models/list/sequences").json["sequences"]), "the execution")
        assert one.post(CLAIM, replicas.claim("list", sequence)).status == 503
        assert two.total("list", sequence, 2) == [0, 1, 2]
        assert running.result().status == 200


def test_two_replicas_ask_for_the_same_sequence(start_replicas):
    three = start_replicas(3)
    for _ in range(10):
        sequence = begun(three[0], "list", 0)
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda r: r.total("list", sequence, 1), three[1:]))
        # Both requests were executed, one after the other, at the replicas that got them.
        assert sorted(answers) == [[0, 1], [0, 1, 1]]
        places = [each["id"] for replica in three
                  for each in raw_http.get(replica, "/v2/models/list/sequences").json["sequences"]]
        assert places.count(sequence) == 1


def test_another_version_does_not_continue_a_sequence(start_replicas):
    def write(root, library):
        newer = (2,) if root.name.endswith("1") else (1,)
        replicas.write_model(root, library, "state", "state", "direct { }",
                             replicas.state(dims="1"), versions=newer)

    one, two = start_replicas(2, write=write)
    sequence = begun(one)
    answer = two.add("state", sequence, 1)
    assert answer.status == 400
    assert answer.error.endswith(
        f"sequence {sequence} of model 'state' cannot be handed over: it was begun in version 1 of the "
        "model at its replica, and version 2 would continue it")
    assert one.total("state", sequence, 4) == [7]


def test_other_states_do_not_continue_a_sequence(start_replicas):
    def write(root, library):
        dims = "2" if root.name.endswith("1") else "1"
        replicas.write_model(root, library, "state", "state", "direct { }",
                             replicas.state(dims=dims))

    one, two = start_replicas(2, write=write)
    sequence = begun(one)
    answer = two.add("state", sequence, 1)
    assert answer.status == 400
    assert "state 'OUTPUT_STATE' of model 'state' is INT32 [1,1] in the sequence" in answer.error
    assert one.total("state", sequence, 4) == [7]


def test_without_a_free_slot_a_sequence_waits(start_replicas):
    def write(root, library):
        slots = 1 if root.name.endswith("1") else 8
        replicas.write_model(root, library, "state", "state",
                             f"oldest {{ max_candidate_sequences: {slots} }}",
                             replicas.state(dims="1"))

    one, two = start_replicas(2, write=write)
    others = [begun(two) for _ in range(2)]  # one for each instance
    sequence = begun(one)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(two.total, "state", sequence, 4)
        wait_for(lambda: any(each["state"] == "backlog" for each in raw_http.get(
            two, "/v2/models/state/sequences").json["sequences"]), "the backlog")
        assert two.total("state", others[0], 1, sequence_end=True) == [4]
        assert waiting.result() == [7]


# The stop.


def test_a_stop_hands_over_what_is_open(start_replicas):
    one, two = start_replicas(2)
    sequences = {model: [begun(one, model) for _ in range(20)] for model in ("state", "same")}
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 0
    assert "Handing the open sequences over" in one.log.read_text()
    assert two.in_flight() == 40
    for model, ids in sequences.items():
        assert [two.total(model, each, 1) for each in ids] == [[4]] * 20
    # The replica that comes back gets them again.
    one.start()
    assert [one.total("state", each, 1) for each in sequences["state"]] == [[5]] * 20


def test_a_stop_without_another_replica(start_replicas):
    one, two = start_replicas(2, "--exit-timeout-secs=1")
    two.kill()
    begun(one)
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 1  # as without hand-over: the sequence is in flight
    assert "Some open sequences were not handed over" in one.log.read_text()


def test_without_the_flag_there_is_no_handover(start_replicas):
    one, two = start_replicas(2, peers=False)
    sequence = begun(one)
    answer = two.add("state", sequence, 1)
    assert (answer.status, answer.error) == (400, not_started("state", sequence))
    for path in PATHS:
        answer = one.post(path, replicas.claim("state", sequence))
        assert (answer.status, answer.error) == (404, "Not Found")


# Strangers.


@pytest.mark.parametrize("token", ["", "replicas", TOKEN[:-1], TOKEN + "0", "x" + TOKEN[1:]])
def test_a_wrong_token(pair, token):
    sequence = begun(pair[0])
    messages = {CLAIM: replicas.claim("state", sequence, token=token),
                SETTLE: replicas.settlement("0", True, token=token),
                OFFER: replicas.offer(replicas.key("state", sequence), token=token)}
    for path, message in messages.items():
        answer = pair[0].post(path, message)
        assert (answer.status, answer.body) == (403, b"The message has not the token of the replicas")
    assert pair[0].total("state", sequence, 1) == [4]


def test_roles_apply_too(start_replicas, program, tmp_path):
    """With --auth-file the replicas' token needs the role manage, and others with that role need the token
    in the message, too."""
    tokens = {name: subprocess.run([program, "token", "create", "--role", role, "--name", name],
                                   check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
              for name, role in (("replicas", "manage"), ("app", "infer"), ("admin", "manage"))}
    (tmp_path / "access").write_text("".join(lines[3] + "\n" for lines in tokens.values()))
    token, app, admin = (lines[1] for lines in tokens.values())
    one, two = start_replicas(2, f"--auth-file={tmp_path}/access", token=token)
    user = {"Authorization": f"Bearer {app}"}
    sequence = next(IDS)
    assert one.total("state", sequence, 3, user, sequence_start=True) == [3]
    message = replicas.claim("state", sequence, token=token)
    assert one.post(CLAIM, message).status == 401
    assert one.post(CLAIM, message, user).status == 403
    answer = one.post(CLAIM, replicas.claim("state", sequence, token=admin),
                      {"Authorization": f"Bearer {admin}"})
    assert (answer.status, answer.body) == (403, b"The message has not the token of the replicas")
    assert two.total("state", sequence, 4, user) == [7]


def test_hostile_messages(pair):
    one, _ = pair
    sequence = begun(one)
    good = {CLAIM: replicas.claim("state", sequence), SETTLE: replicas.settlement("00", True),
            OFFER: replicas.offer(replicas.key("state", 1))}
    chance = random.Random(11)
    for path, message in good.items():
        whole = [message[:size] for size in range(len(message))]
        whole += [message + b"x", b"", b"\xff" * 100]
        start = len(replicas.head(b"C") + replicas.text(TOKEN))
        for _ in range(100):  # behind the token
            place = chance.randrange(start, len(message))
            whole.append(message[:place] + bytes([chance.randrange(256)]) + message[place + 1:])
        for body in whole:
            if body.startswith(message[:-1]) and path == SETTLE:
                continue
            answer = one.post(path, body)
            assert answer.status in (200, 400, 403, 404, 503), (path, body, answer.body)
    assert one.alive()


def test_wrong_methods_and_paths(pair):
    for path in PATHS:
        for method in ("GET", "PUT", "DELETE"):
            assert raw_http.request(pair[0], method, path).status == 405
    assert raw_http.request(pair[0], "POST", "/v2/sequences/give", b"").status == 404


def test_wrong_settings(start_replicas, tmp_path):
    (tmp_path / "empty").write_text("")
    for flags, text in (
            (["--sequence-handover-peers=a:1"], "need each other"),
            ([f"--sequence-handover-token-file={tmp_path}/empty"], "need each other"),
            (["--sequence-handover-peers=a", f"--sequence-handover-token-file={tmp_path}/empty"],
             "the form [http://|https://]HOST:PORT"),
            (["--sequence-handover-peers=a:1", f"--sequence-handover-token-file={tmp_path}/empty"],
             "has no token <name>.<secret>"),
            (["--sequence-handover-peers=a:1", f"--sequence-handover-token-file={tmp_path}/none"],
             "No such file")):
        with pytest.raises(Exception, match="did not become ready") as failed:
            start_replicas(1, *flags, peers=False)
        assert text in str(failed.value)
