#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Weakens one inequality of the engine at a time, lets it write a proof, and requires that mixcert-check refuses it. What
# the engine as it is writes must be proven.
#
#   weakened_engine_test.sh ROOT EIGEN_INCLUDE CHECKER LIBRARIES COMPILER FLAGS...     (libraries: one word, with commas)
set -euo pipefail
root=$1 eigen=$2 checker=$3 compiler=$5
IFS=, read -ra libraries <<<"$4"
flags=("${@:6}" -std=c++20 -O1 -DEIGEN_MAX_ALIGN_BYTES=16 "-I$root/include" "-I$root/src" -isystem "$eigen")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# check NAME STATUS [OBJECT]: the status of mixcert-check for a proof by the engine with this object in place of its own.
check() {
  local name=$1 expected=$2 status=0 output
  # The first of several definitions stands.
  "$compiler" "$folder/prove.o" "${@:3}" -Wl,--allow-multiple-definition "${libraries[@]}" -lzip -lcrypto -lpthread -o "$folder/prove"
  "$folder/prove" "$folder"
  output=$("$checker" "$folder/model.safetensors" "$folder/model.proof" 2>&1) || status=$?
  printf '%s: status %d, %s\n' "$name" "$status" "$(tail -n 1 <<<"$output")"
  [ "$status" -eq "$expected" ] || failures=$((failures + 1))
}

# weaken NAME FILE FROM TO: one change of one source.
weaken() {
  local changed="$folder/changed.cc"
  awk -v from="$3" -v to="$4" '
    (at = index($0, from)) { $0 = substr($0, 1, at - 1) to substr($0, at + length(from)); ++found }
    { print }
    END { exit found != 1 }' "$root/src/$2" >"$changed" || {
    echo "$1: expected '$3' once in $2"
    failures=$((failures + 1))
    return
  }
  "$compiler" "${flags[@]}" -c "$changed" -o "$folder/changed.o"
  check "$1" 1 "$folder/changed.o"
}

"$compiler" "${flags[@]}" -c "$root/tests/planted/prove.cc" -o "$folder/prove.o"
check 'the engine as it is' 0
weaken 'no terms of rank three (H.1)' methods/moment/moment_error.cc ' + b.abs() * r.abs().cube() * (t * t(j))).sum()' ').sum()'
weaken 'half of the noise (H.2)' methods/moment/moment_error.cc 'noise_(l) = root_deviation(upper' 'noise_(l) = 0.5 * root_deviation(upper'
weaken 'a smaller rest (V.1)' methods/moment/surrogate_law.cc 'law.rest(j) = root_of_rest' 'law.rest(j) = 0.9 * root_of_rest'
weaken 'an infeasible metric (M.8)' sensitivity/error_norm.cc 'g *= feasibility_factor' 'g *= 0.8 * feasibility_factor'
weaken 'a smaller stray of slopes (M.8)' sensitivity/error_norm.cc 'add_diagonal(factor * slopes.rest' 'add_diagonal(factor * 0.9 * slopes.rest'
[ "$failures" -eq 0 ]
