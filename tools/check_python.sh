#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the Python package: format and faults (ruff) and types (mypy --strict), with the settings of
# python/pyproject.toml; and faults and types of what runs beside Python models (backends/python). Uses build/venv, which ./test makes; the build has written nereid/_version.py,
# whose stub stands in for it here.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$root/build/venv/bin
cd "$root/python"
"$bin/ruff" format --check --quiet . ../examples/python ../tools/wheel ../tests/wheel ../bench/python_in_process || {
  echo "some sources are not formatted: run $bin/ruff format in python/" >&2
  exit 1
}
"$bin/ruff" check --quiet .
MYPYPATH=. "$bin/mypy"
cd "$root/backends/python"
"$bin/ruff" check --no-cache --quiet runtime runtime_tests
"$bin/mypy" --cache-dir=/dev/null --config-file mypy.ini runtime
