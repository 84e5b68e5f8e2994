# SPDX-License-Identifier: Apache-2.0
"""GPUs: where instances are placed, which configurations are refused, limits of memory, metrics,
and what happens when the driver fails. The GPUs are those of the fake driver (tests/fake_gpu)."""

import json
import os
import re
import shlex
import shutil
import subprocess

import models
import pytest
import raw_http
from platform_models import PLATFORMS, close
from prometheus_client.parser import text_string_to_metric_families as parse_text
from server_process import ServerFailed

GIB = 1 << 30
UUIDS = [f"GPU-fa4e0000-0000-4000-8000-{number:012x}" for number in (1, 2, 3)]
EXPLICIT = ("--model-control-mode=explicit", "--exit-on-error=false")
# Every function of the driver that a start calls.
DRIVER_CALLS = ["cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
                "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDeviceGetUuid",
                "cuDeviceGetPCIBusId"]


@pytest.fixture(scope="module")
def fake_gpu(backends, is_peer):
    if is_peer:
        pytest.skip("the peer is a build without GPUs")
    folder = backends.parent / "fake_gpu"
    if not (folder / "libcuda.so.1").exists():
        pytest.skip(f"{folder} is not built")
    return folder


@pytest.fixture(scope="module")
def gpu_server(start_server, fake_gpu, test_plugins):
    """Returns gpu_server(name, groups, *flags, gpus=2, **environment): a server with one model of
    the backend 'placed' for each entry of `groups`, {name: text of its instance groups}."""
    def start(name, groups, *flags, gpus=2, environment=None, **options):
        def write(root):
            for model, text in groups.items():
                write_model(root, test_plugins, model, text)
            root.mkdir(exist_ok=True)
        return start_server(name, write, *flags, environment={
            "LD_LIBRARY_PATH": str(fake_gpu), "NEREID_FAKE_GPUS": str(gpus),
            **(environment or {})}, **options)
    return start


def write_model(root, plugins, name, groups, backend="placed"):
    folder = root / name
    (folder / "1").mkdir(parents=True)
    if backend == "placed":
        shutil.copy(plugins / "libtriton_placed.so", folder)
    tensor = '{ name: "%s" data_type: TYPE_FP32 dims: [ 4 ] }\n'
    (folder / "config.pbtxt").write_text(
        f'backend: "{backend}"\ninput {tensor % "INPUT"}output {tensor % "OUTPUT"}{groups}')


def placed(server):
    """Returns what the backend has said: {instance: [text, ...]}, in order."""
    found = {}
    for line in server.log.read_text().splitlines():
        if match := re.search(r"placed: (\S+) (.*)", line):
            text = match[2].removesuffix('"').replace('\\"', '"')  # the log quotes messages
            found.setdefault(match[1], []).append(text)
    return found


def groups_of(server, model):
    return raw_http.get(server, f"/v2/models/{model}/config").json["instance_group"]


def load(server, model, config=None):
    body = {"parameters": {"config": json.dumps(config)}} if config else {}
    return raw_http.request(server, "POST", f"/v2/repository/models/{model}/load",
                            json.dumps(body).encode())


def infer(server, model):
    return raw_http.infer(server, model, {"inputs": [
        raw_http.tensor("INPUT", "FP32", [4], [1, 2, 3, 4])]})


def metrics(server):
    """Returns {family: {gpu_uuid: value}} and the samples of models, {(family, labels): value}."""
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    gpus, of_models = {}, {}
    for family in parse_text(page):
        for sample in family.samples:
            labels = dict(sample.labels)
            if "model" in labels:
                of_models[family.name, tuple(sorted(labels.items()))] = sample.value
            elif "gpu_uuid" in labels:
                gpus.setdefault(family.name, {})[labels["gpu_uuid"]] = sample.value
    return gpus, of_models


