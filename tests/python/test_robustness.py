# Licensed under the Apache License, Version 2.0; see LICENSE.
"""scripts/compare_robustness and compare_cells in their quick forms: no attack contradicts a certificate, and bounds fall."""

import os
import pathlib
import subprocess
import sys


def rows_of(script):
    source = pathlib.Path(os.environ["MIXCERT_SOURCE_DIRECTORY"])
    command = [sys.executable, str(source / "scripts" / script), "--quick"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=source).stdout
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines()[2:]]


def test_the_table_of_classes_is_made():
    rows = rows_of("compare_robustness")
    assert [row[1] for row in rows] == ["1/255", "2/255"]
    for row in rows:
        correct, by_mean, by_vote, by_softmax, standing = (float(cell.split()[0]) for cell in row[2:7])
        assert correct == 100.0
        assert 0.0 < by_mean <= standing and 0.0 < by_vote and by_softmax <= standing


def test_the_table_of_cells_is_made():
    rows = rows_of("compare_cells")
    assert [row[0].split()[0] for row in rows] == ["1", "1", "2", "2", "8", "8", "8", "8"]
    for one, many in zip(rows[::2], rows[1::2]):
        assert int(one[2]) == 1 < int(many[2]) <= 20
        assert float(many[3]) < float(one[3])
        # The band of cells against that of single inputs: never narrower.
        assert 1.0 <= float(many[5]) < float(one[5]) and float(many[5]) <= float(many[6])
