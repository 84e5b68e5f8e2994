#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_packages.sh ROOT PACKAGES SOURCE [ONNX]: installs the packages in the folder PACKAGES into ROOT, the root
# of a bare Debian system whose apt works (debootstrap --variant=minbase), boots it with systemd-nspawn,
# and tries the service as an operator would:
#
#   it starts, serves a model, survives kill -9 and a boot, reloads and stops; it runs as its own user
#   without capabilities on a root that it cannot write; systemd-analyze security gives at most 2.0;
#   nereid-dev builds SOURCE/examples/backend, which then serves; a purge leaves nothing.
#
# SOURCE is the repository. ONNX is a model whose OUTPUT0 is twice its INPUT0, FP32 [batch, 2]: it must run
# under the restrictions of the service. Needs root, systemd-nspawn and unshare. Changes ROOT. The container has no
# network but its own loopback. Prints a line for each step; exits with 1 at the first that fails.
set -euo pipefail
root=$(readlink -f "$1")
packages=$(readlink -f "$2")
source=$(readlink -f "$3")
onnx=${4:+$(readlink -f "$4")}
[ -e "$root/etc/debian_version" ] || { echo "$root is not the root of a Debian system" >&2; exit 2; }
work=$(mktemp -d)
container=
leader=

finish() {
  [ -z "$container" ] || { kill -KILL "$leader" "$container" 2>/dev/null; wait "$container"; } || true
  rm -rf "$work"
}
trap finish EXIT

step() { printf -- '- %s\n' "$*"; }

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  [ -z "$leader" ] || inside journalctl --no-pager -u nereid -n 40 >&2 || true
  exit 1
}

. "$(dirname "${BASH_SOURCE[0]}")/in_root.sh"

inside() { nsenter -t "$leader" -a env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }

# until_true SECONDS COMMAND...: asks again and again until the command succeeds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}

boot() {
  systemd-nspawn --quiet -D "$root" --boot --register=no --keep-unit --private-network \
    --console=pipe </dev/null >"$work/console" 2>&1 &
  container=$!
  until_true 30 pgrep -P "$container" || { cat "$work/console" >&2; fail "the system did not boot"; }
  leader=$(pgrep -P "$container" | head -n 1)
  until_true 120 inside systemctl is-active multi-user.target || fail "the system did not boot"
}

power_off() {
  inside systemctl poweroff >/dev/null 2>&1 || true
  wait "$container" || true
  container= leader=
}

main_pid() { inside systemctl show -P MainPID nereid; }

listing() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run \
  -o -path ./tmp -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
  -o -path ./var/lib/systemd -o -path ./var/tmp -o -path ./root -o -path ./mnt \) -prune -o -print) | sort; }

# remains: what the packages have left. The list of users of systemd-sysusers and the backups of passwd
# are not theirs.
remains() { comm -13 "$work/before" <(listing) | grep -v -e '^./etc/passwd-$' -e '^./etc/group-$' \
  -e '^./etc/shadow-$' -e '^./etc/gshadow-$' -e '^./etc/subuid-$' -e '^./etc/subgid-$' || true; }

ask() {
  inside bash -c 'exec 3<>/dev/tcp/127.0.0.1/8000
    body="{\"inputs\":[{\"name\":\"$2\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1.5,2]}]}"
    printf "POST /v2/models/%s/infer HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" \
      "$1" "${#body}" "$body" >&3; cat <&3' _ "$1" "$2"
}

add_model() {
  mkdir -p "$root/var/lib/nereid/models/$1/1"
  cat >"$root/var/lib/nereid/models/$1/config.pbtxt"
}

step "installing systemd into the root"
in_root apt-get -q update >"$work/apt" 2>&1 || { cat "$work/apt"; fail "apt-get update"; }
in_root apt-get -q -y install --no-install-recommends systemd systemd-sysv dbus ca-certificates \
  cmake g++ ninja-build rapidjson-dev >"$work/apt" 2>&1 ||
  { tail -n 20 "$work/apt"; fail "apt-get install systemd"; }
in_root systemd-machine-id-setup >/dev/null 2>&1 || true
listing >"$work/before"

step "installing the packages"
in_root bash -c 'apt-get -q -y install /mnt/*.deb' >"$work/apt" 2>&1 ||
  { tail -n 20 "$work/apt"; fail "apt-get install"; }
