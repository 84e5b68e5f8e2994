#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_pytest.sh SOURCE_DIR BUILD_DIR ARGUMENT...: runs pytest with the Python that has
# tests/requirements.txt: $NEREID_PYTHON, else BUILD_DIR/venv, else SOURCE_DIR/build/venv (which
# ./test makes). Exits with 77, which CTest calls skipped, where none of them has pytest.
root=$1
build=$2
# For servers built with a sanitizer, which otherwise ends a program that
# - opens a library as OpenVINO's threads (oneTBB) do, or asks for more memory than there is;
# - brings a signal stack of its own, as OpenVINO does: the sanitizer frees it a second time;
# - has thread-local variables in libraries that are closed.
# What is freed is held back for a while, but not so much that tests of memory see it.
export TBB_ENABLE_SANITIZERS=1
asan=allocator_may_return_null=1:use_sigaltstack=0:intercept_tls_get_addr=0:quarantine_size_mb=16
export ASAN_OPTIONS="${ASAN_OPTIONS-$asan}"
lsan=suppressions=$(cd "$root" && pwd)/tests/lsan.supp:print_suppressions=0
export LSAN_OPTIONS="${LSAN_OPTIONS-$lsan}"
shift 2
for python in "${NEREID_PYTHON:-}" "$build/venv/bin/python" "$root/build/venv/bin/python"; do
  if [ -n "$python" ] && "$python" -c 'import pytest, tritonclient.grpc' 2>/dev/null; then
    exec "$python" -m pytest "$@"
  fi
done
echo "no Python with the packages of tests/requirements.txt: run ./test once, or set NEREID_PYTHON"
exit 77
