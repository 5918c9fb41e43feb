#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Runs scripts/compare_dropout --quick and requires two rows for each of two networks in which all theorems give no more than
# masks one by one, and what is proven from below is no more than either.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$scripts/compare_dropout" --quick --networks "$folder/networks" | tee "$folder/printed"
awk -F ' *[|] *' '
  function is_number(x) { return x ~ /^[0-9.]+(e[-+]?[0-9]+)?$/ }
  $3 == "1" || $3 == "2" {
    ++rows
    # Columns: 4 masks one by one, 5 all theorems, 8 no Gaussian below, 9 mixture not below, 12 and 13 times.
    if (!is_number($4) || !is_number($5) || $5 <= 0 || $5 > 1.001 * $4) bad = bad " " NR
    if (!is_number($9) || $9 > 1.001 * $5 || ($3 == 1 && is_number($8) && $8 > 1.001 * $5)) bad = bad " " NR
    if (is_number($8)) ++proven
    if (!is_number($12) || !is_number($13)) bad = bad " " NR
    if ($5 < 0.5 * $4) ++smaller
  }
  END {
    if (rows != 4) { print "compare_dropout: expected 4 rows of numbers, got " rows + 0; exit 1 }
    if (bad) { print "compare_dropout: bounds that contradict each other in lines" bad; exit 1 }
    if (proven != 2) { print "compare_dropout: expected a lower bound of any Gaussian in 2 rows, got " proven + 0; exit 1 }
    if (!smaller) { print "compare_dropout: expected a bound below half of the coupling"; exit 1 }
  }' "$folder/printed"
