#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_pytest.sh SOURCE_DIR BUILD_DIR ARGUMENT...: runs pytest with the Python that has
# tests/requirements.txt: $NEREID_PYTHON, else BUILD_DIR/venv, else SOURCE_DIR/build/venv (which
# ./test makes). Exits with 77, which CTest calls skipped, where none of them has pytest.
root=$1
build=$2
# A sanitizer ends a program that opens a library as OpenVINO's threads (oneTBB) do without this.
export TBB_ENABLE_SANITIZERS=1
shift 2
for python in "${NEREID_PYTHON:-}" "$build/venv/bin/python" "$root/build/venv/bin/python"; do
  if [ -n "$python" ] && "$python" -c 'import pytest, tritonclient.grpc' 2>/dev/null; then
    exec "$python" -m pytest "$@"
  fi
done
echo "no Python with the packages of tests/requirements.txt: run ./test once, or set NEREID_PYTHON"
exit 77
