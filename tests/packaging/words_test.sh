#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# ./run and scripts/check_install: their help names every option that they take, wrong options get one line and status 2,
# and what they print for the reader to type names the packages. Nothing is installed or built here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failures=0

# expect STATUS TEXT COMMAND...: the command ends with this status and prints TEXT.
expect() {
  local status=0 output
  output=$("${@:3}" 2>&1) || status=$?
  if [ "$status" -ne "$1" ] || [[ $output != *"$2"* ]]; then
    printf '%s: expected status %s and "%s", got status %s and:\n%s\n' "${*:3}" "$1" "$2" "$status" "$output"
    failures=$((failures + 1))
  fi
}

for option in --python --deb --lab --no-install --help; do
  expect 0 "  $option " ./run --help
done
for option in --only --folder; do
  expect 0 "  $option " scripts/check_install --help
done
expect 2 "run: unknown option '--pyhton' (see ./run --help)" ./run --pyhton
expect 2 "run: unknown option '' (see ./run --help)" ./run ''
expect 2 "run: unknown option '--lba' (see ./run --help)" ./run --python --lba
expect 2 "check_install: --only: expected readme, pip, wheel or deb, got 'weel'" scripts/check_install --only weel
expect 2 "check_install: --only: expected readme, pip, wheel or deb, got ''" scripts/check_install --only
expect 2 "check_install: --folder: expected a folder, got ''" scripts/check_install --folder
expect 2 "check_install: unknown option '--wheel' (see scripts/check_install --help)" scripts/check_install --wheel

# In a shell of its own, as those who source the list see it; sudo is for those who are not root.
words() {
  bash -c 'source scripts/packages.sh; id() { echo "$WHO"; }; eval "$1"' words "$1"
}
WHO=0 expect 0 'apt-get update && apt-get install -y --no-install-recommends a b' words 'apt_line a b'
WHO=7 expect 0 'sudo apt-get update && sudo apt-get install -y --no-install-recommends a b' words 'apt_line a b'
expect 0 '[]' words 'echo "[$(apt_line)]"'
export -f words
# Who uses the Python package needs neither torch nor the tools of its tests.
expect 1 '' words 'packages_of core; packages_of python | grep -E "torch|pytest|wheel|setuptools"'
expect 0 'python3-torch' words 'packages_of python-test'
expect 0 'no-such-package' words 'missing_packages bash no-such-package'

[ "$failures" -eq 0 ]
