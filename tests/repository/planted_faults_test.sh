#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Makes small source trees, one with no fault and the others with one each, and requires that
# check_includes, check_repository and check_guards accept the first and name the fault of the others.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
licence='// Licensed under the Apache License, Version 2.0; see LICENSE.'
failures=0

# A tree without a fault.
plant_clean_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/src/certify" "$tree/include/mixcert/core"
  printf '%s\n#include "mixcert/core/error.h"\n#include <vector>\n' "$licence" >"$tree/src/certify/bound.cc"
  printf '%s\n#pragma once\n' "$licence" >"$tree/include/mixcert/core/error.h"
  printf '# Changelog\n\n## Unreleased\n' >"$tree/CHANGELOG.md"
}

# expect CHECK TEXT: the check fails and its output contains TEXT; with an empty TEXT it passes.
expect() {
  local output status=0
  output=$(MIXCERT_ROOT=$tree "$scripts/$1" 2>&1) || status=$?
  if [ -z "$2" ] && [ "$status" -eq 0 ]; then return; fi
  if [ -n "$2" ] && [ "$status" -ne 0 ] && [[ $output == *"$2"* ]]; then return; fi
  printf '%s: expected %s, got status %d and:\n%s\n' "$1" "${2:-success}" "$status" "$output"
  failures=$((failures + 1))
}

plant_clean_tree
expect check_includes ''
expect check_repository ''
expect check_guards ''

echo '#include "mixcert/io/array.h"' >>"$tree/src/certify/bound.cc"
expect check_includes 'src/certify/bound.cc:4: module certify must not include io'

plant_clean_tree
mkdir -p "$tree/checker"
echo '#include "mixcert/core/error.h"' >"$tree/checker/proof.cc"
expect check_includes 'checker: must include nothing of ours but its own headers (mixcert/core/error.h)'

plant_clean_tree
echo '  # include "io/json.h"' >>"$tree/include/mixcert/core/error.h"
expect check_includes 'module core must not include io'

plant_clean_tree
echo '#include "../core/error.h"' >>"$tree/src/certify/bound.cc"
expect check_includes 'not relative'

plant_clean_tree
mkdir "$tree/src/unlisted" && cp "$tree/src/certify/bound.cc" "$tree/src/unlisted"
expect check_includes 'module unlisted is not in the list'

plant_clean_tree
mkdir -p "$tree/src/methods/moment/plan" "$tree/src/methods/joint" "$tree/src/theorems/one" "$tree/src/theorems/other"
printf '%s\n#include "certificate/seal.h"\n' "$licence" | tee "$tree/src/methods/moment/tracer.cc" >"$tree/src/methods/moment/plan/planner.cc"
expect check_includes 'src/methods/moment/plan/planner.cc:2: only certificates and tracers make sealed traces'
printf '%s\n#include "methods/moment/plan/planner.h"\n' "$licence" >"$tree/src/methods/moment/plan/planner.cc"
cp "$tree/src/methods/moment/plan/planner.cc" "$tree/src/methods/moment/certificate.cc"
expect check_includes 'src/methods/moment/certificate.cc:2: a certificate must not see planners'
rm "$tree/src/methods/moment/certificate.cc"
printf '%s\n#include "methods/signature/trace.h"\n' "$licence" >"$tree/src/methods/joint/trace.cc"
expect check_includes 'src/methods/joint/trace.cc:2: a method must not include another method'
rm "$tree/src/methods/joint/trace.cc"
printf '%s\n#include "theorems/other/lemma.h"\n' "$licence" >"$tree/src/theorems/one/theorem.cc"
expect check_includes 'src/theorems/one/theorem.cc:2: a theorem must not include another theorem'
rm "$tree/src/theorems/one/theorem.cc"
printf '%s\n#include "core/normal.h"\n' "$licence" >"$tree/include/mixcert/core/private.h"
expect check_includes 'include/mixcert/core/private.h:2: an installed header must not include a private one'
rm "$tree/include/mixcert/core/private.h"
expect check_includes ''

plant_clean_tree
for _ in $(seq 450); do echo '//' >>"$tree/src/certify/bound.cc"; done
expect check_repository 'longer than 450 lines'

plant_clean_tree
sed -i 1d "$tree/src/certify/bound.cc"
expect check_repository 'no licence line'

plant_clean_tree
printf '// %s: later\n' "TO""DO" >>"$tree/src/certify/bound.cc"
expect check_repository 'unfinished'

plant_clean_tree
printf 'switch (f) {\n  case F::Tanh:\n    return 1;\n}\nswitch (g) {\n  default:\n    return 2;\n}\n' \
  >>"$tree/src/certify/bound.cc"
expect check_repository ''
printf 'switch (f) {\n  case F::Tanh:\n    return 1;\n  default:\n    return 2;\n}\n' >>"$tree/src/certify/bound.cc"
expect check_repository 'src/certify/bound.cc:15:   default:'

plant_clean_tree
echo 'bool peak = f == F::Tanh || f == F::Erf;' >>"$tree/src/certify/bound.cc"
expect check_repository 'activations told apart by name'

plant_clean_tree
printf '/%s/main\n' "wo""rk" >>"$tree/CHANGELOG.md"
expect check_repository 'words that do not belong here'

plant_clean_tree
echo '# Changelog' >"$tree/CHANGELOG.md"
expect check_repository 'Unreleased'

# refuse LINE TEXT: check_guards names TEXT on line 4, and accepts the line as a comment.
refuse() {
  plant_clean_tree
  echo "$1" >>"$tree/src/certify/bound.cc"
  expect check_guards "src/certify/bound.cc:4: $2"
  plant_clean_tree
  echo "// $1" >>"$tree/src/certify/bound.cc"
  expect check_guards ''
}
refuse 'double a = std::max(0.0, b);' 'std::max(0.0,'
refuse 'double a = std::max(b * (1.0 - f(c, d)), 0.0);' 'std::max(b'
refuse 'double a = std::max<double>(0, b);' 'std::max<double>(0,'
refuse 'double a = std::fmax(b, 0.0);' 'std::fmax(b, 0.0)'
refuse 'double a = std::max({0.0, b, c});' 'std::max({0.0,'
refuse 'Vector a = b.cwiseMax(0.0).cwiseSqrt();' '.cwiseMax(0.0)'
refuse 'Array a = (b - 1.0).max(0.0F);' '.max(0.0F)'

plant_clean_tree
printf 'double a = std::max(\n    0.0, b);\n' >>"$tree/src/certify/bound.cc"
expect check_guards 'src/certify/bound.cc:4: std::max( 0.0,'

plant_clean_tree
printf 'double a = std::max(b, c) + std::max(0.5, b) + d.cwiseMax(e).sum() + f(0.0, b);\n' >>"$tree/src/certify/bound.cc"
expect check_guards ''

plant_clean_tree
mkdir -p "$tree/src/report/pages"
printf '%s\ndouble a = std::max(0.0, b);\n' "$licence" >"$tree/src/report/pages/prediction_section.cc"
expect check_guards ''

[ "$failures" -eq 0 ]
