#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts protobuf's C++ sources into a build folder:
# BUILD_DIR/third_party/protobuf/src/google/protobuf.
#
# Usage: tools/fetch_protobuf.sh BUILD_DIR [TARBALL]
#   TARBALL  an existing protobuf_*.orig.tar.gz or protobuf-*.tar.gz
#
# The engine is a shared library that contains its own, hidden protobuf, and Debian's libprotobuf.a
# is not position-independent. The script therefore takes Debian's source package, in the version of
# the installed protoc (tools/install/private_apt.sh), without a change of the system. Needs no
# root. A second run does nothing.
set -eu

fail() {
  echo "fetch_protobuf: $*" >&2
  exit 1
}

# Before the first change of the folder, because $0 may be relative.
# shellcheck source=tools/install/private_apt.sh
. "$(dirname "$0")/install/private_apt.sh"

[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: $0 BUILD_DIR [TARBALL]"
mkdir -p "$1/third_party"
target=$(cd "$1/third_party" && pwd)/protobuf
tarball=${2:-}
[ ! -f "$target/src/google/protobuf/message.cc" ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Sets `tarball`.
fetch() {
  private_apt_mirror "download protobuf's source archive in the version that 'protoc --version' \
names, and run: $0 BUILD_DIR TARBALL"
  private_apt_update deb-src "$codename"
  private_apt_get source --download-only --tar-only protobuf ||
    fail "apt cannot download the source package protobuf from $mirror $codename"
  tarball=$(ls "$work/get"/protobuf_*.orig.tar.*) || fail "the source package holds no archive"
}

if [ -z "$tarball" ]; then
  echo "fetch_protobuf: sources (Debian's source package protobuf)"
  fetch
fi
mkdir "$work/root"
tar -xf "$tarball" -C "$work/root" || fail "cannot unpack $tarball"
found=$(find "$work/root" -path '*/src/google/protobuf/message.cc' | head -n 1)
[ -n "$found" ] || fail "$tarball holds no src/google/protobuf/message.cc"
sources=${found%/src/google/protobuf/message.cc}
# All files or none.
rm -rf "$target" "$target.part"
mkdir "$target.part"
cp -r "$sources/src" "$sources/LICENSE" "$target.part"
mv "$target.part" "$target"
