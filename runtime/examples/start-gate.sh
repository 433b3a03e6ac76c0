#!/bin/sh
# Starts a program on each node as soon as it can be started on all of them. Who does not come in time is named, the
# program is started nowhere, and the exit code says why (3: deadline passed; fibocast barrier --help).
#
#   fibocast run -- runtime/examples/start-gate.sh database-up 30s my-service --its-arguments
set -eu
if [ $# -lt 3 ]; then
  echo "usage: start-gate.sh GATE DEADLINE PROGRAM [ARGUMENT...]" >&2
  exit 2
fi
gate=$1 deadline=$2
shift 2
# The daemon of FIBOCAST_SOCKET answers; the label appears in what the others are told.
if why=$(fibocast barrier "$gate" --deadline "$deadline" --label "start of ${1##*/}" 2>&1); then
  exec "$@"
else
  code=$?
  echo "start-gate: $1 is not started: $why" >&2
  exit "$code"
fi