PLACES = {
    "without": "",
    "auto": "instance_group { count: 1 }",
    "all": "instance_group { kind: KIND_GPU }",
    "second": "instance_group { kind: KIND_GPU gpus: [ 1 ] count: 2 }",
    "mixed": "instance_group { kind: KIND_GPU gpus: [ 0 ] } instance_group { kind: KIND_CPU }",
    "model": "instance_group { kind: KIND_MODEL }",
    "passive": "instance_group { kind: KIND_GPU gpus: [ 1 ] }"
               "instance_group { kind: KIND_GPU gpus: [ 0 ] passive: true "
               "secondary_devices { kind: KIND_NVDLA device_id: 1 } }",
    "auto_absent": "instance_group { gpus: [ 7 ] }",
    "policy": "instance_group { kind: KIND_GPU gpus: [ 1 ] host_policy: \"mine\" }",
}


@pytest.fixture(scope="module")
def places(gpu_server):
    return gpu_server("gpu_places", PLACES, "--host-policy=gpu_1,cpu-cores=0",
                      "--log-verbose=1")


def on(kind, device, policy, state="active", settings="{}"):
    return f'{kind} {device} {state} {{"{policy}":{settings}}}'


FIRST = on("GPU", 0, "gpu_0")
SECOND = on("GPU", 1, "gpu_1", settings='{"cpu-cores":"0"}')


@pytest.mark.parametrize("model, expected", [
    ("without", {"without_0": [FIRST, SECOND]}),
    ("auto", {"auto_0_0": [FIRST, SECOND]}),
    ("all", {"all_0_0": [FIRST, SECOND]}),
    ("second", {"second_0_0": [SECOND], "second_0_1": [SECOND]}),
    ("mixed", {"mixed_0_0": [FIRST], "mixed_1_0": [on("CPU", 0, "cpu")]}),
    ("model", {"model_0_0": [on("MODEL", 0, "model")]}),
    ("passive", {"passive_0_0": [SECOND],
                 "passive_1_0": [on("GPU", 0, "gpu_0", "passive") + " KIND_NVDLA 1"]}),
    ("auto_absent", {"auto_absent_0_0": [on("CPU", 0, "cpu")]}),
    ("policy", {"policy_0_0": [on("GPU", 1, "mine")]}),
])
def test_instances_are_where_their_groups_say(places, model, expected):
    found = {name: texts for name, texts in placed(places).items()
             if re.fullmatch(f"{model}(_\\d+)?_\\d+", name)}
    assert found == expected
    assert infer(places, model).status == 200


def test_the_configuration_names_the_gpus(places):
    (group,) = groups_of(places, "without")
    assert (group["name"], group["kind"], group["gpus"]) == ("without", "KIND_GPU", [0, 1])
    (group,) = groups_of(places, "auto_absent")
    assert (group["kind"], group["gpus"]) == ("KIND_CPU", [])


def test_the_start_says_which_gpus_there_are(places):
    log = places.log.read_text()
    assert "GPUs that are used: 0, 1" in log
    for number in (0, 1):
        assert re.search(rf"\| cuda_memory_pool_byte_size\{{{number}\}} +\| 67108864 +\|", log)
        assert re.search(rf"\| {number}   \| Fake GPU {number} \| 9.0 +\| 1.0 GiB "
                         rf"\| 0000:0{number + 1}:00.0 \| {UUIDS[number]} \| yes +\|", log)


def test_requests_of_models_are_counted_by_gpu(places):
    for _ in range(3):
        assert infer(places, "second").status == 200
        assert infer(places, "model").status == 200
    _, samples = metrics(places)
    name = "nv_inference_request_success"
    by_gpu = {dict(labels).get("gpu_uuid"): value for (family, labels), value in samples.items()
              if family == name and dict(labels)["model"] == "second"}
    assert set(by_gpu) == {None, UUIDS[1]}
    assert by_gpu[None] == 0 and by_gpu[UUIDS[1]] >= 3
    assert all("gpu_uuid" not in dict(labels) for (_, labels) in samples
               if dict(labels)["model"] == "model")
    statistics = raw_http.get(places, "/v2/models/second/stats").json["model_stats"][0]
    assert statistics["inference_stats"]["success"]["count"] == by_gpu[UUIDS[1]]