in_root nereid --version
in_root nereid help man >/dev/null
add_model echo <<'TEXT'
backend: "identity"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 2 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 2 ] }
TEXT

if [ -n "$onnx" ]; then
  mkdir -p "$root/var/lib/nereid/models/doubled/1"
  cp "$onnx" "$root/var/lib/nereid/models/doubled/1/model.onnx"
  chmod -R a+rX "$root/var/lib/nereid/models"
fi

step "booting"
boot
until_true 60 inside systemctl is-active nereid || fail "the service did not start"
until_true 60 inside nereid status || fail "the server is not ready"
ask echo INPUT0 | grep -q '"data":\[1.5,2' || fail "no answer of a model: $(ask echo INPUT0)"
inside nereid models
[ -z "$onnx" ] || ask doubled INPUT0 | grep -q '"data":\[3.0,4' || fail "no answer of the ONNX model"

step "the process has no rights"
pid=$(main_pid)
inside grep -q '^CapEff:[[:space:]]*0*$' "/proc/$pid/status" || fail "the server has capabilities"
inside grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$pid/status" || fail "the server may gain rights"
[ "$(inside stat -c %U "/proc/$pid")" = nereid ] || fail "the server runs as another user"
inside nsenter -t "$pid" -m touch /etc/x 2>/dev/null && fail "the server's root can be written"
inside systemd-analyze security --no-pager nereid.service | tail -n 1
inside systemd-analyze security --no-pager --threshold=20 nereid.service >/dev/null ||
  fail "systemd-analyze security is above 2.0"
inside systemd-analyze verify --man=no nereid.service || fail "systemd-analyze verify"

step "reload"
inside systemctl reload nereid
[ "$(main_pid)" = "$pid" ] || fail "a reload made another process"
inside systemctl is-active -q nereid || fail "the service is not active after a reload"

step "kill -9"
inside kill -9 "$pid"
restarted() { local now; now=$(main_pid); [ "$now" != 0 ] && [ "$now" != "$pid" ]; }
until_true 30 restarted || fail "the service was not started again"
until_true 60 inside nereid status || fail "the server is not ready after kill -9"

step "a stopped process is found by the watchdog"
pid=$(main_pid)
mkdir -p "$root/etc/systemd/system/nereid.service.d"
printf '[Service]\nWatchdogSec=3\n' >"$root/etc/systemd/system/nereid.service.d/watchdog.conf"
inside systemctl daemon-reload
inside systemctl restart nereid
until_true 60 inside nereid status || fail "the server is not ready"
pid=$(main_pid)
inside kill -STOP "$pid"
until_true 60 restarted || fail "the watchdog did not end a stopped process"
until_true 60 inside nereid status || fail "the server is not ready after the watchdog"
rm -r "$root/etc/systemd/system/nereid.service.d"
inside systemctl daemon-reload

step "a boot"
power_off
boot
until_true 60 inside nereid status || fail "the server is not ready after a boot"

step "a backend built with nereid-dev"
rm -rf "$root/root/backend"
cp -r "$source/examples/backend" "$root/root/backend"
sed -i 's/find_package(Nereid/find_package(nereid/' "$root/root/backend/CMakeLists.txt"
inside bash -c 'cd /root/backend && cmake -G Ninja -B out . >/dev/null && cmake --build out >/dev/null' ||
  fail "examples/backend does not build with the installed nereid-dev"
inside install -D /root/backend/out/scale/libtriton_scale.so \
  /usr/lib/nereid/backends/scale/libtriton_scale.so
cp -r "$source"/examples/backend/models/. "$root/var/lib/nereid/models/"
inside systemctl restart nereid
until_true 60 inside nereid status || fail "the server with another backend is not ready"
ask tripled INPUT | grep -q '"data":\[4.5,6' || fail "no answer of the backend: $(ask tripled INPUT)"
rm -rf "$root/usr/lib/nereid/backends/scale"

step "purge"
inside apt-get -q -y purge --autoremove 'nereid*' >"$work/purge" 2>&1 ||
  { cat "$work/purge"; fail "apt-get purge"; }
inside systemctl is-active -q nereid && fail "the service still runs"
[ -z "$(inside getent passwd nereid)" ] || fail "the user is still there"
power_off
left=$(remains)
[ -z "$left" ] || fail "a purge leaves: $left"
echo "All is well."
