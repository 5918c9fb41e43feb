#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# quick_table_test.sh NAME: runs scripts/NAME --quick and requires one row for each prior, with finite numbers above zero
# where the table has distances or errors.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $1 in
  # Column of the first number to check, of the last, of the prior's name.
  compare_priors) columns=(4 9 3) priors='isotropic fan-in tuned' ;;
  compare_priors_uci) columns=(4 4 2) priors='gp isotropic fan-in tuned isotropic-hmc fan-in-hmc tuned-hmc' ;;
esac
"$scripts/$1" --quick --jobs 1 --out "$folder/table" | tee "$folder/printed"
for prior in $priors; do
  awk -v prior="$prior" -v first="${columns[0]}" -v last="${columns[1]}" -v name="${columns[2]}" '
    $name == prior { ++rows; for (i = first; i <= last; ++i) if ($i !~ /^[0-9]+\.[0-9]+$/ || $i <= 0) bad = 1 }
    END { exit !(rows == 1 && !bad) }' "$folder/printed" || {
    echo "$1: expected one row of numbers for '$prior'"
    exit 1
  }
done
