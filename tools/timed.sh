#!/usr/bin/env bash
# Runs one phase of a make target and says what it is and how long it took.
#
#   tools/timed.sh "what it does" COMMAND [ARGUMENT...]
#
# On a terminal the command's own output is shown; elsewhere it goes to a file, whose end is shown if the command fails. Where CI=true,
# everything is shown.
set -uo pipefail
what=$1
shift
started=$SECONDS
printf '=> %s\n' "$what"
if [[ -t 1 || ${CI:-} == true ]]; then
  "$@"
  status=$?
else
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  "$@" >"$log" 2>&1
  status=$?
  ((status == 0)) || tail -n 100 "$log" >&2
fi
if ((status == 0)); then
  printf '   %s: %d s\n' "$what" $((SECONDS - started))
else
  printf '   %s: failed with exit code %d after %d s\n' "$what" "$status" $((SECONDS - started)) >&2
fi
exit "$status"