def test_gpu_metrics(places):
    gpus, _ = metrics(places)
    assert set(gpus) == {"nv_gpu_utilization", "nv_gpu_memory_total_bytes",
                         "nv_gpu_memory_used_bytes", "nv_gpu_power_usage", "nv_gpu_power_limit",
                         "nv_energy_consumption"}
    for values in gpus.values():
        assert set(values) == set(UUIDS[:2])
    assert gpus["nv_gpu_utilization"][UUIDS[0]] == 0.25
    assert gpus["nv_gpu_memory_total_bytes"][UUIDS[1]] == GIB
    assert gpus["nv_gpu_power_usage"][UUIDS[0]] == 100
    assert gpus["nv_gpu_power_limit"][UUIDS[0]] == 350
    assert gpus["nv_energy_consumption"][UUIDS[0]] < 5000  # since the start of the server


@pytest.fixture(scope="module")
def refusing(gpu_server):
    return gpu_server("gpu_refusing", PLACES, *EXPLICIT, gpus=3,
                      environment={"NEREID_FAKE_GPU_CAPABILITY": "9.0,5.2,7.5"},
                      wait_path="/v2/health/live")


@pytest.mark.parametrize("group, text", [
    ({"kind": "KIND_GPU", "gpus": [42]},
     "instance group g of model all specifies invalid or unsupported gpu id 42. GPUs with at least "
     "the minimum required CUDA compute compatibility of 6.000000 are: 0, 2"),
    ({"kind": "KIND_GPU", "gpus": [0, 1]},
     "instance group g of model all specifies invalid or unsupported gpu id 1. GPUs with at least "
     "the minimum required CUDA compute compatibility of 6.000000 are: 0, 2"),
    ({"kind": "KIND_CPU", "gpus": [0]},
     "instance group g of model all has kind KIND_CPU but specifies one or more GPUs"),
    ({"kind": "KIND_MODEL", "gpus": [0]},
     "instance group g of model all has kind KIND_MODEL but specifies one or more GPUs"),
])
def test_wrong_groups_are_refused(refusing, group, text):
    config = {"backend": "placed", "input": [{"name": "INPUT", "data_type": "TYPE_FP32",
                                              "dims": [4]}],
              "output": [{"name": "OUTPUT", "data_type": "TYPE_FP32", "dims": [4]}],
              "instance_group": [{"name": "g", **group}]}
    answer = load(refusing, "all", config)
    assert answer.status == 400
    assert text in answer.error


def test_gpus_that_are_too_old_are_not_used(refusing):
    assert load(refusing, "without").status == 200
    (group,) = groups_of(refusing, "without")
    assert group["gpus"] == [0, 2]
    log = refusing.log.read_text()
    assert "GPUs that are used: 0, 2" in log
    assert ("GPUs that are not used because their compute capability is less than 6 "
            "(--min-supported-compute-capability): 1") in log
    assert "no: too old" in log


def test_every_capability_can_be_wanted(gpu_server):
    started = gpu_server("gpu_any", {"without": ""}, "--min-supported-compute-capability=0",
                         environment={"NEREID_FAKE_GPU_CAPABILITY": "5.2"})
    (group,) = groups_of(started, "without")
    assert group["gpus"] == [0, 1]


def test_visible_devices_are_numbered_anew_and_measured_by_their_pci_id(gpu_server):
    started = gpu_server("gpu_visible", {"without": ""}, gpus=3,
                         environment={"CUDA_VISIBLE_DEVICES": "2,0"})
    (group,) = groups_of(started, "without")
    assert group["gpus"] == [0, 1]
    gpus, _ = metrics(started)
    assert set(gpus["nv_gpu_power_usage"]) == {UUIDS[0], UUIDS[2]}


def gpu_bytes(count):
    return (f'parameters {{ key: "gpu_bytes" value: {{ string_value: "{count}" }} }}\n'
            "instance_group { kind: KIND_GPU gpus: [ %d ] }\n")


