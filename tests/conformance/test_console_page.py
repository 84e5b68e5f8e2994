# SPDX-License-Identifier: Apache-2.0
"""The console's page in a real browser (Debian's Chromium): every page at three sizes, by keyboard,
in both themes, with names and labels that would do harm as markup, and with a server that vanishes.

NEREID_CONSOLE_PICTURES=docs/user/console writes the pictures of docs/user/console.md again."""

import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import wave
from pathlib import Path

import console_models
import ml_dtypes
import numpy as np
import pytest
import raw_http
from PIL import Image
from server_process import free_ports

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

SIZES = {"phone": (360, 740), "tablet": (768, 1024), "desktop": (1440, 900)}
PICTURES = os.environ.get("NEREID_CONSOLE_PICTURES")
SAVED = {"overview_desktop", "overview_phone", "numbers_desktop", "numbers_dark", "answer_desktop",
         "flame_desktop"}
# Each page, and what is on it when it is complete.
PAGES = {
    "overview": ("#/", "text=Versions ready"),
    "numbers": ("#/models/numbers", "text=Why batches were closed"),
    "config": ("#/models/numbers/config", "text=max_batch_size"),
    "try": ("#/models/classifier/try", "button:text-is('Send')"),
    "manage": ("#/models/numbers/manage", "text=Load or reload"),
    "traces": ("#/traces", "h1:text-is('Traces')"),
    "log": ("#/log", ".lines div"),
    "api": ("#/api", "code:text-is('/v2/health/live')"),
    "model_api": ("#/api/classifier", "text=Save openapi.json"),
}


