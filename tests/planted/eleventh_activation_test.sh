#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Plants an eleventh activation in copies of the sources and compiles them with the flags of the build: with a
# complete record the library's switch compiles, without its record or without a field it does not.
#
#   eleventh_activation_test.sh ROOT EIGEN_INCLUDE COMPILER FLAGS...
set -euo pipefail
root=$1 eigen=$2
shift 2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

plant_enum_value() {
  rm -rf "${tree:?}"/*
  cp -r "$root/include" "$root/src" "$tree"
  sed -i 's/^  Elu,$/  Elu,\n  Planted,/' "$tree/include/mixcert/activation/activation.h"
}

# A record like that of the logistic function.
plant_record() {
  plant_enum_value
  sed 's/kSigmoid/kPlanted/; s/Sigmoid/Planted/g; s/"sigmoid"/"planted"/' \
    "$root/src/activation/functions/sigmoid.h" >"$tree/src/activation/functions/planted.h"
  sed -i -e 's/^#include "activation\/functions\/linear.h"$/&\n#include "activation\/functions\/planted.h"/' \
    -e 's/^    case ActivationFunction::Elu:$/    case ActivationFunction::Planted:\n      return \&functions::kPlanted;\n&/' \
    "$tree/src/activation/activation_traits.cc"
}

compile() { "$@" -std=c++20 -fsyntax-only -I"$tree/include" -I"$tree/src" -isystem "$eigen" "$tree/src/activation/activation_traits.cc" 2>&1; }

# expect NAME TEXT COMPILER FLAGS...: compiling fails and says TEXT; with an empty TEXT it succeeds.
expect() {
  local name=$1 text=$2 output status=0
  shift 2
  output=$(compile "$@") || status=$?
  if [ -z "$text" ] && [ "$status" -eq 0 ]; then return; fi
  if [ -n "$text" ] && [ "$status" -ne 0 ] && [[ $output == *"$text"* ]]; then return; fi
  printf '%s: expected %s, got status %d and:\n%s\n' "$name" "${text:-success}" "$status" "$output"
  failures=$((failures + 1))
}

plant_record
expect 'a complete record' '' "$@"

plant_enum_value
expect 'no record' 'Planted' "$@"

# One field of each part of a record.
for field in name curvature strip; do
  plant_record
  # Everything from the line of the field to that of the next one.
  awk -v field="$field" '
    /^    \.[a-z_]+ =/ { left_out = ($0 ~ "^    \\." field " =") }
    /^};/ { left_out = 0 }
    !left_out' "$tree/src/activation/functions/planted.h" >"$tree/planted"
  if cmp -s "$tree/planted" "$tree/src/activation/functions/planted.h"; then
    printf 'the record has no field %s\n' "$field"
    failures=$((failures + 1))
  fi
  mv "$tree/planted" "$tree/src/activation/functions/planted.h"
  expect "no $field" 'Given' "$@"
done

# And every other field is of the same kind.
others=$(awk '
  /^struct (PiecewiseLinear|TanhForm|Analytic|LeftAnalytic|Smooth|Pieced|ActivationTraits) \{/ { inside = 1 }
  /^};/ { inside = 0 }
  inside && /^  [A-Za-z].*;/ && !/[({]/ && !/^  Given</' "$root/src/activation/activation_traits.h")
if [ -n "$others" ]; then
  printf 'fields of records that may be left out:\n%s\n' "$others"
  failures=$((failures + 1))
fi
[ "$failures" -eq 0 ]
