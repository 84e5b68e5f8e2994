#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts a framework's libraries and headers into FOLDER/NAME, with pip, from the packages that
# tools/install/frameworks.txt lists for it. Packages of the right version are kept.
#
# Usage: tools/fetch_framework.sh FOLDER NAME [--gpu]
#   --gpu       for pytorch: also the libraries of CUDA that it needs on a GPU (3 GB)
#   PYTHON      the Python whose pip is used (python3)
#   FRAMEWORKS  the list of packages (tools/install/frameworks.txt)
#   WHEELS      a folder of wheels, which pip searches before the network
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
list=${FRAMEWORKS:-$here/install/frameworks.txt}

fail() {
  echo "fetch_framework: $*" >&2
  exit 1
}

usage="usage: $0 FOLDER NAME [--gpu]"
[ $# -eq 2 ] || { [ $# -eq 3 ] && [ "$3" = --gpu ]; } || fail "$usage"
folder=$1 name=$2 gpu=${3:-}
[ -z "$gpu" ] || [ "$name" = pytorch ] || fail "--gpu is for pytorch; the package of $name has no CUDA"
packages=$(awk -v name="$name" '$1 == name { $1 = ""; print substr($0, 2) }' \
  "$list")
[ -n "$packages" ] || fail "there is no framework '$name' in $list"

[ -z "$gpu" ] || packages="$packages --gpu"
stamp=$folder/$name/installed
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$packages" ]; then
  echo "fetch_framework: $folder/$name is there"
  exit 0
fi
# Installed in another folder first, so that an interrupted installation does not look complete.
part=$folder/$name.part
rm -rf "$part"
mkdir -p "$part"
# install [OPTION...] PACKAGE...: with pip, into the new folder.
install() {
  "$python" -m pip install --disable-pip-version-check --no-input --no-compile --quiet \
    --only-binary=:all: ${WHEELS:+--find-links "$WHEELS"} --target "$part" "$@" ||
    fail "pip cannot install $*"
}
read -r -a words <<<"${packages% --gpu}"
if [ -n "$gpu" ]; then
  # Those of the versions that PyTorch itself asks for, so not the ones in frameworks.txt.
  install --no-deps "${words[0]}"
  read -r -a words <<<"$(sed -n 's/^Requires-Dist: \(cuda-toolkit\|nvidia\)\([^;]*\).*/\1\2/p' \
    "$part"/torch-*.dist-info/METADATA | tr -d ' ' | tr '\n' ' ')"
  [ ${#words[@]} -gt 0 ] || fail "this PyTorch is the one for the CPU"
  install "${words[@]}"
else
  install --no-deps "${words[@]}"
fi
printf '%s\n' "$packages" >"$part/installed"
rm -rf "${folder:?}/$name"
mv "$part" "$folder/$name"
echo "fetch_framework: $folder/$name"
