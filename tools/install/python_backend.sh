#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Downloads Triton's Python backend from the PyPI wheel of pytriton, and makes a Python environment
# in which it can run models.
#
#   tools/install/python_backend.sh DIR [BACKENDS [FROM]]
#
# Result:
#   DIR/wheel        the unpacked wheel; its backends/python is complete
#   DIR/python       a virtual environment of Python 3.11 with NumPy 1.26 (the backend does not support
#                    NumPy 2, and newer versions of Python do not support NumPy 1.26)
#   DIR/debian       Debian 12's Python 3.11, if the system has none, or none with its library
#   DIR/pip          a virtual environment of the system's Python, with which the script downloads
#   BACKENDS/python  a link to the backend, if BACKENDS is given. The library insists on the name
#                    "python", so BACKENDS cannot be the folder that has Nereid's own Python backend.
#   BACKENDS/…       links to all other backends in FROM, if FROM is given
# Start Nereid with --backend-directory=BACKENDS and PATH=DIR/python/bin:$PATH.
# A second run downloads nothing. Needs x86-64, Python 3.9 or newer with venv, and either Python
# 3.11 with libpython3.11 or Debian's apt (tools/install/private_apt.sh); no root.
set -euo pipefail

readonly kVersion=0.7.0 kNumpy=1.26.4 kPython=3.11 kSuite=bookworm

fail() { echo "python_backend: $*" >&2; exit 1; }

# shellcheck source=tools/install/private_apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/private_apt.sh"

[ $# -ge 1 ] && [ $# -le 3 ] || fail "usage: python_backend.sh DIR [BACKENDS [FROM]]"
if [ $# -ge 2 ] && [ -d "$2/python" ] && [ ! -L "$2/python" ]; then
  fail "$2/python is a backend already; give another folder, and $2 after it"
fi
[ "$(uname -m)" = x86_64 ] || fail "the wheel is for x86-64 alone"
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
python="$dir/python/bin/python"
triton="$dir/wheel/pytriton/tritonserver"
program="$triton/backends/python/triton_python_backend_stub"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# need_pip: provides a pip for downloads, because Python 3.11 may not have one.
need_pip() {
  pip="$dir/pip/bin/pip"
  if "$pip" --version >/dev/null 2>&1; then return; fi
  rm -rf "$dir/pip"
  python3 -m venv "$dir/pip" ||
    fail "cannot make a virtual environment; is python3-venv there?"
}

fetch_wheel() {
  local parts="$dir/wheel.part"
  rm -rf "$parts"
  mkdir -p "$parts/download"
  echo "python_backend: downloading nvidia-pytriton $kVersion (55 MB)"
  # The tag is given because the wheel's name requires glibc 2.35 or newer, and an older pip would
  # refuse it.
  "$pip" download --quiet --no-deps --only-binary :all: \
    --platform manylinux_2_35_x86_64 --dest "$parts/download" "nvidia-pytriton==$kVersion" ||
    fail "pip could not download nvidia-pytriton $kVersion"
  "$dir/pip/bin/python" -m zipfile -e "$parts"/download/nvidia_pytriton-*.whl "$parts/tree"
  chmod +x "$parts"/tree/pytriton/tritonserver/bin/tritonserver \
    "$parts"/tree/pytriton/tritonserver/python_backend_stubs/*/triton_python_backend_stub
  rm -rf "$dir/wheel"
  mv "$parts/tree" "$dir/wheel"
  rm -rf "$parts"
}

# missing_libraries: prints the libraries that the backend's program does not find.
missing_libraries() {
  ldd "$program" | awk '/not found/ { print $1 }'
}

# fetch_python: unpacks Debian 12's Python 3.11 in $dir/debian; the system does not change.
fetch_python() {
  local package
  local packages=("python$kPython-minimal" "libpython$kPython-minimal" "libpython$kPython-stdlib"
    "libpython$kPython")
  echo "python_backend: downloading Python $kPython (Debian $kSuite)"
  private_apt_mirror "install Python $kPython and libpython$kPython"
  private_apt_update deb "$kSuite"
  private_apt_get download "${packages[@]}" ||
    fail "apt cannot download ${packages[*]} from $mirror $kSuite"
  rm -rf "$dir/debian" "$dir/debian.part"
  for package in "$work"/get/*.deb; do
    dpkg-deb -x "$package" "$dir/debian.part"
  done
  mv "$dir/debian.part" "$dir/debian"
}

# find_python: sets `base` to a Python 3.11 whose library the backend's program finds as well.
find_python() {
  local library=libpython$kPython.so.1.0
  base="$(command -v "/usr/bin/python$kPython" || command -v "python$kPython" || true)"
  if [ -n "$base" ] && [[ " $(missing_libraries) " != *"$library"* ]]; then return; fi
  base="$dir/debian/usr/bin/python$kPython"
  [ -x "$base" ] || fetch_python
  # Beside the wheel's own libraries, which its programs search first.
  cp -f "$dir"/debian/usr/lib/x86_64-linux-gnu/$library "$dir/wheel/nvidia_pytriton.libs/"
}

make_environment() {
  rm -rf "$dir/python"
  "$base" -m venv --without-pip "$dir/python" || fail "cannot make a virtual environment of $base"
  "$pip" --python "$python" install --quiet --only-binary :all: pip "numpy==$kNumpy" ||
    fail "pip could not install NumPy $kNumpy"
}

[ -x "$triton/bin/tritonserver" ] || { need_pip; fetch_wheel; }
# The program that runs a model's code is in a separate folder of the wheel, one for each version of
# Python. Beside the library it finds the wheel's other libraries as well: both search four folders
# up.
cp -f "$triton/python_backend_stubs/$kPython/triton_python_backend_stub" "$program"
find_python
missing="$(missing_libraries | tr '\n' ' ')"
[ -z "$missing" ] || fail "the backend's program misses libraries: $missing"
if ! "$python" -c "import numpy, sys; sys.exit(numpy.__version__ != '$kNumpy')" 2>/dev/null; then
  need_pip
  make_environment
fi

if [ $# -ge 2 ]; then
  mkdir -p "$2"
  if [ $# -eq 3 ]; then
    for folder in "$(cd "$3" && pwd)"/*/; do ln -sfn "$folder" "$2/"; done
    rm -f "$2/python"
  fi
  ln -sfn "$triton/backends/python" "$2/python"
fi
echo "python_backend: ready in $dir"