@pytest.fixture(scope="module", autouse=True)
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton has no console")


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as made:
        # Without its sandbox, because the tests may run as root.
        browser = made.chromium.launch(executable_path=program,
                                       args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


def until(page, condition, seconds=20):
    """Waits until an expression is true. (The page's rules forbid Playwright's wait_for_function.)"""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(50)


def start_console(start_server, name, *flags, write=console_models.write):
    (port,) = free_ports(1)
    server = start_server(name, write, f"--console-port={port}",
                          "--model-control-mode=explicit", "--load-model=*",
                          "--exit-on-error=false", "--strict-readiness=false",
                          "--enable-sequence-listing=true", *flags)
    server.url = f"http://127.0.0.1:{port}/"
    return server


@pytest.fixture(scope="module")
def console(start_server, require_backends):
    require_backends("identity", "onnxruntime")
    server = start_console(start_server, "console_page")
    stop = threading.Event()

    def work():
        """Something to be seen in the pictures."""
        for turn in itertools.count():
            rows = 1 + turn % 3
            raw_http.infer(server, "numbers", {"inputs": [
                raw_http.tensor("INPUT0", "INT32", [rows, 4], [1, 2, 3, 4] * rows)]})
            if stop.wait(0.005 * (1 + turn // 400 % 4)):
                return

    workers = [threading.Thread(target=work) for _ in range(4 if PICTURES else 0)]
    for worker in workers:
        worker.start()
    yield server
    stop.set()
    for worker in workers:
        worker.join()


class Page:
    """A tab that notes what must not happen: errors, violations of the page's rules, dialogs."""

    def __init__(self, browser, url, size="desktop", **options):
        width, height = SIZES[size]
        options.setdefault("color_scheme", "light")
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.url = url
        self.faults = []
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self.page.on("console", self._note)

    def _note(self, message):
        # A refused or failed request is shown to the user by the page itself.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(f"console: {message.text}")

    def open(self, address, complete):
        self.page.goto(self.url + address)
        self.page.wait_for_selector(complete)
        return self.page

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.page.evaluate("window.harm") is None
        self.context.close()
        if kind is None:
            assert self.faults == []


def serious_faults(page):
    results = axe.Axe().run(page)
    return [(fault["id"], [node["target"] for node in fault["nodes"]][:3])
            for fault in results.response["violations"]
            if fault["impact"] in ("serious", "critical")]


def save_picture(page, name):
    if PICTURES is None or name not in SAVED:
        return
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    folder = Path(PICTURES)
    folder.mkdir(parents=True, exist_ok=True)
    picture.quantize(96).save(folder / f"{name}.png", optimize=True)


@pytest.mark.parametrize("size", SIZES)
def test_every_page_fits_and_is_accessible(browser, console, size):
    with Page(browser, console.url, size) as tab:
        for name, (address, complete) in PAGES.items():
            page = tab.open(address, complete)
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, (name, overflow)
            assert serious_faults(page) == [], name
            assert page.locator("h1").count() == 1, name
            save_picture(page, f"{name}_{size}")


def test_dark_colours_have_contrast(browser, console):
    with Page(browser, console.url, color_scheme="dark") as tab:
        for name, (address, complete) in PAGES.items():
            page = tab.open(address, complete)
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
            assert serious_faults(page) == [], name
        save_picture(tab.open(*PAGES["numbers"]), "numbers_dark")
        page.get_by_role("button", name="Light or dark").click()
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        page.reload()
        assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_by_keyboard(browser, console):
    with Page(browser, console.url) as tab:
        page = tab.open(*PAGES["overview"])
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        page.get_by_role("link", name="Log").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".lines div")
        # The focus is at the beginning of the new page.
        until(page, "document.activeElement.tagName === 'H1'")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "SELECT"


def run_lines(tab, folder):
    """Runs the lines of the answer's page for a shell and for Python. Returns their outputs."""
    page = tab.page
    for button in page.get_by_role("button", name=re.compile(r"^Save .*\.bin$")).all():
        with page.expect_download() as given:
            button.click()
        given.value.save_as(folder / given.value.suggested_filename)
    shell, python = [block.text_content() for block in
                     page.locator("section:has(h2:text-is('The same request elsewhere')) pre").all()]
    out = []
    for command in (["sh", "-c", shell.replace("curl ", "curl -s ", 1)],
                    [sys.executable, "-c", python]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60,
                              errors="replace", check=True)
        out.append(done.stdout)
    return out


def send(page):
    page.get_by_role("button", name="Send").click()
    page.wait_for_selector("h2:text-is('Answer')")


def test_numbers_and_the_lines_that_do_the_same(browser, console, tmp_path):
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/numbers/try", "button:text-is('Send')")
        page.get_by_label("Numbers").fill("[[1, 2, 3, -4]]")
        page.get_by_label("Trace this request").check()
        send(page)
        assert "-4" in page.locator("section:has(> h3:text-is('OUTPUT0')) pre").first.text_content()
        page.wait_for_selector("ul.flame li")
        assert page.locator(".flame .name span:first-child").first.text_content() == "InferRequest"
        curl, python = run_lines(tab, tmp_path)
        assert '"data":[1,2,3,-4]' in curl
        assert python.strip() == "[[ 1  2  3 -4]]"
        page.get_by_label("Numbers").fill("1 2 x")
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("text=“x” is not a number")
        page.get_by_label("Numbers").fill("1 2 3")
        page.get_by_label("Shape").fill("1, 4")
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("text=there are 3 values")


def test_wide_numbers_keep_all_their_digits(browser, console, tmp_path):
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/wide/try", "button:text-is('Send')")
        page.get_by_label("Numbers").nth(0).fill("9007199254740993 -9223372036854775808")
        page.get_by_label("Numbers").nth(1).fill("0.5 -65504")
        send(page)
        first = page.locator("section:has(> h3:text-is('OUTPUT0')) pre").first.text_content()
        assert "9007199254740993" in first and "-9223372036854775808" in first
        assert "-65504" in page.locator("section:has(> h3:text-is('OUTPUT1')) pre").first.text_content()
        _, python = run_lines(tab, tmp_path)
        assert "[    9007199254740993 -9223372036854775808]" in python
        assert "-6.55e+04" in python


def test_small_floats_are_rounded_as_numpy_does(browser, console):
    random = np.random.default_rng(7)
    values = np.concatenate([
        random.integers(0, 2**32, 4000, dtype=np.uint32).view(np.float32),
        random.uniform(-7e-5, 7e-5, 2000).astype(np.float32),  # subnormal halves
        np.array([0, 65504, 65519.99, 65520, 6e-8, 2.9e-8, 1 + 2**-11, 1 + 3 * 2**-11], np.float32)])
    values = values[np.isfinite(values)]
    with Page(browser, console.url) as tab:
        page = tab.open("#/", "text=Versions ready")
        half, brain = page.evaluate("""async (values) => {
            const {rawOf} = await import("/console/files/tensor.js");
            return ["FP16", "BF16"].map((type) => [...rawOf(values, type)]);
        }""", values.tolist())
    with np.errstate(over="ignore"):
        assert bytes(half) == values.astype(np.float16).tobytes()
        assert bytes(brain) == values.astype(ml_dtypes.bfloat16).tobytes()


def test_a_text(browser, console, tmp_path):
    text = "It's \"quoted\" $HOME `id` \\n \N{SNOWMAN}\nand a second line"
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/texts/try", "button:text-is('Send')")
        page.get_by_label("Text").fill(text)
        send(page)
        assert page.locator("section:has(> h3:text-is('OUTPUT0')) pre").first.text_content() == text
        curl, python = run_lines(tab, tmp_path)
        assert "$HOME `id`" in curl
        assert eval(python.strip())[0].decode() == text


def test_labels(browser, console, tmp_path):
    with Page(browser, console.url) as tab:
        page = tab.open(*PAGES["try"])
        page.get_by_label("Numbers").fill("0.1 0.9 0.3 0 0 0")
        page.locator("summary:text-is('Options')").click()
        page.get_by_label("Labels of each output").fill("3")
        send(page)
        labels = page.locator(".bars .label span:first-child").all_text_contents()
        assert labels == [console_models.HOSTILE_LABEL, "bird", "cat"]
        _, python = run_lines(tab, tmp_path)
        assert "1.800000:1:" in python
        assert serious_faults(page) == []
        page.get_by_label("Numbers").fill("0.9 0.1 0.4 0.2 0 0")
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector(".bars li:first-child:has-text('cat')")
        page.evaluate("scrollTo(0, 0)")
        save_picture(page, "answer_desktop")


def test_a_picture(browser, console, tmp_path):
    picture = Image.new("RGB", (32, 24), (255, 0, 0))
    picture.save(tmp_path / "red.png")
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/picture/try", "button:text-is('Send')")
        page.get_by_label("Picture", exact=True).set_input_files(tmp_path / "red.png")
        page.get_by_label("Width").fill("16")
        page.get_by_label("Height").fill("12")
        send(page)
        canvas = page.locator("section:has(> h3:text-is('OUTPUT0')) canvas")
        assert canvas.get_attribute("aria-label") == "The output as a picture of 16 × 12 pixels"
        pixel = canvas.evaluate("(one) => [...one.getContext('2d').getImageData(3, 3, 1, 1).data]")
        assert pixel == [255, 0, 0, 255]
        _, python = run_lines(tab, tmp_path)
        assert python.count("[1. 1. 1.") == 12
        (tmp_path / "no.png").write_text("no picture")
        page.get_by_label("Picture", exact=True).set_input_files(tmp_path / "no.png")
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("text=is no picture that this browser reads")


def test_boxes_in_the_picture(browser, console, tmp_path):
    Image.new("RGB", (100, 80), (255, 255, 255)).save(tmp_path / "white.png")
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/detector/try", "button:text-is('Send')")
        page.get_by_label("Picture", exact=True).set_input_files(tmp_path / "white.png")
        page.get_by_label("Numbers").fill("[[0.1, 0.25, 0.5, 0.75, 0.9], [0, 0, 1, 1, 0.2]]")
        page.get_by_label("Shape").fill("?, 5")
        send(page)
        card = page.locator("section:has(> h3:text-is('OUTPUT1'))")
        assert card.get_by_label("Shown as").input_value() == "boxes"
        assert card.get_by_text("1 of 2 boxes").count() == 1
        color = """(one, [x, y]) => [...one.getContext("2d").getImageData(x, y, 1, 1).data]"""
        canvas = card.locator("canvas")
        # The left edge of the first box, and the middle of it, where the text is not.
        assert canvas.evaluate(color, [10, 50])[:3] == [230, 25, 75]
        assert canvas.evaluate(color, [40, 55])[:3] == [255, 255, 255]
        card.get_by_label("Least fifth number (score)").fill("0.1")
        page.wait_for_selector("text=2 of 2 boxes")
        card.get_by_label("Order of the numbers").select_option("xywh")
        assert canvas.evaluate(color, [60, 50])[:3] == [230, 25, 75]
        assert serious_faults(page) == []


def test_a_recording(browser, console, tmp_path):
    samples = (np.sin(np.arange(8000) / 8000 * 2 * np.pi * 440) * 16000).astype(np.int16)
    with wave.open(str(tmp_path / "tone.wav"), "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        out.writeframes(samples.tobytes())
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/sound/try", "button:text-is('Send')")
        page.get_by_label("Given as").select_option("audio")
        page.get_by_label("Recording").set_input_files(tmp_path / "tone.wav")
        send(page)
        assert "[16000]" in page.locator("section:has(> h3:text-is('OUTPUT0'))").text_content()
        page.get_by_label("Shown as").select_option("wave")
        until(page, "document.querySelector('audio')?.duration === 1")
        assert serious_faults(page) == []


def test_a_file(browser, console, tmp_path):
    np.save(tmp_path / "values.npy", np.arange(4, dtype=np.int32).reshape(1, 4))
    np.save(tmp_path / "wrong.npy", np.arange(4, dtype=np.int64))
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/numbers/try", "button:text-is('Send')")
        page.get_by_label("Given as").select_option("file")
        page.get_by_label("File").set_input_files(tmp_path / "values.npy")
        send(page)
        pre = page.locator("section:has(> h3:text-is('OUTPUT0')) pre").first
        assert "".join(pre.text_content().split()) == "[[0,1,2,3]]"
        page.get_by_label("File").set_input_files(tmp_path / "wrong.npy")
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("text=elements of the type INT64, the input INT32")


def test_hostile_names_do_not_run(browser, console):
    name = console_models.HOSTILE_NAME
    with Page(browser, console.url) as tab:
        page = tab.open("#/", "text=Versions ready")
        page.wait_for_selector("tbody a")
        page.get_by_role("link", name=name).click()
        page.wait_for_selector("text=Why batches were closed")
        assert page.locator("h1").text_content() == name
        for tab_name in ("Configuration", "Try it", "Manage", "OpenAPI"):
            tab.open(f"#/models/{name_address(name)}", "text=Why batches were closed")
            page.get_by_role("link", name=tab_name).click()
            until(page, "!document.querySelector('main').textContent.includes('Loading…')")
        tab.open("#/models/hostile_tensor/try", "button:text-is('Send')")
        assert page.locator("legend").text_content() == console_models.HOSTILE_TENSOR
        page.get_by_label("Numbers").fill("5")
        send(page)
        # A line of the log, and an error of the server.
        tab.open(f"#/models/{name_address('<svg onload=window.harm=1>')}/try", ".notice")
        page.evaluate("fetch('/v2/repository/models/%3Cimg%20src=x%20onerror=harm=1%3E/load',"
                      "{method: 'POST', body: '{}'})")
        tab.open("#/log", "text=onerror")
        tab.open("#/models/%E0%A4%A", "h1")


def name_address(name):
    from urllib.parse import quote
    return quote(name, safe="")


def test_load_unload_and_labels(browser, console):
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/b/manage", "text=Load or reload")
        page.get_by_role("button", name="Unload").click()
        page.wait_for_selector("text=b is being unloaded.")
        page.get_by_role("button", name="Load or reload").click()
        page.wait_for_selector("text=b is loaded.")
        page.get_by_label("Label").nth(1).fill("canary")
        page.get_by_role("button", name="Remove").nth(1).click()
        page.get_by_role("button", name="Begin a rollout").click()
        page.wait_for_selector("text=The rollout is set.")
        page.wait_for_selector("text=State: active")
        page.get_by_label("Share in %").fill("50")
        page.get_by_role("button", name="Change the rollout").click()
        page.wait_for_selector("text=expected 10000 parts in all")
        page.get_by_role("button", name="End the rollout").click()
        page.wait_for_selector("text=The rollout has ended.")
        page.get_by_text("Load with another configuration").click()
        page.get_by_label("Configuration as JSON").fill("{")
        page.get_by_role("button", name="Load or reload").click()
        page.wait_for_selector(".notice")


def test_the_flame_of_an_ensemble(browser, console):
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/chain/try", "button:text-is('Send')")
        page.get_by_label("Numbers").fill("1 2 3 4")
        page.get_by_label("Trace this request").check()
        send(page)
        page.get_by_role("link", name="This trace on a page of its own").click()
        page.wait_for_selector("h1:has-text('Trace of')")
        names = page.locator(".flame .name span:first-child").all_text_contents()
        assert names.index("InferRequest") < names.index("chain") < names.index("a") < names.index("b")
        page.locator(".flame button").nth(1).click()
        page.wait_for_selector("text=REQUEST_START")
        assert serious_faults(page) == []
        save_picture(page, "flame_desktop")
        page.get_by_role("link", name="Traces", exact=True).click()
        page.wait_for_selector("tbody a")


def test_a_stream_of_answers(browser, start_server, server_plugins, tmp_path):
    server = start_console(start_server, "console_stream",
                           write=lambda root: console_models.write_stream(root, server_plugins))
    with Page(browser, server.url) as tab:
        page = tab.open("#/models/repeat/try", "button:text-is('Send')")
        for index, numbers in enumerate(("5 6 7", "0 0 0", "0")):
            page.get_by_label("Numbers").nth(index).fill(numbers)
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("text=3 answers; the stream has ended.")
        answers = page.locator(".lines div").all_text_contents()
        assert [json.loads(answer)["OUT"] for answer in answers] == [5, 6, 7]
        curl, python = run_lines(tab, tmp_path)
        assert curl.count("data: ") == 3
        assert "'OUT': 7" in python
        assert serious_faults(page) == []
        page.get_by_label("Given as").nth(0).select_option("ones")
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("text=such requests need gRPC")


def test_open_sequences_and_the_last_hour(browser, console):
    with Page(browser, console.url) as tab:
        page = tab.open("#/models/sums/try", "button:text-is('Send')")
        page.locator("summary:text-is('Options')").click()
        page.get_by_label("Sequence id").fill("77")
        page.get_by_label("First request of the sequence").check()
        for number, total in ((3, 3), (4, 7)):
            page.get_by_label("Numbers").fill(str(number))
            page.get_by_role("button", name="Send").click()
            page.wait_for_selector(f"section:has(> h3:text-is('OUTPUT')) pre:has-text('{total}')")
            page.get_by_label("First request of the sequence").uncheck()
        tab.open("#/models/sums", "text=1 active, 0 waiting")
        page.wait_for_selector("th:text-is('77')")
        page.get_by_label("Time", exact=True).select_option("1 hour")
        page.wait_for_selector("figure svg[aria-label^='Requests. Latest: succeeded']")
        assert serious_faults(page) == []
        tab.open("#/models/sums/try", "button:text-is('Send')")
        page.get_by_label("Numbers").fill("5")
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector(".notice:has-text('must specify')")
        page.locator("summary:text-is('Options')").click()
        page.get_by_label("Sequence id").fill("77")
        page.get_by_label("Last request of the sequence").check()
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("section:has(> h3:text-is('OUTPUT')) pre:has-text('12')")


def test_roles(browser, start_server, require_backends, request, tmp_path):
    require_backends("identity", "onnxruntime")
    program = (request.config.option.server_command or "build/release/bin/nereid serve").split()[0]
    tokens, lines = {}, []
    for role in ("infer", "observe", "manage"):
        made = subprocess.run([program, "token", "create", f"--role={role}", f"--name={role}"],
                              capture_output=True, text=True, check=True).stdout.splitlines()
        tokens[role] = made[1]
        lines.append(made[3])
    access = tmp_path / "access"
    access.write_text("\n".join(lines) + "\n")
    server = start_console(start_server, "console_roles", f"--auth-file={access}")

    def sign_in(page, text):
        page.get_by_label("Token").fill(text)
        page.get_by_role("button", name="Sign in").click()

    with Page(browser, server.url) as tab:
        page = tab.open("#/", "h1:text-is('Sign in')")
        assert serious_faults(page) == []
        sign_in(page, "nobody.wrong")
        page.wait_for_selector(".notice")
        sign_in(page, tokens["observe"])
        page.wait_for_selector("text=Versions ready")
        # The token is in this tab alone.
        assert page.evaluate("document.cookie + JSON.stringify(localStorage)") == "{}"
        assert tokens["observe"] not in page.url
        assert page.evaluate("Object.values(sessionStorage)") == [tokens["observe"]]
        tab.open("#/models/numbers/manage", "text=Changes need the role manage.")
        assert page.get_by_role("button", name="Unload").count() == 0
        tab.open("#/models/numbers/try", "text=Requests to models need the role infer")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_selector("h1:text-is('Sign in')")
        assert page.evaluate("Object.values(sessionStorage)") == []
        sign_in(page, tokens["infer"])
        page.wait_for_selector("text=Requests to models need the role infer", state="detached")
        tab.open("#/", "text=Name of a model")
        page.get_by_label("Name of a model").fill("numbers")
        page.get_by_role("button", name="Try it").click()
        page.get_by_label("Numbers").fill("1 2 3 4")
        send(page)
        assert "Authorization: Bearer $TOKEN" in page.locator("pre").nth(1).text_content()
        tab.open("#/log", ".notice")


def test_a_server_that_vanishes(browser, start_server, require_backends):
    require_backends("identity", "onnxruntime")
    server = start_console(start_server, "console_gone")
    with Page(browser, server.url) as tab:
        page = tab.open("#/", "text=Versions ready")
        page.wait_for_selector("tbody a")
        server.kill()
        page.wait_for_selector("#connection.lost:has-text('trying again')")
        assert serious_faults(page) == []
        page.get_by_role("link", name="Log").click()
        page.wait_for_selector("text=The server cannot be reached")
        page.get_by_role("link", name="Overview").click()
        page.wait_for_selector("text=This page cannot be shown")
        server.restart()
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("text=Versions ready")
        server.kill()
        page.wait_for_selector("#connection.lost")
        server.restart()
        # It connects again by itself.
        page.wait_for_selector("#connection:not(.lost)", state="attached", timeout=40_000)
