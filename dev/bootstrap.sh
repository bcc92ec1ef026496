#!/bin/sh
# Makes node_modules fit package-lock.json; everything after this is TypeScript. Safe to kill and to run twice at once.
set -eu
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "herald: Node 20 or newer with npm is missing: see https://nodejs.org/en/download" >&2
  exit 2
fi

if [ -n "${HERALD_CACHE:-}" ]; then # several checkouts share what is built and installed there
  case $HERALD_CACHE in
    /*) ;;
    *) echo "herald: HERALD_CACHE must be an absolute path, not $HERALD_CACHE" >&2; exit 2 ;;
  esac
  mkdir -p .dev "$HERALD_CACHE/bin"
  for part in bin debian; do
    [ -e .dev/$part ] || ln -sfn "$HERALD_CACHE/$part" .dev/$part
  done
fi

is_fresh() { # npm writes this file last
  [ -x node_modules/.bin/node ] && [ -e node_modules/.package-lock.json ] &&
    ! [ package-lock.json -nt node_modules/.package-lock.json ]
}

is_fresh && exit 0
mkdir -p .dev/logs
exec 9>.dev/npm.lock
flock 9
is_fresh && exit 0

echo "herald: npm ci ..." >&2
began=$(date +%s)
npm ci --no-audit --no-fund >.dev/logs/npm.log 2>&1 </dev/null 9>&- &
npm=$!
while sleep 1 && kill -0 $npm 2>/dev/null; do
  took=$(($(date +%s) - began))
  [ $((took % 10)) -ne 0 ] || echo "herald: npm ci, $took s so far" >&2
done
if ! wait $npm; then
  tail -n 20 .dev/logs/npm.log >&2
  echo "herald: npm ci failed, see .dev/logs/npm.log" >&2
  exit 1
fi
touch node_modules/.package-lock.json
echo "herald: npm ci done, $(($(date +%s) - began)) s" >&2
