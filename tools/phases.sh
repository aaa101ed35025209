# Sourced by tools that do several named things, one after the other, and can be resumed. Such a tool says
#
#   phase NAME WHAT    for each of them; the function run_NAME does it, with _ for -
#   run_phases "$@"    at its end, with what the tool was called with: [--again] [--list] [NAME…]
#
# and sets `tool`, its name, and `state`, a folder for logs and for what passed. What passed stays passed for as long as no file of the
# repository changes. A phase that cannot run on this machine calls `skip REASON`.
phase_names=()
declare -A phase_whats=()

phase() {
  phase_names+=("$1")
  phase_whats[$1]=$2
}

say() { printf '%s: %s\n' "$tool" "$*"; }
fail() {
  printf '%s: error: %s\n' "$tool" "$1" >&2
  shift
  (($# == 0)) || printf '  %s\n' "$@" >&2
  exit 1
}

skip() {
  printf '%s\n' "$*" >"$state/reason"
  exit 77
}

# The state of all files: the commit, and what differs from it. Empty where that is not known.
sources_key() {
  git rev-parse HEAD >/dev/null 2>&1 || return 0
  {
    git rev-parse HEAD
    git diff HEAD --binary
    git ls-files -z --others --exclude-standard | xargs -0 -r sha256sum --
  } | sha256sum | cut -d ' ' -f 1
}

duration() {
  local s=$1
  if ((s < 120)); then echo "$s s"; else echo "$((s / 60)) min $((s % 60)) s"; fi
}

# run_phase NAME: runs it if it has not passed yet, and adds a line to `results`.
run_phase() {
  local name=$1 stamp=$state/passed/$1 log=$state/$1.log status start seconds
  if ! $again && [[ -n $key && -f $stamp && $(head -n 1 "$stamp") == "$key" ]]; then
    results+=("$(printf '%-20s passed before, in %s' "$name" "$(tail -n 1 "$stamp")")")
    say "$name: passed before"
    return
  fi
  say "$name: ${phase_whats[$name]}"
  start=$SECONDS
  # Not as a condition: that would switch `set -e` off in all that it calls.
  set +e
  (
    set -e
    "run_${name//-/_}"
  ) >"$log" 2>&1
  status=$?
  set -e
  seconds=$((SECONDS - start))
  case $status in
    0)
      printf '%s\n%s\n' "$key" "$(duration "$seconds")" >"$stamp"
      results+=("$(printf '%-20s passed in %s' "$name" "$(duration "$seconds")")")
      ;;
    77)
      results+=("$(printf '%-20s skipped: %s' "$name" "$(<"$state/reason")")")
      ;;
    *)
      tail -n 60 "$log" >&2
      results+=("$(printf '%-20s FAILED in %s; the whole log is %s' "$name" "$(duration "$seconds")" "$log")")
      failed=true
      ;;
  esac
  say "${results[-1]}"
}

list_phases() {
  local name
  for name in "${phase_names[@]}"; do printf '%-20s %s\n' "$name" "${phase_whats[$name]}"; done
}

run_phases() {
  local again=false failed=false key wanted=() results=() name
  for name in "$@"; do
    case $name in
      --list) list_phases && return ;;
      --again) again=true ;;
      -*) fail "unknown option: $name" "Options are --list and --again; names are those that --list prints." ;;
      *)
        [[ -n ${phase_whats[$name]-} ]] || fail "there is no $name." "There are: ${phase_names[*]}"
        wanted+=("$name")
        ;;
    esac
  done
  ((${#wanted[@]} > 0)) || wanted=("${phase_names[@]}")
  mkdir -p "$state/passed"
  key=$(sources_key)
  for name in "${wanted[@]}"; do run_phase "$name"; done
  say "all of it took $(duration "$SECONDS"):"
  printf '  %s\n' "${results[@]}"
  ! $failed || fail "something failed." "Mend it and run this again: what has passed is not repeated unless a file changed."
}
