#!/usr/bin/env bash
# Shows that no test depends on the machine's name, clock, load, locale, terminal, inherited signals, temporary folder or number of
# cores: runs the fast tests (tools/fast_tests.sh) in one environment after the other.
#
#   tools/hostile_environments.sh [--again] [NAME…]   all, or those named; --again: also what has passed since the last change
#   tools/hostile_environments.sh --list              what there is
#
# What a machine does not allow (no root, no namespaces, an older processor) is skipped, and the end says so. Logs, locales and the builds
# that some environments need are in build-hostile/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tool=environments
state=build-hostile
source tools/phases.sh

build_release() {
  cmake --preset release --log-level=WARNING >/dev/null
  cmake --build --preset release
}

# fast_tests [VARIABLE=VALUE…]
fast_tests() {
  build_release
  env "$@" tools/fast_tests.sh
}

phase signals "SIGINT ignored, as by nohup and a shell's &"
run_signals() {
  trap '' INT
  fast_tests
}

phase c-locale "LANG=C and LC_ALL=C"
run_c_locale() { fast_tests LANG=C LC_ALL=C; }

phase turkish "tr_TR.UTF-8: commas in numbers, and an i that is no i in capitals"
run_turkish() {
  local locales=$root/build-hostile/locales
  if [[ ! -d $locales/tr_TR.UTF-8 ]]; then
    [[ -f /usr/share/i18n/locales/tr_TR ]] || skip "/usr/share/i18n has no tr_TR: Debian's package locales has it"
    mkdir -p "$locales"
    localedef -i tr_TR -f UTF-8 "$locales/tr_TR.UTF-8"
  fi
  [[ $(LOCPATH=$locales LC_ALL=tr_TR.UTF-8 locale decimal_point) == , ]] || fail "the locale in $locales does not work: remove it."
  fast_tests LOCPATH="$locales" LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8
}

phase dumb-terminal "TERM=dumb, twenty columns, no colours"
run_dumb_terminal() { fast_tests TERM=dumb COLUMNS=20 LINES=5 NO_COLOR=1; }

phase no-input "nothing to read from: </dev/null"
run_no_input() { fast_tests </dev/null; }

phase no-home "a HOME that nobody can write to, and no cache elsewhere"
run_no_home() {
  build_release # with this user's cache
  env -u XDG_CACHE_HOME -u XDG_CONFIG_HOME HOME=/proc/nowhere tools/fast_tests.sh
}

phase temporary-folder "a temporary folder with a space and an umlaut in its name, and a mask that lets nobody else read"
run_temporary_folder() {
  umask 077
  mkdir -p "build-hostile/Übrige Dateien"
  fast_tests TMPDIR="$root/build-hostile/Übrige Dateien"
}

