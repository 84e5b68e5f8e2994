#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets (clang, libFuzzer, ASan, UBSan) and runs each for SECONDS (default 60).
# usage: tools/fuzz.sh [SECONDS [TARGET...]]. Each target starts with the inputs of
# <source folder>/fuzz/corpus/<target>.txt (tools/fuzz_corpus.py), if there are any, and with those of
# earlier runs. A finding is written to build/fuzz/findings/ and ends the run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-60}
wanted=("${@:2}")
command -v clang++ >/dev/null || { echo "fuzz: needs clang: apt-get install clang" >&2; exit 1; }

cmake --preset fuzz >/dev/null
mapfile -t targets < <(ninja -C build/fuzz -t targets all |
  sed -n 's/^\([a-z_]*_fuzzer\): phony$/\1/p' | grep -v '^cmake_')
[ "${#wanted[@]}" -eq 0 ] || targets=("${wanted[@]}")
[ "${#targets[@]}" -gt 0 ] || { echo "fuzz: the build has no fuzz targets" >&2; exit 1; }
ninja -C build/fuzz "${targets[@]}"
mkdir -p build/fuzz/findings
for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  mkdir -p "build/fuzz/corpus/$target"
  seeds=()
  packed=$(find src backends -path "*/fuzz/corpus/$target.txt")
  if [ -n "$packed" ]; then
    seeds=("build/fuzz/seeds/$target")
    python3 tools/fuzz_corpus.py unpack "$packed" "${seeds[0]}" >/dev/null
  fi
  log=build/fuzz/$target.log
  if ! "build/fuzz/bin/$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 \
      -print_final_stats=1 -artifact_prefix=build/fuzz/findings/ "build/fuzz/corpus/$target" \
      "${seeds[@]}" > "$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "fuzz: $target found something; see build/fuzz/findings and $log" >&2
    exit 1
  fi
  grep 'stat::number_of_executed_units' "$log"
done
echo "fuzz: ${#targets[@]} targets, $seconds s each, no finding"
