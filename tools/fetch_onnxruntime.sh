#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts the files that the ONNX Runtime backend needs into a build folder:
#   BUILD_DIR/third_party/onnxruntime/include/onnxruntime_c_api.h …  (to compile it)
#   BUILD_DIR/backends/onnxruntime/libonnxruntime.so.1               (the backend opens it at run time)
#
# Usage: tools/fetch_onnxruntime.sh BUILD_DIR [WHEEL | SITE_PACKAGES]
#   WHEEL          an existing onnxruntime-*.whl
#   SITE_PACKAGES  a folder with an installed onnxruntime package (of a virtual environment)
#   neither        pip downloads the wheel; PYTHON names the Python whose pip is used (python3)
#
# The headers are the system's if libonnxruntime-dev is installed. Otherwise that package is taken
# from Debian trixie (tools/install/private_apt.sh) without a change of the system. Needs no root. A
# second run does nothing. FORCE=1 repeats everything.
set -eu

version='1.31.*'
suite=trixie
package=libonnxruntime-dev

fail() {
  echo "fetch_onnxruntime: $*" >&2
  exit 1
}

# Before the first change of the folder, because $0 may be relative.
# shellcheck source=tools/install/private_apt.sh
. "$(dirname "$0")/install/private_apt.sh"

[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: $0 BUILD_DIR [WHEEL | SITE_PACKAGES]"
mkdir -p "$1"
build=$(cd "$1" && pwd)
source=${2:-}
include=$build/third_party/onnxruntime/include
backend=$build/backends/onnxruntime
library=$backend/libonnxruntime.so.1
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Copies the headers in folder $1 to their place, all of them or none.
install_headers() {
  [ -f "$1/onnxruntime_c_api.h" ] || fail "$1 holds no onnxruntime_c_api.h"
  mkdir -p "$build/third_party/onnxruntime"
  rm -rf "$include" "$include.part"
  cp -r "$1" "$include.part"
  mv "$include.part" "$include"
}

# Downloads the package into the temporary folder and unpacks it there; sets `headers`.
fetch_headers() {
  private_apt_mirror "install ONNX Runtime's C headers into /usr/include/onnxruntime, or copy them \
to $include"
  private_apt_update deb "$suite"
  private_apt_get download "$package" || fail "apt cannot download $package from $mirror $suite"
  dpkg-deb -x "$work/get/$package"_*.deb "$work/root"
  headers=$work/root/usr/include/onnxruntime
}

# Prints the path of the shared library in file or folder $1, which is unpacked if necessary.
find_library() {
  case $1 in
    *.whl)
      "$python" - "$1" "$work/wheel" <<'PY' || fail "cannot read the wheel $1"
import sys, zipfile
wheel, out = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    names = [n for n in archive.namelist() if n.startswith("onnxruntime/capi/libonnxruntime.so.")]
    archive.extractall(out, names)
PY
      set -- "$work/wheel" ;;
  esac
  for found in "$1"/onnxruntime/capi/libonnxruntime.so.1* "$1"/libonnxruntime.so.1*; do
    if [ -f "$found" ]; then
      echo "$found"
      return
    fi
  done
  fail "no libonnxruntime.so.1 in $1"
}

if [ ! -f "$include/onnxruntime_c_api.h" ] || [ -n "${FORCE:-}" ]; then
  headers=/usr/include/onnxruntime
  if [ ! -f "$headers/onnxruntime_c_api.h" ]; then
    echo "fetch_onnxruntime: headers ($package of Debian $suite)"
    fetch_headers
  fi
  install_headers "$headers"
fi

if [ ! -f "$library" ] || [ -n "${FORCE:-}" ]; then
  if [ -z "$source" ]; then
    echo "fetch_onnxruntime: library (onnxruntime $version, with pip)"
    "$python" -m pip --disable-pip-version-check -q download --no-deps --only-binary=:all: \
      -d "$work/pip" "onnxruntime==$version" ||
      fail "pip cannot download onnxruntime $version; install python3-pip or python3-venv," \
        "or name a wheel: $0 $1 WHEEL"
    source=$(ls "$work"/pip/onnxruntime-*.whl)
  fi
  found=$(find_library "$source")
  mkdir -p "$backend"
  cp "$found" "$library.part"
  chmod 644 "$library.part"
  mv "$library.part" "$library"
fi
echo "fetch_onnxruntime: $include"
echo "fetch_onnxruntime: $library"
