# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The steps that ./start and ./test share. The scripts source this file, also on a minimal Debian:
# before install_packages has run, only bash, coreutils, apt and dpkg may be used.
#
# Set by the caller: root (the repository), steps_total (the number of steps).

build=$root/build
logs=$build/logs
venv=$build/venv
python=$venv/bin/python
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

steps_done=0
if [ -t 1 ]; then live=1; else live=; fi

# fail WHAT [WHAT_TO_DO]...: prints what failed and what to do, a line each, and ends the script.
fail() {
  printf '\nFAILED: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# step TEXT: prints the line that announces a step.
step() {
  steps_done=$((steps_done + 1))
  printf '[%d/%d] %s\n' "$steps_done" "$steps_total" "$1"
}

# note TEXT: prints a line below a step.
note() {
  printf '      %s\n' "$1"
}

# last_line LOG: prints the last line of a log without control characters, cut to the terminal's
# width.
last_line() {
  local width
  width=$({ stty size </dev/tty | cut -d' ' -f2; } 2>/dev/null) || true
  [ "${width:-0}" -ge 40 ] || width=80
  tail -c 400 "$1" 2>/dev/null | tr '\r' '\n' | tr -cd '[:print:]\n' | grep . | tail -n 1 |
    cut -c "1-$((width - 20))"
}

# watch PID LOG: shows the time and the log's last line until the process ends: in place on a
# terminal, otherwise as a new line every 20 seconds.
watch() {
  local begin=$SECONDS shown=$SECONDS
  while kill -0 "$1" 2>/dev/null; do
    if [ -n "$live" ]; then
      printf '\r\033[K      %4d s  %s' "$((SECONDS - begin))" "$(last_line "$2")"
    elif [ $((SECONDS - shown)) -ge 20 ]; then
      shown=$SECONDS
      printf '      %4d s  %s\n' "$((SECONDS - begin))" "$(last_line "$2")"
    fi
    sleep 0.2
  done
  [ -z "$live" ] || printf '\r\033[K'
}

# logged NAME WHAT_TO_DO COMMAND...: runs a command with its output in logs/NAME.log and shows its
# progress. If it fails, prints the end of the log and ends the script.
logged() {
  local name=$1 advice=$2 begin=$SECONDS log status=0 pid
  shift 2
  mkdir -p "$logs"
  log=$logs/$name.log
  # The command has its own process group, so that Ctrl-C can end all its processes.
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  child=$pid
  watch "$pid" "$log"
  wait "$pid" || status=$?
  child=
  if [ "$status" -ne 0 ]; then
    echo >&2
    tail -n 40 "$log" >&2
    fail "$name (exit code $status; the lines above are the end of ${log#"$root"/})" "$advice"
  fi
  note "done in $((SECONDS - begin)) s"
}

# interrupted: handles Ctrl-C while a step runs.
interrupted() {
  [ -z "${child:-}" ] || kill -- "-$child" 2>/dev/null || true
  echo >&2
  echo "Interrupted. Run the command again to continue from here." >&2
  exit 130
}
trap interrupted INT TERM

# as_root COMMAND...: runs a command as root, with sudo if the user is not root.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -- env LC_ALL="$LC_ALL" DEBIAN_FRONTEND="$DEBIAN_FRONTEND" "$@"
  fi
}

# missing_packages FILE...: prints the packages of these lists that are not installed, one a line.
missing_packages() {
  local package
  while read -r package _; do
    case $package in '' | '#'*) continue ;; esac
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
      *' installed') ;;
      *) echo "$package" ;;
    esac
  done < <(cd "$root" && cat -- "$@")
}

# check_root PACKAGE...: checks that as_root will work, and lets sudo ask for its password while
# nothing else prints.
check_root() {
  [ "$(id -u)" -ne 0 ] || return 0
  command -v sudo >/dev/null ||
    fail "packages are missing, and there is no sudo to install them with: $*" \
      "As root, run: apt-get update && apt-get install --no-install-recommends $*" \
      "Then run this command again; it does not need root any more."
  sudo -n true 2>/dev/null && return
  { [ -t 0 ] && note "sudo may ask for your password" && sudo -v; } ||
    fail "sudo did not let this user install packages" \
    "Run this in a terminal where sudo works, or as root:" \
    "apt-get update && apt-get install --no-install-recommends $*"
}

