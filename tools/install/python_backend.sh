#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gets Triton's Python backend from the PyPI wheel of pytriton, and a Python environment that it can
# run models in.
#
#   tools/install/python_backend.sh DIR [BACKENDS]
#
# After it
#   DIR/wheel       is the unpacked wheel; its backends/python is complete
#   DIR/python      is a virtual environment with NumPy 1.26 (the backend cannot take NumPy 2)
#   BACKENDS/python is a link to the backend, where BACKENDS is given
# Start Nereid with --backend-directory=BACKENDS and PATH=DIR/python/bin:$PATH.
# A second run downloads nothing. Needs x86-64, Python 3.11 and libpython3.11.
set -euo pipefail

readonly kVersion=0.7.0 kNumpy=1.26.4

fail() { echo "python_backend: $1" >&2; exit 1; }

[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: python_backend.sh DIR [BACKENDS]"
[ "$(uname -m)" = x86_64 ] || fail "the wheel is for x86-64 alone"
base="$(command -v /usr/bin/python3.11 || command -v python3.11)" ||
  fail "the wheel's programs are for Python 3.11, which is not here"
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
python="$dir/python/bin/python"
triton="$dir/wheel/pytriton/tritonserver"

if ! "$python" -c "import numpy, sys; sys.exit(numpy.__version__ != '$kNumpy')" 2>/dev/null; then
  rm -rf "$dir/python"
  "$base" -m venv "$dir/python" || fail "cannot make a virtual environment; is python3-venv there?"
  "$python" -m pip install --quiet "numpy==$kNumpy" || fail "pip could not install NumPy $kNumpy"
fi

if [ ! -x "$triton/bin/tritonserver" ]; then
  parts="$dir/wheel.part"
  rm -rf "$parts"
  mkdir -p "$parts/download"
  echo "python_backend: downloading nvidia-pytriton $kVersion (55 MB)"
  # The tag is named because the wheel says glibc 2.35 or newer and an older pip would refuse it
  # by its name.
  "$python" -m pip download --quiet --no-deps --only-binary :all: \
    --platform manylinux_2_35_x86_64 --dest "$parts/download" "nvidia-pytriton==$kVersion" ||
    fail "pip could not download nvidia-pytriton $kVersion"
  "$python" -m zipfile -e "$parts"/download/nvidia_pytriton-*.whl "$parts/tree"
  chmod +x "$parts"/tree/pytriton/tritonserver/bin/tritonserver \
    "$parts"/tree/pytriton/tritonserver/python_backend_stubs/*/triton_python_backend_stub
  rm -rf "$dir/wheel"
  mv "$parts/tree" "$dir/wheel"
  rm -rf "$parts"
fi

# The program that runs a model's code lies apart in the wheel, one for each Python. Beside the
# library it finds the wheel's other libraries as well: both look four folders up.
cp -f "$triton/python_backend_stubs/3.11/triton_python_backend_stub" "$triton/backends/python/"
missing="$(ldd "$triton/backends/python/triton_python_backend_stub" | grep 'not found' || true)"
[ -z "$missing" ] ||
  fail "the backend's program misses libraries (on Debian: apt-get install libpython3.11): $missing"

if [ $# -eq 2 ]; then
  mkdir -p "$2"
  ln -sfn "$triton/backends/python" "$2/python"
fi
echo "python_backend: ready in $dir"
