# Licensed under the Apache License, Version 2.0; see LICENSE.
"""scripts/compare_robustness in its quick form: no attack contradicts a certificate."""

import os
import pathlib
import subprocess
import sys


def test_the_table_is_made():
    source = pathlib.Path(os.environ["MIXCERT_SOURCE_DIRECTORY"])
    command = [sys.executable, str(source / "scripts" / "compare_robustness"), "--quick"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=source).stdout
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines()[2:]]
    assert [row[1] for row in rows] == ["1/255", "2/255"]
    for row in rows:
        correct, by_mean, by_probability, standing = (float(cell.split()[0]) for cell in row[2:6])
        assert correct == 100.0
        assert 0.0 < by_mean <= standing and by_probability <= standing
