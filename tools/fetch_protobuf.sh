#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts protobuf's C++ sources into a build folder: BUILD_DIR/third_party/protobuf/src/google/protobuf.
#
# Usage: tools/fetch_protobuf.sh BUILD_DIR [TARBALL]
#   TARBALL  a protobuf_*.orig.tar.gz or protobuf-*.tar.gz that is here already
#
# The engine is a shared library that carries its own, hidden protobuf, and Debian's libprotobuf.a
# is not position-independent. So Debian's source package is taken, in the version of the protoc
# that is installed, through a private apt state in a temporary folder: the system's own package
# lists and sources stay as they are. Needs no root. Run twice, the second run does nothing.
set -eu

fail() {
  echo "fetch_protobuf: $*" >&2
  exit 1
}

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
  command -v apt-get >/dev/null || fail "no apt-get here; download protobuf's source archive in" \
    "the version that 'protoc --version' names, and run: $0 BUILD_DIR TARBALL"
  index=$(apt-get indextargets --format '$(REPO_URI) $(LABEL) $(CODENAME)' 'Created-By: Packages' |
    awk '$2 == "Debian" { print $1, $3; exit }')
  [ -n "$index" ] || fail "apt knows no Debian mirror; run 'apt-get update' first"
  mirror=${index% *}
  suite=${index#* }
  keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
  [ -f "$keyring" ] || fail "$keyring is missing; install debian-archive-keyring," \
    "or name another keyring in DEBIAN_KEYRING"
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/parts" "$work/get"
  : > "$work/state/status"
  echo "deb-src [signed-by=$keyring] $mirror ${suite%%-*} main" > "$work/sources.list"
  cat > "$work/apt.conf" <<CONF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/parts";
Dir::State "$work/state";
Dir::State::status "$work/state/status";
Dir::Cache "$work/cache";
Acquire::Languages "none";
APT::Sandbox::User "$(id -un)";
CONF
  APT_CONFIG=$work/apt.conf apt-get -qq update ||
    fail "apt cannot read the sources of $mirror $suite; see the message above"
  (cd "$work/get" &&
    APT_CONFIG=$work/apt.conf apt-get -qq source --download-only --tar-only protobuf) ||
    fail "apt cannot download the source package protobuf from $mirror $suite"
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
# Whole or not at all.
rm -rf "$target" "$target.part"
mkdir "$target.part"
cp -r "$sources/src" "$sources/LICENSE" "$target.part"
mv "$target.part" "$target"
