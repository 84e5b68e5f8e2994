#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts the Triton that fetch_triton.sh has put into DIR.
#
#   tools/peer/run_triton.sh DIR [Triton's flags]
#
# The server replaces this script's process, so that signals and the process id apply to the server.
set -euo pipefail
[ $# -ge 1 ] && [ -f "$1/peer.env" ] || {
  echo "run_triton: usage: run_triton.sh DIR [flags]; DIR is made by fetch_triton.sh" >&2
  exit 1
}
# shellcheck disable=SC1091
. "$1/peer.env"
shift
# The wheel names its own libraries first; the folder of libpython comes after them.
export LD_LIBRARY_PATH="$PEER_LIBRARY_PATH${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$PEER_SERVER" --backend-directory="$PEER_BACKENDS" \
  ${PEER_CACHES:+--cache-directory="$PEER_CACHES"} \
  ${PEER_REPOAGENTS:+--repoagent-directory="$PEER_REPOAGENTS"} "$@"
