#!/bin/sh
# LIBRARY HEADER: the library shows the functions of the header, all of them, and nothing else; its name says 0.
set -eu
shown=$(nm --dynamic --defined-only --format=posix "$1" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' | sort)
declared=$(tr '\n' ' ' <"$2" | sed 's/FIBOCAST_API/\n&/g' | sed -n 's/^FIBOCAST_API[^(]*[ *]\(fibocast_[a-z_]*\)(.*/\1/p' | sort)
[ -n "$declared" ]
[ "$shown" = "$declared" ] || { printf 'shown:\n%s\ndeclared:\n%s\n' "$shown" "$declared"; exit 1; }
readelf -d "$1" | grep -q 'SONAME.*\[libfibocast.so.0\]'
