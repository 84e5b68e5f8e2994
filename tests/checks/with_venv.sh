#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_venv.sh SOURCE_DIR ARGUMENT...: runs python from build/venv, which ./test makes; 77 (skipped)
# where it or the example models are not there yet.
root=$1
shift
python=$root/build/venv/bin/python
if [ ! -x "$python" ]; then
  echo "no $python: run ./test once"
  exit 77
fi
if [ ! -d "$root/build/examples/model_repository" ]; then
  echo "no example models: run examples/make_repository.py build"
  exit 77
fi
exec "$python" "$@"
