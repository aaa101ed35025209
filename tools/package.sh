#!/usr/bin/env bash
# Builds the Debian package, dist/lithe_<version>_<architecture>.deb, or tests it.
#
#   tools/package.sh build     when what it is made of has changed
#   tools/package.sh test      as root: installs it, builds the examples with it, and removes it again
#                              otherwise, or where the package is installed already: the same with what it unpacks to
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=build-package
stamp=$work/package.stamp
levels="x86-64-v2;x86-64-v3;x86-64-v4"
multiarch=$(dpkg-architecture -q DEB_HOST_MULTIARCH)

fail() {
  printf 'package: error: %s\n' "$1" >&2
  exit 1
}

# Prints a file that the package is made of and that has changed since the last one was built, if there is one.
changed() {
  find lithe apps cmake bench/machine.h CMakeLists.txt LICENSE viewer/dist/viewer.html tools/package.sh -type f -newer "$stamp" -print -quit
}

# Into a folder beside the build's and the wheel's, as deep as these: so ccache has compiled the library for all of them.
build() {
  [[ -f viewer/dist/viewer.html ]] || fail "viewer/dist/viewer.html is not there; run make viewer first"
  if [[ -f $stamp && -z $(changed) ]] && compgen -G 'dist/lithe_*.deb' >/dev/null; then
    echo "package: $(echo dist/lithe_*.deb) is current"
    return
  fi
  mkdir -p "$work"
  touch "$work/started" # what is edited while it builds is newer
  rm -f dist/lithe_*.deb
  CC=cc CXX=c++ cmake -S . -B "$work" -G Ninja --log-level=WARNING -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX=/usr \
    -D LITHE_LEVELS="$levels" -D LITHE_BUILD_EXAMPLES=OFF -D LITHE_BUILD_TESTS=OFF -D LITHE_BUILD_BENCH=OFF >/dev/null
  cmake --build "$work"
  cpack --config "$work/CPackConfig.cmake" -B "$work/cpack" >"$work/cpack.log" 2>&1 || {
    cat "$work/cpack.log" >&2
    fail "cpack failed (its messages are above)"
  }
  mkdir -p dist
  mv "$work"/cpack/lithe_*.deb dist/
  touch -r "$work/started" "$stamp"
  echo "package: built $(echo dist/lithe_*.deb) ($(du -h --apparent-size dist/lithe_*.deb | cut -f1))"
}

# Waits for others who are installing packages, up to five minutes.
apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"; }

install_package() {
  local package=$1 # an absolute path, which apt tells from a name
  trap 'apt purge lithe >/dev/null || true; rm -rf "$scratch"' EXIT
  apt install --no-install-recommends "$package" >"$scratch/apt.log" 2>&1 || {
    cat "$scratch/apt.log" >&2
    fail "apt-get could not install $package (its messages are above)"
  }
}

remove_package() {
  apt purge lithe >"$scratch/apt.log" 2>&1 || fail "apt-get could not remove the package: $(<"$scratch/apt.log")"
  [[ ! -e /usr/bin/lithe && ! -e /usr/include/lithe ]] || fail "the package has left files in /usr"
  trap 'rm -rf "$scratch"' EXIT
}

# The folder of the library that the loader shall pick of a prefix: the best level that this processor runs.
best_folder() {
  local loader
  loader=$(/lib64/ld-linux-x86-64.so.2 --help)
  [[ ! $loader =~ (x86-64-v[34])\ \(supported ]] || echo "glibc-hwcaps/${BASH_REMATCH[1]}/"
}

loads_the_best_library() {
  local program=$1 loaded
  loaded=$(ldd "$program" | sed -n 's/.*liblithe[^ ]* => \([^ ]*\).*/\1/p')
  [[ $loaded == */lib/$multiarch/$(best_folder)liblithe.so* && $loaded != *build-package* ]] ||
    fail "$program loads ${loaded:-no liblithe}, not that for this processor"
}

run_tests() {
  local package prefix=/usr unpacked=false programs printed
  package=$(echo "$PWD"/dist/lithe_*.deb)
  [[ -f $package ]] || fail "there is no package in dist/; run make package first"
  scratch=$(mktemp -d) # of the whole script: removed when it ends
  trap 'rm -rf "$scratch"' EXIT

  if ((EUID != 0)) || dpkg-query -W -f='${db:Status-Status}\n' lithe 2>/dev/null | grep -qx installed; then
    unpacked=true
    dpkg-deb -x "$package" "$scratch/root"
    prefix=$scratch/root/usr
    export LD_LIBRARY_PATH=$prefix/lib/$multiarch
    echo "package: testing what $(basename "$package") unpacks to"
  else
    install_package "$package"
    echo "package: testing $(basename "$package") as installed"
    [[ $(ldconfig -p) == *glibc-hwcaps/x86-64-v3/liblithe.so* ]] || fail "ldconfig does not know the libraries for newer processors"
  fi

  # In a folder of its own, in which nothing of the sources is found by accident.
  mkdir "$scratch/examples"
  cp examples/*.cpp "$scratch/examples"
  cp -r tests/install/consumer "$scratch/consumer"
  cp README.md "$scratch"
  cd "$scratch"
  printf -v programs '%s;' "$scratch"/examples/*.cpp
  cmake -S consumer -B build -G Ninja --log-level=WARNING -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH="$prefix" \
    -D PROGRAMS="${programs%;}" >/dev/null
  cmake --build build
  printed=$(build/readme_example)
  grep -qF "Both print \`$printed\`." README.md || fail "README.md does not say that its example prints: $printed"
  loads_the_best_library build/readme_example

  loads_the_best_library "$prefix/bin/lithe"
  "$prefix/bin/lithe" --version
  # It writes pages only if it finds the viewer's.
  "$prefix/bin/lithe" demo --out demo >/dev/null
  [[ -f demo/demo.html ]] || fail "lithe demo has not written demo.html: the viewer's page is not found"

  $unpacked || remove_package
  echo "package: all is well"
}

case ${1-} in
  build) build ;;
  test) run_tests ;;
  *)
    echo "usage: tools/package.sh build | test" >&2
    exit 2
    ;;
esac
