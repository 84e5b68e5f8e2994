#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts the files that the ONNX Runtime backend needs into a build folder:
#   BUILD_DIR/third_party/onnxruntime/include/onnxruntime_c_api.h …  (to compile it)
#   BUILD_DIR/backends/onnxruntime/libonnxruntime.so.1               (the backend opens it at run time)
#
# Usage: tools/fetch_onnxruntime.sh [--gpu | --cuda] BUILD_DIR [WHEEL | SITE_PACKAGES]
#   --gpu          the library of onnxruntime-gpu, which uses CUDA, and its execution providers; it
#                  replaces the library for the CPU, and also works on machines without a GPU
#   --cuda         the same, and with pip the libraries of CUDA and cuDNN that it needs (1.5 GB), into
#                  BUILD_DIR/backends/onnxruntime/nvidia; not needed where they are installed
#   WHEEL          an existing onnxruntime-*.whl or onnxruntime_gpu-*.whl
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

wanted=onnxruntime
cuda=
case ${1:-} in
  --gpu) wanted=onnxruntime-gpu; shift ;;
  --cuda) wanted=onnxruntime-gpu cuda=1; shift ;;
esac

# Before the first change of the folder, because $0 may be relative.
# shellcheck source=tools/install/private_apt.sh
. "$(dirname "$0")/install/private_apt.sh"

[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: $0 [--gpu | --cuda] BUILD_DIR [WHEEL | SITE_PACKAGES]"
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
    names = [n for n in archive.namelist()
             if n.startswith(("onnxruntime/capi/libonnxruntime.so.",
                              "onnxruntime/capi/libonnxruntime_providers_"))]
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

# The provider tells the library for GPUs from that for the CPU.
provider=$backend/libonnxruntime_providers_cuda.so
if [ ! -f "$library" ] || [ -n "${FORCE:-}" ] ||
  { [ "$wanted" = onnxruntime-gpu ] && [ ! -f "$provider" ]; }; then
  if [ -z "$source" ]; then
    echo "fetch_onnxruntime: library ($wanted $version, with pip)"
    "$python" -m pip --disable-pip-version-check -q download --no-deps --only-binary=:all: \
      -d "$work/pip" "$wanted==$version" ||
      fail "pip cannot download $wanted $version; install python3-pip or python3-venv," \
        "or name a wheel: $0 $1 WHEEL"
    source=$(ls "$work"/pip/onnxruntime*.whl)
  fi
  found=$(find_library "$source")
  mkdir -p "$backend"
  rm -f "$backend"/libonnxruntime_providers_*
  if [ "$wanted" = onnxruntime-gpu ]; then
    for file in "$(dirname "$found")"/libonnxruntime_providers_*.so; do
      [ -f "$file" ] || fail "$source has no execution provider for GPUs"
      install -m 644 "$file" "$backend"
    done
  fi
  cp "$found" "$library.part"
  chmod 644 "$library.part"
  mv "$library.part" "$library"
fi

if [ -n "$cuda" ] && [ ! -d "$backend/nvidia" ]; then
  echo "fetch_onnxruntime: libraries of CUDA and cuDNN (with pip)"
  "$python" -m pip --disable-pip-version-check -q install --no-compile --only-binary=:all: \
    --target "$work/cuda" 'nvidia-cuda-nvrtc==13.*' 'nvidia-cuda-runtime==13.*' \
    'nvidia-cublas==13.*' 'nvidia-cufft==12.*' 'nvidia-curand==10.*' 'nvidia-cudnn-cu13==9.*' ||
    fail "pip cannot install the libraries of CUDA and cuDNN"
  cp -r "$work/cuda/nvidia" "$backend/nvidia.part"
  mv "$backend/nvidia.part" "$backend/nvidia"
fi
echo "fetch_onnxruntime: $include"
echo "fetch_onnxruntime: $library"
