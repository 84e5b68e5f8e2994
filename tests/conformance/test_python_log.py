# SPDX-License-Identifier: Apache-2.0
"""What Python models write to the server's log."""

import re

import pytest
from python_server import raised, snippet, wait_for_log, wait_until

MODELS = ["snippets", "talker"]
LATER = ["talker_later"]
FLAGS = ["--log-verbose=1"]


def test_levels_and_places(python_client, python):
    mark = f"mark-{python_client.name}-grün"
    line = snippet(python_client, f"""
import inspect
logger = pb_utils.Logger
line = inspect.currentframe().f_lineno
logger.log_info("info {mark}")
logger.log_warn("warn {mark}")
logger.log_error("error {mark}")
logger.log_verbose("verbose {mark}")
logger.log("plain {mark}")
logger.log("as error {mark}", logger.ERROR)
logger.log(message="as verbose {mark}", level=logger.VERBOSE)
return line""")
    log = wait_for_log(python, f"as verbose {mark}")
    said = [("info", "I"), ("warn", "W"), ("error", "E"), ("verbose", "I"), ("plain", "I"),
            ("as error", "E"), ("as verbose", "I")]
    for i, (text, letter) in enumerate(said):
        assert re.search(rf"^{letter}.*snippet:{line + 1 + i}\].*{text} {mark}", log,
                         re.MULTILINE), text
    places = [log.index(f"{text} {mark}") for text, _ in said]
    assert places == sorted(places)


def test_lines_of_the_model_have_its_file(python_client, python):
    snippet(python_client, "return None", "talker")
    log = wait_for_log(python, "talker executes")
    for text in ("talker initializes", "talker executes", "from a thread of talker"):
        assert re.search(rf"^I.*model\.py:\d+\].*{text}", log, re.MULTILINE), text


def test_lines_of_finalize(python_client, python):
    python_client.call("load_model", "talker_later")
    python_client.call("unload_model", "talker_later")
    wait_for_log(python, "talker_later finalizes")


def test_what_is_printed_is_in_the_log(python_client, python):
    mark = f"printed-{python_client.name}"
    snippet(python_client, f"print('{mark}', flush=True)")
    wait_for_log(python, mark)


@pytest.mark.parametrize("text", ["", "two\\nlines", "x" * 20_000, "ü\\t\\\"quoted\\\" %s {}"],
                         ids=["empty", "two_lines", "long", "special"])
def test_texts(python_client, text):
    snippet(python_client, f'pb_utils.Logger.log_info("{text}")')
    assert snippet(python_client, "return 1") == 1


def test_threads_write_lines(python_client, python):
    mark = f"thread-{python_client.name}"
    snippet(python_client, f"""
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda i: pb_utils.Logger.log_info(f"{mark}-{{i}}-end"), range(200)))""")
    wait_until(lambda: len(set(re.findall(rf"{mark}-(\d+)-end", python.log.read_text()))) == 200,
               "200 lines")


@pytest.mark.parametrize("arguments", ["3", "None", "'text', 0", "'text', 'INFO'", ""])
def test_lines_of_other_types(python_client, arguments):
    assert raised(python_client, f"pb_utils.Logger.log({arguments})").startswith("TypeError: ")