# apt_install PACKAGE...: installs packages. The first line completes an interrupted installation.
apt_install() {
  as_root dpkg --configure -a &&
    as_root apt-get -q -o DPkg::Lock::Timeout=300 update &&
    as_root apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
}

# install_packages FILE...: installs the missing Debian packages of these lists.
install_packages() {
  local missing
  step "Debian packages"
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "this system is not Debian: there is no apt-get" \
      "docs/user/install.md lists what the build needs on other systems."
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    note "all are installed"
    return
  fi
  note "installing ${missing[*]}"
  check_root "${missing[@]}"
  logged apt "Check the network and that 'apt-get update' works, then run this again." \
    apt_install "${missing[@]}"
}

# make_venv REQUIREMENTS...: makes a virtual environment with the packages of these files.
make_venv() {
  local stamp file arguments=()
  step "Python packages"
  for file in "$@"; do arguments+=(-r "$root/$file"); done
  stamp=$venv/stamps/$(cd "$root" && cat -- "$@" | sha256sum | cut -d' ' -f1)
  # The environment of a moved folder contains its old path and must be made again.
  if [ -f "$stamp" ] && "$python" -c 'import sys; sys.exit(sys.prefix != sys.argv[1])' "$venv"; then
    note "all are installed"
    return
  fi
  if ! { [ -x "$python" ] &&
    "$python" -m pip --version 2>/dev/null | grep -qF "$venv/"; }; then
    rm -rf "$venv"
    logged venv "Remove ${venv#"$root"/} and run this again." /usr/bin/python3 -m venv "$venv"
  fi
  logged pip "Check the network and pip's settings, then run this again." \
    "$python" -m pip install --progress-bar off "${arguments[@]}"
  mkdir -p "$venv/stamps"
  touch "$stamp"
}

# fetch_onnxruntime PRESET: puts the library and the headers of ONNX Runtime into the build folder.
fetch_onnxruntime() {
  local site
  step "ONNX Runtime"
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  PYTHON=$python logged onnxruntime "Check the network, then run this again." \
    sh "$root/tools/fetch_onnxruntime.sh" "$build/$1" "$site"
}

# all_frameworks: prints the names in frameworks.txt, separated by blanks.
all_frameworks() {
  awk '!/^#/ && NF { printf "%s ", $1 }' "$root/tools/install/frameworks.txt"
}

# fetch_frameworks NAME...: puts libraries and headers of frameworks into build/frameworks.
# Frameworks that were fetched earlier stay, and their plug-ins are built, too.
fetch_frameworks() {
  local name
  [ $# -gt 0 ] || return 0
  step "Frameworks"
  for name in "$@"; do
    note "$name"
    PYTHON=$python logged "framework-$name" "Check the network, then run this again." \
      "$root/tools/fetch_framework.sh" "$build/frameworks" "$name"
  done
}

# Prints the number of jobs: one for each core, but at most one for each 1.5 GB of free memory.
build_jobs() {
  local cores free
  cores=$(nproc)
  free=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo 2>/dev/null)
  free=${free:-$cores}
  [ "$free" -ge 1 ] || free=1
  echo $((cores < free ? cores : free))
}

# build_preset PRESET TARGET...: configures if necessary, and builds.
build_preset() {
  local preset=$1 cache=$build/$1/CMakeCache.txt fresh=()
  shift
  step "Building ($preset): minutes the first time, seconds after that"
  # The configuration of a moved or copied folder contains its old path.
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    fresh=(--fresh)
  fi
  # Configures on every run, because a library that an earlier run did not find may be installed.
  cd "$root" || exit 1
  # Whole builds take half of the time in unity groups. A folder that is configured keeps its setting.
  export NEREID_UNITY=${NEREID_UNITY-ON}
  logged "configure-$preset" "The message above names what cmake misses." \
    cmake --preset "$preset" "${fresh[@]}"
  NINJA_STATUS='[%f of %t] ' logged "build-$preset" \
    "The first error above is the cause. If the compiler was killed, memory ran out: close programs." \
    cmake --build "$build/$preset" --parallel "$(build_jobs)" --target "$@"
}

make_example_repository() {
  step "Example model repository"
  logged repository "Check the network and pip's settings, then run this again." \
    "$python" "$root/examples/make_repository.py" "$build"
}
