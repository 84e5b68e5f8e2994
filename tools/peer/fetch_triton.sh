#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Downloads a real Triton 2.51 (CPU) from the PyPI wheel of pytriton, to compare Nereid with it.
#
#   tools/peer/fetch_triton.sh DIR [BUILD_DIR]
#
# DIR then contains
#   wheel/, python/       the result of tools/install/python_backend.sh
#   backends/python       the wheel's Python backend
#   backends/identity     ┐ Nereid's own plug-ins from BUILD_DIR (default: build/release), copied
#   backends/onnxruntime  ┤ and relinked to the name that the wheel gave to libtritonserver.so
#   caches/local, /redis  ┤
#   repoagents/checksum   ┘
#   peer.env              the paths that run_triton.sh reads
# A second run downloads nothing and only copies the plug-ins again.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

fail() { echo "fetch_triton: $1" >&2; exit 1; }

[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: fetch_triton.sh DIR [BUILD_DIR]"
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
build="${2:-$root/build/release}"

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

need_package() {  # need_package PROBE PACKAGE: installs PACKAGE unless PROBE holds
  if eval "$1" >/dev/null 2>&1; then return; fi
  echo "fetch_triton: installing $2"
  as_root env DEBIAN_FRONTEND=noninteractive sh -c \
    'apt-get install -y -qq --no-install-recommends "$1" ||
     { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$1"; }' sh "$2" \
    >"$dir/apt.log" 2>&1 || fail "apt-get could not install $2, see $dir/apt.log"
}

server="$dir/wheel/pytriton/tritonserver/bin/tritonserver"
need_package "python3 -c 'import ensurepip, venv'" python3-venv
"$root/tools/install/python_backend.sh" "$dir"
libs="$dir/wheel/nvidia_pytriton.libs"
mangled="$(basename "$(ls "$libs"/libtritonserver-*.so)")"

libpython="$(ls /usr/lib/*/libpython3.11.so.1.0 2>/dev/null | head -n 1 || true)"

mkdir -p "$dir/backends"
rm -rf "$dir/backends/python"
cp -r "$dir/wheel/pytriton/tritonserver/backends/python" "$dir/backends/python"

take_plugin() {  # take_plugin KIND NAME LIBRARY: one of Nereid's plug-ins, if it is built
  local source="$build/$1/$2" target="$dir/$1/$2"
  if [ ! -f "$source/$3" ]; then
    echo "fetch_triton: no $source/$3 yet, so the peer goes without"
    return
  fi
  need_package "command -v patchelf" patchelf
  rm -rf "$target"
  mkdir -p "$target"
  # Libraries beside the plug-in are copied, too; CMake's own folders are not.
  find "$source" -maxdepth 1 \( -name '*.so' -o -name '*.so.*' -o -name '*.json' \) \
    -exec cp -L {} "$target/" \;
  patchelf --replace-needed libtritonserver.so "$mangled" "$target/$3"
}

take_plugin backends identity libtriton_identity.so
take_plugin backends onnxruntime libtriton_onnxruntime.so
take_plugin repoagents checksum libtritonrepoagent_checksum.so
take_plugin caches local libtritoncache_local.so
take_plugin caches redis libtritoncache_redis.so

cat >"$dir/peer.env" <<EOF
PEER_SERVER='$server'
PEER_LIBRARY_PATH='$libs${libpython:+:$(dirname "$libpython")}'
PEER_BACKENDS='$dir/backends'
PEER_CACHES='$dir/caches'
PEER_REPOAGENTS='$dir/repoagents'
EOF

# Starts the program once, to check that it prints its version.
LD_LIBRARY_PATH="$libs" "$server" --help >"$dir/help.txt" 2>&1 || true
grep -q -- --model-repository "$dir/help.txt" ||
  fail "the server in the wheel does not start, see $dir/help.txt"
echo "fetch_triton: ready in $dir (start it with tools/peer/run_triton.sh $dir --model-repository=…)"
