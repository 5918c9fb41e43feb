# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The examples in the docstrings."""

import doctest
import importlib

import pytest


MODULES = "_layers _network _mixture _transport _certify _result _result_list _tune _import _compare kernels torch".split()


@pytest.mark.parametrize("name", [""] + ["." + module for module in MODULES])
def test_docstrings(name):
    if name == ".torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    failures, _ = doctest.testmod(importlib.import_module("mixcert" + name))
    assert failures == 0
