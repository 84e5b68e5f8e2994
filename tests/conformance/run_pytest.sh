#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_pytest.sh SOURCE_DIR BUILD_DIR ARGUMENT...: runs pytest with the Python that has
# tests/requirements.txt: $NEREID_PYTHON, else BUILD_DIR/venv, else SOURCE_DIR/build/venv (which
# ./test makes). With NEREID_RERUNS=N a test that fails is run up to N times more, and its name is printed
# behind "RERUN". Exits with 77, which CTest reports as skipped, if none of them has pytest.
root=$1
build=$2
# Options for servers built with a sanitizer. By default it ends a program that
# - opens a library as OpenVINO's threads (oneTBB) do, or requests more memory than exists;
# - has its own signal stack, as OpenVINO does: the sanitizer frees it a second time;
# - has thread-local variables in libraries that are closed.
# The quarantine of freed memory is small, so that it does not affect the tests of memory.
export TBB_ENABLE_SANITIZERS=1
asan=allocator_may_return_null=1:use_sigaltstack=0:intercept_tls_get_addr=0:quarantine_size_mb=16
export ASAN_OPTIONS="${ASAN_OPTIONS-$asan}"
lsan=suppressions=$(cd "$root" && pwd)/tests/lsan.supp:print_suppressions=0
export LSAN_OPTIONS="${LSAN_OPTIONS-$lsan}"
shift 2
# The folders of tests that passed are removed at once: those of one run take a gigabyte.
# The summary names the slowest cases, of which tools/count_tests.py prints the slowest of the whole run.
set -- --durations=10 --durations-min=2 -o tmp_path_retention_count=1 -o tmp_path_retention_policy=failed "$@"
for python in "${NEREID_PYTHON:-}" "$build/venv/bin/python" "$root/build/venv/bin/python"; do
  if [ -n "$python" ] && "$python" -c 'import pytest, tritonclient.grpc' 2>/dev/null; then
    [ -z "${NEREID_RERUNS:-}" ] || set -- --reruns "$NEREID_RERUNS" -rR "$@"
    exec "$python" -m pytest "$@"
  fi
done
echo "no Python with the packages of tests/requirements.txt: run ./test once, or set NEREID_PYTHON"
exit 77
