#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_first_picture.sh ROOT PACKAGES PICTURE LABEL: follows docs/user/first_picture.md in ROOT, the root of a
# bare Debian system whose apt works (debootstrap --variant=minbase), as a person would who has the packages
# and a picture in a folder. The answer must name LABEL first. Prints the transcript. Needs root and unshare.
# Changes ROOT.
set -euo pipefail
root=$(readlink -f "$1")
packages=$(readlink -f "$2")
picture=$(readlink -f "$3")
label=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/in_root.sh"

# The commands of the page up to the first output.
commands=$(awk '/^prints:|prints:$/ { exit } /^```/ { inside = !inside; next } inside' \
  "$here/../docs/user/first_picture.md")
[ "$(grep -c . <<<"$commands")" -le 5 ] || { echo "the page has more than five commands" >&2; exit 1; }

folder=$root/root/download
rm -rf "$folder"
mkdir -p "$folder"
cp "$packages"/*.deb "$folder/"
cp "$picture" "$folder/cat.jpg"
# Only this test does not answer apt's question.
echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/99yes"
in_root apt-get -q update >/dev/null
{
  echo 'cd /root/download; trap "kill %1" EXIT'
  while read -r command; do
    printf 'echo "# %s"\n%s\n' "$command" "$command"
  done <<<"$commands"
} >"$folder/commands"
in_root bash -e /root/download/commands 2>&1 | tee "$folder/transcript"
rm "$root/etc/apt/apt.conf.d/99yes"
grep -A 1 'ITEM .* LABEL' "$folder/transcript" | tail -n 1 | grep -q "$label" ||
  { echo "the answer does not begin with $label" >&2; exit 1; }
echo "All is well."