phase one-core "one core (taskset)"
run_one_core() {
  local cores
  cores=$(taskset -cp $$) # "pid 1's current affinity list: 0-3,8"
  cores=${cores##*: }
  build_release
  taskset -c "${cores%%[,-]*}" tools/fast_tests.sh
}

phase busy "other programs on every core, two each"
run_busy() {
  others=() # of the whole phase: killed when it ends
  build_release
  trap 'kill "${others[@]}" 2>/dev/null || true' EXIT
  local i
  for ((i = 0; i < 2 * $(nproc); ++i)); do
    (while :; do :; done) &
    others+=($!)
  done
  tools/fast_tests.sh
}

# without_network COMMAND…
without_network() {
  local alone=(unshare --net)
  ((EUID == 0)) || alone+=(--map-root-user)
  "${alone[@]}" ip link set lo up 2>/dev/null ||
    skip "nobody can leave the network here (unshare --net), or there is no ip: Debian's package iproute2 has it"
  "${alone[@]}" bash -euc 'ip link set lo up && "$@"' - "$@"
}

phase no-network "no network but the machine's own"
run_no_network() {
  build_release
  without_network tools/fast_tests.sh
}

phase second-setup "no network either for setup, the second time"
run_second_setup() {
  local parts=(build viewer test browser wheel python)
  tools/setup.sh --dry-run "${parts[@]}" || skip "not all is installed: run make test, then this again"
  without_network tools/setup.sh "${parts[@]}"
}

# copy_of_sources FOLDER: makes it hold the files of the repository as they are, with their times, and nothing else but its build folders.
copy_of_sources() {
  mkdir -p "$1"
  find "$1" -mindepth 1 -maxdepth 1 -not -name 'build*' -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
  done | xargs -0 cp -pd --parents -t "$1"
}

phase user "a user without root, in a folder of their own"
run_user() {
  build_release
  if ((EUID != 0)); then # who runs this is one already
    tools/fast_tests.sh
    return
  fi
  # Beside other temporary files: what is in root's home cannot be seen by others.
  folder=$(mktemp -d) # of the whole phase: removed when it ends
  trap 'rm -rf "$folder"' EXIT
  copy_of_sources "$folder/lithe"
  cp -pd --parents -t "$folder/lithe" build/lithe build/viewer.html
  [[ ! -d build/levels ]] || cp -a --parents -t "$folder/lithe" build/levels
  find build/tests build/examples -maxdepth 1 -type f -executable -print0 | xargs -0 cp -p --parents -t "$folder/lithe"
  cp -a .venv "$folder/lithe"
  [[ ! -d .venv-python ]] || cp -a .venv-python "$folder/lithe"
  mkdir "$folder/home"
  chmod 755 "$folder"
  chown -R 65534:65534 "$folder/lithe" "$folder/home"
  # Programs name the folder where they were built, to find the library.
  local somebody=(setpriv --reuid=65534 --regid=65534 --clear-groups env -u TMPDIR HOME="$folder/home"
    LD_LIBRARY_PATH="$folder/lithe/build/levels")
  # A Python in root's home is out of reach: then the system's own takes over, with the packages of .venv if they suit it.
  if ! "${somebody[@]}" "$folder/lithe/.venv/bin/python" -c '' 2>/dev/null; then
    somebody+=(PYTHON=/usr/bin/python3 PYTHONPATH="$(echo "$folder"/lithe/.venv/lib/python3*/site-packages)")
    "${somebody[@]}" /usr/bin/python3 -c 'import pytest' || skip "the Python of .venv is out of reach for other users, and the system's does not suit it"
  fi
  "${somebody[@]}" "$folder/lithe/tools/fast_tests.sh"
}

phase umlaut "built without the machine's own instructions (LITHE_NATIVE=OFF), installed and tested in a folder with a space and an umlaut in its name"
run_umlaut() {
  local folder="$root/build-hostile/Öfter mal Neues"
  copy_of_sources "$folder"
  ln -sfn "$root/.venv" "$folder/.venv"
  cd "$folder"
  cmake --preset release -D LITHE_NATIVE=OFF --log-level=WARNING >/dev/null
  # What has to do with files and folders, and some of what computes.
  cmake --build --preset release --target lithe_cli examples/all test_{core,model,io,viz,experiments,dynamics,step}
  ctest --preset release -R '^(install|cli\.(version|names|bad))'
  tools/fast_tests.sh --without-python
}

# with_instructions LEVEL: builds for a level of x86-64 what computes, and its tests, and runs them. The folder is as deep as that of the
# wheel, which has such a library, too: ccache has compiled all of it.
with_instructions() {
  local folder=build-$1
  [[ $(uname -m) == x86_64 ]] || skip "this is no x86-64 processor"
  /lib64/ld-linux-x86-64.so.2 --help | grep -q "$1 (supported" || skip "this processor has not all instructions of $1"
  cmake -G Ninja -S . -B "$folder" -D CMAKE_BUILD_TYPE=Release -D LITHE_LEVELS="$1" -D LITHE_BUILD_BENCH=OFF --log-level=WARNING >/dev/null
  cmake --build "$folder" --target lithe_cli example_swing_up test_{dynamics,collision,contact,lcp,step}
  tools/fast_tests.sh --without-python "$folder"
}

phase x86-64-v2 "code for x86-64-v2: processors of 2009"
run_x86_64_v2() { with_instructions x86-64-v2; }

phase x86-64-v3 "code for x86-64-v3: processors of 2013"
run_x86_64_v3() { with_instructions x86-64-v3; }

run_phases "$@"
