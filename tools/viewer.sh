#!/usr/bin/env bash
# Builds the viewer's page, viewer/dist/viewer.html, when its sources have changed, or tests it.
#
#   tools/viewer.sh build
#   tools/viewer.sh test     Vitest, then the page in a browser ($CHROMIUM, else /usr/bin/chromium) with build/lithe
#   tools/viewer.sh gallery  pictures for docs/gallery.md
#   tools/viewer.sh mock     the page in a browser with a stand-in for the live server, which can do all that goes wrong
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../viewer"
# Where the system has no node, tools/setup.sh brings one along.
[[ ! -x ../.venv-node/bin/node ]] || PATH=$PWD/../.venv-node/bin:$PATH
page=dist/viewer.html
installed=node_modules/.lithe.stamp

# What npm ci depends on. The folder counts too: with a moved node_modules, all is installed anew.
lock_hash() { { pwd && node --version && cat package-lock.json; } | sha256sum; }

install() {
  [[ ! -f $installed || $(<"$installed") != "$(lock_hash)" ]] || return 0
  echo "viewer: installing what package-lock.json names"
  npm ci --silent --no-audit --no-fund
  lock_hash >"$installed"
}

# Prints a file that the page is made of and that has changed since it was built, if there is one. A removed file changes its folder.
changed() {
  find src index.html package.json package-lock.json tsconfig.json vite.config.ts -newer "$page" -print -quit
}

build() {
  install
  if [[ -f $page && -z $(changed) ]]; then
    echo "viewer: $page is current"
    return
  fi
  started=$(mktemp) # of the whole script: removed when it ends
  trap 'rm -f "$started"' EXIT
  npm run --silent build -- --logLevel warn
  touch -r "$started" "$page" # what is edited while it builds is newer
  echo "viewer: built $page"
}

run_tests() {
  install
  npm test --silent
  npm run --silent test:browser
}

case ${1-} in
  build) build ;;
  test) run_tests ;;
  mock) install && npm run --silent test:mock ;;
  gallery) install && cd .. && node tools/gallery.mjs ;;
  *)
    echo "usage: tools/viewer.sh build | test | mock | gallery" >&2
    exit 2
    ;;
esac
