#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Plants a kind of layer and a family of weights in copies of the sources and compiles them with the flags of the
# build: a kind with its source compiles, one that leaves an answer out does not, and a family is asked for by every
# source that has to know it.
#
#   new_kind_test.sh ROOT EIGEN_INCLUDE COMPILER FLAGS...
set -euo pipefail
root=$1 eigen=$2
shift 2
compiler=("$@")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fresh_tree() {
  rm -rf "${tree:?}"/*
  cp -r "$root/include" "$root/src" "$tree"
}

compile() {
  "${compiler[@]}" -std=c++20 -fsyntax-only -I"$tree/include" -I"$tree/src" -isystem "$eigen" "$tree/src/$1" 2>&1
}

# expect NAME TEXT SOURCE: compiling fails and says TEXT; with an empty TEXT it succeeds.
expect() {
  local name=$1 text=$2 output status=0
  output=$(compile "$3") || status=$?
  if [ -z "$text" ] && [ "$status" -eq 0 ]; then return; fi
  if [ -n "$text" ] && [ "$status" -ne 0 ] && [[ $output == *"$text"* ]]; then return; fi
  printf '%s: %s: expected %s, got status %d and:\n%s\n' "$name" "$3" "${text:-success}" "$status" "${output:0:2000}"
  failures=$((failures + 1))
}

header=include/mixcert/network/layer_spec.h
kinds=src/network/layers/layer_kind.h
source=network/layers/kinds/planted.cc

# The struct and the variant.
plant_spec() {
  fresh_tree
  sed -i -e 's|^/// An image as a vector.$|struct PlantedSpec {\n  static constexpr std::string_view kType = "planted";\n};\n\n&|' \
    -e 's/MaxPool2dSpec, FlattenSpec,/MaxPool2dSpec, PlantedSpec, FlattenSpec,/' "$tree/$header"
}
# And its answers, which are those of flatten.
plant_kind() {
  plant_spec
  sed -i 's/^NewLayerKind kind(const FlattenSpec& spec);$/&\nNewLayerKind kind(const PlantedSpec\& spec);/' \
    "$tree/$kinds"
  sed 's/Flatten/Planted/g' "$tree/src/network/layers/kinds/flatten.cc" >"$tree/src/$source"
}

plant_kind
expect 'a kind with its source' '' network/layers/layer_kind.cc
expect 'a kind with its source' '' "$source"

# Sources of io need a library that need not lie where the compiler looks by itself.
has_json=false
if "${compiler[@]}" -std=c++20 -fsyntax-only -x c++ - <<<'#include <nlohmann/json.hpp>' 2>/dev/null; then has_json=true; fi

plant_spec
expect 'a kind without its source' 'PlantedSpec' network/layers/layer_kind.cc
if $has_json; then expect 'a kind that files do not know' 'PlantedSpec' io/models/layer_fields.cc; fi

plant_kind
sed -i '/kType = "planted"/d' "$tree/$header"
expect 'a kind without a name in files' 'kType' "$source"

for answer in details tensors check_numbers geometry tell_input step charge_step expand; do
  plant_kind
  # From the line of the answer to the one on which its body ends.
  awk -v answer="$answer" '
    !inside && $0 ~ " " answer "\\(.*override \\{" { inside = 1 }
    inside { if (/\}$/) inside = 0; next }
    { print }' "$tree/src/$source" >"$tree/planted"
  if cmp -s "$tree/planted" "$tree/src/$source"; then
    printf 'the kind has no answer %s\n' "$answer"
    failures=$((failures + 1))
  fi
  mv "$tree/planted" "$tree/src/$source"
  expect "no $answer" "$answer" "$source"
done

# A family of weights: every source that tells families apart asks for it.
fresh_tree
sed -i -e 's|^using WeightCovariance =$|struct PlantedWeights {};\n\n&|' \
  -e 's/LowRankWeights, FullWeights, JointWeights, SharedWeights>;/LowRankWeights, FullWeights, JointWeights, SharedWeights, PlantedWeights>;/' \
  "$tree/include/mixcert/network/weight_law.h"
for asking in weight_law dense_layer layer_moments layer_validation layer_scale layers/layer_transforms layers/layer_placement; do
  expect 'a family of weights' 'PlantedWeights' "network/$asking.cc"
done
if $has_json; then expect 'a family of weights' 'PlantedWeights' io/models/dense_tensors.cc; fi
[ "$failures" -eq 0 ]