@pytest.fixture(scope="module")
def limited(gpu_server):
    return gpu_server("gpu_limited", {
        "small": gpu_bytes(GIB // 10) % 0, "large": gpu_bytes(GIB * 6 // 10) % 0,
        "elsewhere": gpu_bytes(GIB * 6 // 10) % 1, "too_large": gpu_bytes(GIB * 2) % 1,
        "cpu": "instance_group { kind: KIND_CPU }",
    }, *EXPLICIT, "--model-load-gpu-limit=0:0.5", wait_path="/v2/health/live")


def test_a_load_above_the_limit_is_refused_and_leaves_nothing(limited):
    answer = load(limited, "large")
    assert answer.status == 400
    assert ("Unavailable: can not create model 'large_0_0': memory limit set for GPU 0 has "
            "exceeded, model loading is rejected.") in answer.error
    assert load(limited, "small").status == 200
    assert load(limited, "elsewhere").status == 200
    assert load(limited, "cpu").status == 200
    for model in ("small", "elsewhere", "cpu"):
        assert infer(limited, model).status == 200


def test_memory_that_runs_out_fails_one_load(limited):
    answer = load(limited, "too_large")
    assert answer.status != 200
    assert ("cannot allocate 2147483648 bytes on GPU 1: out of memory "
            "(CUDA_ERROR_OUT_OF_MEMORY)") in answer.error
    assert limited.alive()


def test_a_wrong_limit_ends_the_start(gpu_server):
    with pytest.raises(ServerFailed, match="is no limit of a GPU"):
        gpu_server("gpu_wrong_limit", {},
                   "--backend-config=model-load-gpu-limit-device-0=half")


@pytest.mark.parametrize("function", DRIVER_CALLS)
def test_a_driver_that_fails_at_the_start_leaves_a_server_without_gpus(gpu_server, function):
    started = gpu_server(f"gpu_fails_{function}", {
        "auto": "", "gpu": "instance_group { kind: KIND_GPU }"}, *EXPLICIT,
        environment={"NEREID_FAKE_CUDA_FAIL": f"{function}=999"}, wait_path="/v2/health/live")
    log = started.log.read_text()
    assert "unknown error (CUDA_ERROR_UNKNOWN)" in log
    assert load(started, "auto").status == 200
    assert groups_of(started, "auto")[0]["kind"] == "KIND_CPU"
    assert infer(started, "auto").status == 200
    answer = load(started, "gpu")
    assert answer.status == 400
    assert "has kind KIND_GPU but no GPUs are available" in answer.error


def test_a_gpu_that_cannot_be_read_is_left_out(gpu_server):
    started = gpu_server("gpu_one_fails", {"without": ""},
                         environment={"NEREID_FAKE_CUDA_FAIL": "cuDeviceGetName:1!=999"})
    assert groups_of(started, "without")[0]["gpus"] == [1]
    assert ("cannot read the properties of GPU 0: unknown error (CUDA_ERROR_UNKNOWN); the GPU is "
            "not used") in started.log.read_text()


@pytest.mark.parametrize("function", ["cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2",
                                      "cuMemGetInfo_v2", "cuMemAlloc_v2"])
def test_a_driver_that_fails_at_a_load_fails_the_load(gpu_server, tmp_path, function):
    failures = tmp_path / "failures"
    failures.write_text("\n")
    started = gpu_server(f"gpu_load_fails_{function}", {"small": gpu_bytes(1 << 20) % 0},
                         *EXPLICIT, "--model-load-gpu-limit=0:0.9",
                         environment={"NEREID_FAKE_CUDA_FAIL_FILE": str(failures)},
                         wait_path="/v2/health/live")
    failures.write_text(f"{function}=999\n")
    answer = load(started, "small")
    assert answer.status != 200
    assert "unknown error (CUDA_ERROR_UNKNOWN)" in answer.error
    failures.write_text("\n\n")
    os.utime(failures, ns=(1, 1))
    assert load(started, "small").status == 200
    assert infer(started, "small").status == 200


def counted(path):
    """Returns the functions of the driver that were called: {name: calls}."""
    lines = (line.split() for line in path.read_bytes().replace(b"\0", b"").decode().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2}


def serve_once(started):
    """Loads a model with GPU memory and one without, and sends requests. Returns the errors."""
    errors = []
    for model in ("holding", "plain"):
        answer = load(started, model)
        if answer.status != 200:
            errors.append(answer.error)
        elif infer(started, model).status != 200:
            errors.append(infer(started, model).error)
    metrics(started)
    for model in ("holding", "plain"):
        raw_http.request(started, "POST", f"/v2/repository/models/{model}/unload", b"{}")
    return errors


def test_every_call_of_the_driver_may_fail(gpu_server, tmp_path):
    """Each function fails always, and then only at its last call, which is in the middle of work.
    The server lives on, and every error has the driver's words."""
    places = {"holding": gpu_bytes(1 << 20) % 0, "plain": ""}
    counts = tmp_path / "counts"
    flags = (*EXPLICIT, "--model-load-gpu-limit=0:0.9")
    whole = gpu_server("gpu_counted", places, *flags, wait_path="/v2/health/live",
                       environment={"NEREID_FAKE_CUDA_FAIL_COUNTS": str(counts)})
    assert serve_once(whole) == []
    calls = counted(counts)
    assert set(DRIVER_CALLS) < set(calls) and "cuMemAlloc_v2" in calls
    for function, count in calls.items():
        for failure in (f"{function}=999", f"{function}:{count}!=999"):
            started = gpu_server("gpu_faults", places, *flags, wait_path="/v2/health/live",
                                 environment={"NEREID_FAKE_CUDA_FAIL": failure})
            for error in serve_once(started):
                assert ("CUDA_ERROR_UNKNOWN" in error
                        or "has kind KIND_GPU but no GPUs are available" in error
                        or "invalid or unsupported gpu id" in error), (failure, error)
            assert started.alive(), failure
            started.stop()


def test_a_gpu_that_fails_for_good_fails_its_models_only(gpu_server, tmp_path):
    failures = tmp_path / "failures"
    failures.write_text("\n")
    started = gpu_server("gpu_broken", {"holding": gpu_bytes(1 << 20) % 1, "plain": ""}, *EXPLICIT,
                         environment={"NEREID_FAKE_CUDA_FAIL_FILE": str(failures)},
                         wait_path="/v2/health/live")
    failures.write_text("cuMemAlloc_v2:1!=719\n")
    for _ in range(2):  # the second time it is the device that returns the error
        answer = load(started, "holding")
        assert "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)" in answer.error
    assert load(started, "plain").status == 200
    assert infer(started, "plain").status == 200


def test_without_a_gpu_nothing_is_said(gpu_server):
    started = gpu_server("gpu_none", {"auto": ""}, gpus=0)
    assert groups_of(started, "auto")[0]["kind"] == "KIND_CPU"
    assert "GPU" not in started.log.read_text().replace("placed: auto_0 CPU", "")
    assert metrics(started)[0] == {}


def test_a_server_can_be_kept_from_the_gpus(gpu_server):
    started = gpu_server("gpu_unwanted", {"auto": ""}, "--log-verbose=1",
                         environment={"TRITON_SERVER_CPU_ONLY": "1"})
    assert groups_of(started, "auto")[0]["kind"] == "KIND_CPU"
    assert "TRITON_SERVER_CPU_ONLY" in started.log.read_text()
    assert metrics(started)[0] == {}


@pytest.mark.parametrize("flags, environment", [
    (["--allow-gpu-metrics=false"], {}),
    ([], {"NEREID_FAKE_NVML_FAIL": "nvmlInit_v2=9"}),
])
def test_without_gpu_metrics_everything_else_works(gpu_server, flags, environment):
    started = gpu_server(f"gpu_unmeasured_{len(flags)}", {"without": ""}, *flags,
                         environment=environment)
    assert metrics(started)[0] == {}
    assert infer(started, "without").status == 200
    warned = "There are no metrics of GPUs: cannot initialize NVML: Driver Not Loaded (NVML 9)"
    assert (warned in started.log.read_text()) == bool(environment)


def test_a_gpu_that_is_lost_loses_its_metrics_only(gpu_server, tmp_path):
    failures = tmp_path / "failures"
    failures.write_text("\n")
    started = gpu_server("gpu_lost", {"without": ""}, "--metrics-interval-ms=100",
                         environment={"NEREID_FAKE_NVML_FAIL_FILE": str(failures)})
    assert "nv_gpu_power_usage" in metrics(started)[0]
    failures.write_text("nvmlDeviceGetPowerUsage=15,nvmlDeviceGetUtilizationRates=3\n")
    deadline = 100
    while "nv_gpu_power_usage" in metrics(started)[0] and deadline > 0:
        deadline -= 1
    gpus, _ = metrics(started)
    assert "nv_gpu_power_usage" not in gpus and "nv_gpu_utilization" not in gpus
    assert set(gpus["nv_gpu_power_limit"]) == set(UUIDS[:2])
    log = started.log.read_text()
    assert log.count("Metrics of GPU 0 are missing: cannot read the power usage: GPU is lost") == 1
    assert infer(started, "without").status == 200


def test_backends_for_the_cpu_stay_there(gpu_server, start_server, fake_gpu):
    def write(root):
        repo = models.Repository(root)
        repo.identity("plain", [("FP32", [4])])
        repo.identity("auto", [("FP32", [4])], extra="instance_group { count: 2 }\n")
    started = start_server("gpu_identity", write, environment={
        "LD_LIBRARY_PATH": str(fake_gpu), "NEREID_FAKE_GPUS": "1"})
    for model in ("plain", "auto"):
        assert groups_of(started, model)[0]["kind"] == "KIND_CPU"


def test_frameworks_for_the_cpu_serve_on_a_machine_with_gpus(start_server, fake_gpu, connect,
                                                             built_platforms):
    """Models without a kind go on working when a machine gets a GPU; the libraries of this build
    have no CUDA. A model of KIND_GPU is refused, but a custom library gets the GPU's number.
    """
    def write(root):
        for name in built_platforms:
            platform = PLATFORMS[name]
            platform.put(root, name, platform.config())
            platform.put(root, f"{name}_auto",
                         platform.config() + "instance_group { count: 1 }\n")
            platform.put(root, f"{name}_gpu",
                         platform.config() + "instance_group { kind: KIND_GPU }\n")
    started = start_server("gpu_frameworks", write, *EXPLICIT, wait_path="/v2/health/live",
                           environment={"LD_LIBRARY_PATH": str(fake_gpu)})
    client = connect("grpc", started)
    for name in built_platforms:
        given, wanted = PLATFORMS[name].case()
        refused = load(started, f"{name}_gpu")
        if name == "custom":
            assert refused.status == 200
        else:
            assert refused.status != 200, name
            assert re.search("KIND_CPU|GPU|CUDA", refused.error), (name, refused.error)
        for model in (name, f"{name}_auto"):
            answer = load(started, model)
            assert answer.status == 200, answer.error
            assert groups_of(started, model)[0]["kind"] == "KIND_CPU"
            close(PLATFORMS[name].ask(client, model, given), wanted, model)


@pytest.fixture(scope="module")
def tool(fake_gpu, request):
    """Returns tool(number of GPUs, word, ...), which runs `nereid word ...`."""
    command = request.config.option.server_command
    if not command:
        pytest.skip("needs --server-command")
    nereid = [word for word in shlex.split(command) if word != "serve"]

    def run(gpus, *words):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(fake_gpu),
                       "NEREID_FAKE_GPUS": str(gpus)}
        return subprocess.run([*nereid, *words], env=environment, text=True, capture_output=True)
    return run


def test_the_check_knows_the_gpus(tool, tmp_path, test_plugins):
    write_model(tmp_path, test_plugins, "m",
                "instance_group { kind: KIND_GPU gpus: [ 1 ] }", "identity")
    words = ("check", str(tmp_path), "--backend-directory=")
    one = tool(1, *words)
    assert one.returncode == 1 and "invalid or unsupported gpu id 1" in one.stdout
    for gpus in (0, 2):
        result = tool(gpus, *words)
        assert result.returncode == 0, result.stdout


def test_a_tool_lists_the_gpus(tool):
    two = tool(2, "gpus")
    assert two.returncode == 0
    assert UUIDS[0] in two.stdout and UUIDS[1] in two.stdout
    none = tool(0, "gpus")
    assert none.returncode == 1
    assert none.stdout.startswith("No GPUs: the CUDA driver finds no GPU\nTensorRT: ")
