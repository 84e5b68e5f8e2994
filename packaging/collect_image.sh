#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# collect_image.sh DIR: copies the installed server with every library that it needs or opens into DIR, the
# root of a container image. Also: the certificates of authorities, `sleep` for the hook preStop of
# Kubernetes, and the user 65532. Runs in the first stage of the Containerfile.
set -eu
image=$1
mkdir -p "$image/etc/ssl/certs" "$image/tmp" "$image/models" "$image/cache" "$image/var/lib/nereid" \
  "$image/usr/bin" "$image/usr/lib"
# As in Debian, where the program names of libraries begin with /lib.
for name in bin lib lib64; do
  [ ! -L "/$name" ] || cp -P "/$name" "$image/$name"
done
chmod 1777 "$image/tmp"
chown 65532:65532 "$image/cache"

cp -P /usr/bin/nereid /usr/bin/tritonserver "$image/usr/bin/"
cp /bin/sleep "$image/usr/bin/"
cp -r /usr/lib/nereid "$image/usr/lib/"
cp -L /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/"
mkdir -p "$image/usr/share/doc"
for package in /usr/share/doc/nereid*; do
  mkdir -p "$image$package"
  cp "$package/copyright" "$image$package/"
done
echo 'hosts: files dns' >"$image/etc/nsswitch.conf"
echo 'nereid:x:65532:65532:Nereid:/:/usr/sbin/nologin' >"$image/etc/passwd"
echo 'nereid:x:65532:' >"$image/etc/group"

# Libraries: those that are linked, and libcurl, which the server opens when it needs it.
{
  find /usr/lib/nereid -name '*.so*' -exec ldd {} + 2>/dev/null
  ldd /usr/bin/nereid /bin/sleep /usr/lib/*-linux-gnu/libcurl.so.4
  echo "x => $(ls /usr/lib/*-linux-gnu/libcurl.so.4) (x)"
} | awk '/=> \// { print $3 } /^[[:space:]]*\/lib.*ld-linux/ { print $1 }' | sort -u |
  while read -r library; do
    case $library in /usr/lib/nereid/*) continue ;; esac
    mkdir -p "$image/usr$(dirname "${library#/usr}")"
    cp -L "$library" "$image/usr${library#/usr}"
  done
