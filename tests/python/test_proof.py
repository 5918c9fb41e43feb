# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Proofs from Python, and mixcert-check behind check()."""

import os
import pathlib

import numpy as np
import pytest

import mixcert
from conftest import random_network

CHECKER = pathlib.Path(os.environ.get("MIXCERT_PROGRAM", "mixcert")).parent / "mixcert-check"
INPUTS = np.array([[0.3, -0.2, 0.5], [1.1, 0.4, -0.6]])
needs_checker = pytest.mark.skipif(not CHECKER.exists(), reason="mixcert-check is not built")


def certified(**options):
    return mixcert.certify(random_network([3, 8, 2]), INPUTS, method="moment", theorems="coupling", threads=1, **options)


@needs_checker
def test_results_are_proven_again(tmp_path):
    results = certified()
    results.save_proof(tmp_path / "p.proof", tmp_path / "m.safetensors")
    text = mixcert.check(tmp_path / "m.safetensors", tmp_path / "p.proof", program=CHECKER)
    assert "at all 2 inputs" in text
    saved = mixcert.Network.load(tmp_path / "m.safetensors")
    again = mixcert.certify(saved, INPUTS, method="moment", theorems="coupling", threads=1)
    np.testing.assert_array_equal(again.w2_bound, results.w2_bound)


@needs_checker
@pytest.mark.parametrize("place", [0, 2])
def test_dropout_is_proven(tmp_path, place):
    layers = list(random_network([3, 8, 2]).layers)
    layers.insert(place, mixcert.Dropout(0.2))
    results = mixcert.certify(mixcert.Network(layers), INPUTS, method="moment", theorems="coupling", threads=1)
    results.save_proof(tmp_path / "p.proof", tmp_path / "m.safetensors")
    assert "at all 2 inputs" in mixcert.check(tmp_path / "m.safetensors", tmp_path / "p.proof", program=CHECKER)


@needs_checker
def test_what_is_not_proven_is_an_error(tmp_path):
    certified().save_proof(tmp_path / "p.proof", tmp_path / "m.safetensors")
    random_network([3, 7, 2]).save(tmp_path / "other.safetensors")
    with pytest.raises(mixcert.NotProven, match="the proof is about another model"):
        mixcert.check(tmp_path / "other.safetensors", tmp_path / "p.proof", program=CHECKER)
    with pytest.raises(ValueError, match="cannot open"):
        mixcert.check(tmp_path / "absent.safetensors", tmp_path / "p.proof", program=CHECKER)


def test_results_of_other_theorems_have_no_proof(tmp_path):
    results = mixcert.certify(random_network([3, 8, 2]), INPUTS, method="signature", threads=1)
    with pytest.raises(ValueError, match="proof: expected a bound of method moment"):
        results.save_proof(tmp_path / "p.proof", tmp_path / "m.safetensors")
    assert not (tmp_path / "p.proof").exists()
    with pytest.raises(ValueError, match="expected inputs one by one|expected a single network"):
        mixcert.certify(random_network([3, 8, 2]), INPUTS, joint=True)
        mixcert.ResultList([mixcert.certify(random_network([3, 8, 2]), INPUTS, joint=True, threads=1)]).save_proof(
            tmp_path / "p.proof", tmp_path / "m.safetensors"
        )


def test_a_missing_checker_says_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="./run builds it as build/release/mixcert-check"):
        mixcert.check("m", "p")
