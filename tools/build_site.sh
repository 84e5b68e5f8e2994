#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<'TEXT'
usage: tools/build_site.sh

Builds the documentation site from docs/ and the other pages of the repository into build/site. It can
be searched, needs nothing from the network, and also works from a folder: open build/site/index.html.
Every broken link is an error. The tools come from PyPI, in a virtual environment of their own.
TEXT
}

case ${1:-} in
  '') ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

steps_total=2
. "$root/tools/install/steps.sh"
site_venv=$build/site-venv

# make_tools: makes a virtual environment with MkDocs.
make_tools() {
  local stamp
  stamp=$site_venv/$(sha256sum "$root/tools/site/requirements.txt" | cut -d' ' -f1)
  step "MkDocs"
  [ -f "$stamp" ] && "$site_venv/bin/python" -c '' && return
  rm -rf "$site_venv"
  logged site-venv "Remove ${site_venv#"$root"/} and run this again." python3 -m venv "$site_venv"
  logged site-pip "Check the network and pip's settings, then run this again." \
    "$site_venv/bin/python" -m pip install -r "$root/tools/site/requirements.txt"
  touch "$stamp"
}

build_site() {
  "$site_venv/bin/python" "$root/tools/site/stage.py" "$build/site_pages" "$build/site.yml"
  # Times in the search index and in the map of the site would differ from build to build.
  SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct) NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true \
    "$site_venv/bin/python" -m mkdocs build --strict --clean --config-file "$build/site.yml"
}

make_tools
step "Building the site"
logged site "The message above names the page and the link." build_site
note "open ${build#"$root"/}/site/index.html"
