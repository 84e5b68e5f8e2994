#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Downloads perf_analyzer, Triton's own load generator, from a PyPI wheel.
#
#   bench/fetch_perf_analyzer.sh DIR PEER_DIR
#
# PEER_DIR is the folder that tools/peer/fetch_triton.sh has made: its wheel contains the two
# libraries that perf_analyzer needs and that a system without CUDA does not have. Then
# DIR/perf_analyzer runs. A second run downloads nothing.
set -euo pipefail

# The last release whose manylinux wheel contains the program.
readonly kVersion=2.41.1

fail() { echo "fetch_perf_analyzer: $1" >&2; exit 1; }

[ $# -eq 2 ] || fail "usage: fetch_perf_analyzer.sh DIR PEER_DIR"
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
libs="$(cd "$2" && pwd)/wheel/nvidia_pytriton.libs"
[ -d "$libs" ] || fail "no $libs: run tools/peer/fetch_triton.sh $2 first"

find_python() {  # a Python that has pip: the one named, one of a venv nearby, the system's
  local candidate root
  root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
  for candidate in "${NEREID_PYTHON:-}" "$root/build/release/venv/bin/python" \
    "$2/venv/bin/python" python3; do
    if [ -n "$candidate" ] && "$candidate" -m pip --version >/dev/null 2>&1; then
      echo "$candidate"; return
    fi
  done
  fail "no Python with pip; apt-get install python3-pip"
}

program="$dir/tree/tritonclient-$kVersion.data/data/bin/perf_analyzer"
if [ ! -f "$program" ]; then
  python="$(find_python "$@")"
  echo "fetch_perf_analyzer: downloading tritonclient $kVersion (12 MB)"
  rm -rf "$dir/download" "$dir/tree.part"
  "$python" -m pip download --quiet --no-deps --only-binary :all: \
    --platform manylinux1_x86_64 --dest "$dir/download" "tritonclient==$kVersion" ||
    fail "pip could not download tritonclient $kVersion"
  "$python" -m zipfile -e "$dir"/download/tritonclient-*.whl "$dir/tree.part"
  rm -rf "$dir/tree" "$dir/download"
  mv "$dir/tree.part" "$dir/tree"
fi
chmod +x "$program"

mkdir -p "$dir/lib"
ln -sf "$(ls "$libs"/libb64-*.so.0d)" "$dir/lib/libb64.so.0d"
ln -sf "$(ls "$libs"/libcudart-*.so.12.*)" "$dir/lib/libcudart.so.12"

cat >"$dir/perf_analyzer" <<SCRIPT
#!/bin/sh
LD_LIBRARY_PATH='$dir/lib' exec '$program' "\$@"
SCRIPT
chmod +x "$dir/perf_analyzer"

"$dir/perf_analyzer" --help >"$dir/help.txt" 2>&1 || true
grep -q -- --concurrency-range "$dir/help.txt" ||
  fail "perf_analyzer does not start, see $dir/help.txt"
echo "fetch_perf_analyzer: ready: $dir/perf_analyzer"
