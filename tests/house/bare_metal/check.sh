#!/usr/bin/env bash
# check.sh IMAGE ARCHIVE...: prints the sizes of the core and fails if it asks for a heap or throws.
set -euo pipefail
image=$1
shift
for archive in "$@"; do
  echo "$(basename "$archive")"
  arm-none-eabi-size --totals "$archive" | sed -n '1p;$p'
done
echo "$(basename "$image")"
arm-none-eabi-size "$image"

# Mangled: operator new and delete in all forms, exceptions, locks of static locals, run-time types.
forbidden='malloc|calloc|realloc|free|_Zn[wa].*|_Zd[la]P.*|__cxa_(throw|rethrow|allocate_exception|guard_acquire)'
forbidden+='|__dynamic_cast|_ZSt[0-9]+__throw_.*'
if found=$(arm-none-eabi-nm --undefined-only --print-file-name "$@" | grep -E " U ($forbidden)\$"); then
  echo "The core must not use the heap, exceptions or guarded statics:" >&2
  echo "$found" >&2
  exit 1
fi
