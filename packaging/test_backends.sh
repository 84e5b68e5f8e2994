#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_backends.sh ROOT PACKAGES SOURCE FRAMEWORKS: installs all packages in ROOT, the root of a bare Debian
# system whose apt and pip work, and lets the backends OpenVINO, PyTorch, TensorFlow and Python answer a
# request there. OpenVINO is fetched with pip, as a user would; the two large frameworks are those of the folder
# FRAMEWORKS (build/frameworks), by nereid-framework --from. A purge must leave nothing of them. SOURCE is the
# repository. Needs root and unshare. Changes ROOT.
set -euo pipefail
root=$(readlink -f "$1")
packages=$(readlink -f "$2")
source=$(readlink -f "$3")
frameworks=$(readlink -f "$4")
. "$source/packaging/in_root.sh"

mkdir -p "$root/srv/frameworks" "$root/srv/models"
trap 'umount "$root/srv/frameworks"' EXIT
mount --bind "$frameworks" "$root/srv/frameworks"

step() { printf -- '- %s\n' "$*"; }

step "installing all packages"
in_root apt-get -q update >/dev/null
in_root bash -c 'apt-get -q -y install /mnt/*.deb && apt-get -q -y install --no-install-recommends python3-pip' \
  >"$root/srv/apt.log" 2>&1 || { tail -n 20 "$root/srv/apt.log"; exit 1; }

step "frameworks"
in_root nereid-framework
in_root nereid-framework openvino
for name in pytorch tensorflow; do
  in_root nereid-framework "$name" --from "/srv/frameworks/$name" >/dev/null
done
in_root nereid-framework

step "models"
data=$source/tests/data models=$root/srv/models
rm -rf "$models"
mkdir -p "$models/mlp/1" "$models/linear/1" "$models/double/1"
cp "$data"/openvino/mlp/model.* "$models/mlp/1/"
cp -r "$data/tensorflow/savedmodels/linear" "$models/linear/1/model.savedmodel"
cp -r "$data/pytorch/same" "$models/same"
cat >"$models/double/1/model.py" <<'PYTHON'
from nereid_pb.function_model import FP32, model


@model()
def double(x: FP32[-1]) -> {"y": FP32[-1]}:
    return {"y": x * 2}
PYTHON
echo 'backend: "python"' >"$models/double/config.pbtxt"

in_root bash -euo pipefail -c '
  nereid serve --model-repository=/srv/models --log-file=/srv/server.log >/dev/null 2>/srv/server.errors &
  server=$!
  nereid status --wait --timeout 120 >/dev/null || { cat /srv/server.log /srv/server.errors; exit 1; }
  nereid infer mlp --input x=1,2,3,4 --output y
  nereid infer linear --input input_1=1,2,3,4
  nereid infer same --input x=1,2,3 | tee /srv/same
  nereid infer double --input x=1.5,2 | tee /srv/double
  kill -TERM "$server"
  wait "$server"
  grep -q "\[1, 2, 3\]" /srv/same
  grep -q "\[3, 4\]" /srv/double
'

step "purge"
in_root apt-get -q -y purge --autoremove 'nereid*' >/dev/null 2>&1
for left in /usr/lib/nereid /usr/share/nereid /var/lib/nereid-frameworks; do
  [ ! -e "$root$left" ] || { echo "a purge leaves:"; find "$root$left" | head; exit 1; }
done
[ -d "$root/srv/frameworks/pytorch/torch" ] || { echo "a purge removed a framework of the user"; exit 1; }
echo "All is well."
