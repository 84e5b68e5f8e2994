#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<'TEXT'
usage: tools/lint.sh [--format-only]

Checks the sources without running them: their format (clang-format), the Python of the package and of
the Python backend (ruff, mypy), the use of every lock (clang's thread-safety analysis) and the faults
that .clang-tidy lists. Installs what is missing with apt. ./test must have run before, because generated
headers are read and it installs ruff and mypy.

  --format-only   the format alone, which takes seconds
TEXT
}

format_only=
case ${1:-} in
  '') ;;
  --format-only) format_only=1 ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

steps_total=$((format_only ? 2 : 4))
. "$root/tools/install/steps.sh"

# check_format: compares every source with what clang-format makes of it.
check_format() {
  step "Format"
  (cd "$root" && git ls-files -z '*.h' '*.cc' |
    xargs -0 clang-format-14 --dry-run --Werror --ferror-limit=1) ||
    fail "some sources are not formatted" "clang-format-14 -i FILE... formats them."
  note "every source is formatted"
}

check_sources() {
  step "Locks and faults"
  "$python" "$root/tools/check_thread_safety.py" --tidy
}

check_python() {
  step "Python"
  "$root/tools/check_python.sh"
}

install_packages tools/install/packages_lint.txt
check_format
if [ -z "$format_only" ]; then
  check_python
  check_sources
fi
