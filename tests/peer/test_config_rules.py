# SPDX-License-Identifier: Apache-2.0
"""The real Triton gives the same answer to every golden configuration as Nereid.

Each golden (src/config/testdata/rules) becomes a model of one Triton, which loads it on request.
rule_differences.toml lists the intended differences of the texts with their reasons. A difference
that it does not list, and an entry without a difference, are failures.
"""

import fnmatch
import http.client
import re
import tomllib
from pathlib import Path

import pytest
import raw_http

GOLDENS = Path(__file__).resolve().parents[2] / "src" / "config" / "testdata" / "rules"
# The beginning of Triton's text in its log and in its answers.
POLL_FAILED = re.compile(r'"Poll failed for model directory \'([^\']*)\': (.*)"$', re.MULTILINE)
LOAD_FAILED = re.compile(r"load failed for model '[^']*': (?:version \d+ is at UNAVAILABLE state: )?"
                         r"(.*)", re.DOTALL)
CODE = re.compile(r"^(Internal|Invalid argument|Not found|Unavailable|Unsupported): ")
# The prefix of errors of a warmup sample, which becomes a request without an id.
NO_REQUEST = "[request id: <id_unknown>] "
NOTHING = ""
DIES = "the process dies"


class Golden:
    def __init__(self, path):
        self.case = f"{path.parent.name}/{path.stem}"
        self.says, self.settings, body = NOTHING, [], []
        for line in path.read_text().splitlines():
            if body or not line.startswith("# "):
                body.append(line)
            elif line.startswith("# says: "):
                self.says = line.removeprefix("# says: ")
            elif not line.startswith("# at: "):
                self.settings.append(line.removeprefix("# "))
        self.text = "\n".join(body) + "\n"

    @property
    def comparable(self):
        """Triton completes a configuration before it judges it, and has no GPU here."""
        return not any(s == "raw" or s.startswith("gpus") for s in self.settings)


def goldens():
    found = [Golden(path) for path in sorted(GOLDENS.glob("*/*.pbtxt"))]
    return [golden for golden in found if golden.comparable]


def unique_name(position):
    """Told from all other text, so that the answers can be turned back to "m"."""
    return f"golden{position:04}"


def load(triton, name):
    """Repeats the request if the server died: the death may have been caused by an earlier model,
    because initial states that Triton refuses sometimes end it."""
    for _ in range(6):
        try:
            response = raw_http.request(triton, "POST", f"/v2/repository/models/{name}/load", b"{}")
            return NOTHING if response.status == 200 else response.json["error"]
        except (http.client.HTTPException, ConnectionError):
            triton.restart()
    return DIES


@pytest.fixture(scope="module")
def answers(start_triton):
    """Returns Triton's text for the load of each golden; empty if it loads."""
    cases = goldens()

    def write(root):
        for position, golden in enumerate(cases):
            folder = root / unique_name(position)
            (folder / "1").mkdir(parents=True)
            text = golden.text.replace('name: "m"\n', f'name: "{folder.name}"\n')
            (folder / "config.pbtxt").write_text(text)

    triton = start_triton("rules", write, "--model-control-mode=explicit",
                          "--disable-auto-complete-config")
    texts = [load(triton, unique_name(position)) for position in range(len(cases))]
    polls = dict(POLL_FAILED.findall(triton.log.read_text(errors="replace")))
    said = {}
    for position, golden in enumerate(cases):
        name = unique_name(position)
        text = texts[position]
        if "failed to poll from model repository" in text:
            text = polls[name]
        elif loading := LOAD_FAILED.match(text):
            text = loading.group(1).strip().removesuffix(";")
        said[golden.case] = CODE.sub("", text).removeprefix(NO_REQUEST).replace(name, "m")
    return said


def differences():
    with open(Path(__file__).parent / "rule_differences.toml", "rb") as file:
        return tomllib.load(file).get("difference", [])


def difference_of(case):
    for difference in differences():
        if any(fnmatch.fnmatchcase(case, pattern) for pattern in difference["cases"]):
            return difference
    return None


@pytest.mark.parametrize("golden", goldens(), ids=lambda golden: golden.case)
def test_triton_says_the_same(answers, golden):
    said = answers[golden.case]
    difference = difference_of(golden.case)
    if difference is None:
        assert said == golden.says
    else:
        assert said != golden.says, f"{difference['id']} is no difference any more"
        assert difference["triton"] in said


def test_every_difference_has_its_cases():
    names = [golden.case for golden in goldens()]
    for difference in differences():
        assert difference["why"] and "triton" in difference
        for pattern in difference["cases"]:
            assert fnmatch.filter(names, pattern), pattern
