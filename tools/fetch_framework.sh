#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts a framework's libraries and headers into FOLDER/NAME, with pip, from the packages that
# tools/install/frameworks.txt lists for it. Packages of the right version are kept.
#
# Usage: tools/fetch_framework.sh FOLDER NAME
#   PYTHON      the Python whose pip is used (python3)
#   WHEELS      a folder of wheels, which pip searches before the network
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}

fail() {
  echo "fetch_framework: $*" >&2
  exit 1
}

[ $# -eq 2 ] || fail "usage: $0 FOLDER NAME"
folder=$1 name=$2
packages=$(awk -v name="$name" '$1 == name { $1 = ""; print substr($0, 2) }' \
  "$here/install/frameworks.txt")
[ -n "$packages" ] || fail "there is no framework '$name' in tools/install/frameworks.txt"

stamp=$folder/$name/installed
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$packages" ]; then
  echo "fetch_framework: $folder/$name is there"
  exit 0
fi
# Installed in another folder first, so that an interrupted installation does not look complete.
part=$folder/$name.part
rm -rf "$part"
mkdir -p "$part"
# shellcheck disable=SC2086 # the packages are words
"$python" -m pip install --disable-pip-version-check --no-input --no-deps --no-compile --quiet \
  --only-binary=:all: ${WHEELS:+--find-links "$WHEELS"} --target "$part" $packages ||
  fail "pip cannot install $packages"
printf '%s\n' "$packages" >"$part/installed"
rm -rf "${folder:?}/$name"
mv "$part" "$folder/$name"
echo "fetch_framework: $folder/$name"
