#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# deb_test.sh BUILD VERSION CPACK: makes the Debian package of a build tree and requires program, library, Python package,
# licence and example in it, dependencies that were computed, and nothing that belongs to other programs.
set -euo pipefail
build=$1 version=$2 cpack=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

complain() {
  echo "deb_test: $1"
  failures=$((failures + 1))
}

"$cpack" --config "$build/CPackConfig.cmake" -B "$folder" >"$folder/log" || { cat "$folder/log"; exit 1; }
deb=$folder/mixcert_${version}_$(dpkg --print-architecture).deb
[ -f "$deb" ] || { ls "$folder"; complain "expected ${deb##*/}"; exit 1; }
dpkg-deb --extract "$deb" "$folder/files"
dpkg-deb --control "$deb" "$folder/control"

for file in bin/mixcert bin/mixcert-check include/mixcert/mixcert.h lib/libmixcert_core.a lib/libmixcert_tune.a lib/cmake/mixcert/mixcertConfig.cmake \
  lib/python3/dist-packages/mixcert/__init__.py lib/python3/dist-packages/mixcert/_core.pyi lib/python3/dist-packages/mixcert/py.typed \
  "lib/python3/dist-packages/mixcert-$version.dist-info/METADATA" share/doc/mixcert/copyright share/mixcert/examples/noisy_sines.safetensors; do
  [ -s "$folder/files/usr/$file" ] || [ "${file##*/}" = py.typed ] && [ -e "$folder/files/usr/$file" ] || complain "no /usr/$file"
done
for pattern in '*mixcert-mpi' '*mixcert-lab' '*_test*' '*__pycache__*' '*.whl'; do
  found=$(find "$folder/files" -path "$pattern")
  [ -z "$found" ] || complain "does not belong there: $found"
done
# Built and installed files may lie side by side in the tree; the package has only what the sources have.
extension=$(find "$folder/files/usr/lib/python3/dist-packages/mixcert" -name '_core.cpython-*.so')
[ "$(wc -l <<<"$extension")" -eq 1 ] && [ -n "$extension" ] || complain "expected one extension, got '$extension'"
grep -qx "Version: $version" "$folder/files/usr/lib/python3/dist-packages/mixcert-$version.dist-info/METADATA" || complain "METADATA has another version"

# Where the two programs of the package are linked to a library, its package is a dependency.
for package in libflint-arb2 libnlopt0 libzip4 libssl3 libstdc++6 python3 python3-numpy; do
  grep -qE "^Depends:.* ${package//+/\\+}( |,|$)" "$folder/control/control" || complain "does not depend on $package"
done
grep -qE '^Depends:.*(openmpi|torch|pytest)' "$folder/control/control" && complain "depends on what only tests need"
grep -qE '^Recommends:.*libeigen3-dev' "$folder/control/control" || complain "does not recommend what find_package(mixcert) looks for"
for script in postinst prerm; do
  [ -x "$folder/control/$script" ] || complain "no executable $script"
done

# The program in it starts and certifies the example in it.
examples=$folder/files/usr/share/mixcert/examples
"$folder/files/usr/bin/mixcert" --version | grep -qF "$version" || complain "the program has another version"
"$folder/files/usr/bin/mixcert" certify "$examples/noisy_sines.safetensors" --inputs "$examples/noisy_sines_inputs.csv" |
  grep -q 'W2(network, mixture) <=' || complain "the program does not certify the example"

# As on Debian, where /lib is a link to /usr/lib: find_package(mixcert) may come by either way.
ln -s usr/lib "$folder/files/lib"
for way in lib usr/lib; do
  cmake -S "$(dirname "${BASH_SOURCE[0]}")/../../examples/03_embedded" -B "$folder/$way/consumer" \
    -D "mixcert_DIR=$folder/files/$way/cmake/mixcert" >"$folder/log" 2>&1 || complain "not found by way of /$way: $(tail -n 15 "$folder/log")"
done

if [ "$failures" -gt 0 ]; then
  cat "$folder/control/control"
  exit 1
fi
