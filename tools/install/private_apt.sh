# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Downloads Debian packages with a separate apt state in a temporary folder, so that the system's
# package lists, sources and installed packages do not change. Needs no root. For any POSIX shell;
# the fetch scripts source this file.
#
# Set by the caller: work (its temporary folder), fail TEXT... (prints the text and ends the
# script).

# private_apt_mirror OTHERWISE: sets `mirror` and `codename` to those of the first Debian archive
# that the system's apt reads. OTHERWISE is the advice on a system without apt.
private_apt_mirror() {
  command -v apt-get >/dev/null || fail "no apt-get here; $1"
  index=$(apt-get indextargets --format '$(REPO_URI) $(LABEL) $(CODENAME)' 'Created-By: Packages' |
    awk '$2 == "Debian" { print $1, $3; exit }')
  [ -n "$index" ] || fail "apt knows no Debian mirror; run 'apt-get update' first"
  mirror=${index% *}
  codename=${index#* }
  codename=${codename%%-*}
}

# private_apt_update TYPE SUITE: reads the lists of TYPE (deb, deb-src) and SUITE from `mirror`.
private_apt_update() {
  keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
  [ -f "$keyring" ] || fail "$keyring is missing; install debian-archive-keyring," \
    "or name another keyring in DEBIAN_KEYRING"
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/parts" "$work/get"
  : > "$work/state/status"
  echo "$1 [signed-by=$keyring] $mirror $2 main" > "$work/sources.list"
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
    fail "apt cannot read $mirror $2 ($1); see the message above"
}

# private_apt_get ARGUMENT...: runs apt-get in the folder $work/get, which receives the downloads.
private_apt_get() {
  (cd "$work/get" && APT_CONFIG=$work/apt.conf apt-get -qq "$@")
}
