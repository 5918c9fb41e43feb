# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The examples in the docstrings."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["", "._layers", "._network", "._mixture", "._transport", "._certify", "._result", "._tune"])
def test_docstrings(name):
    failures, _ = doctest.testmod(importlib.import_module("mixcert" + name))
    assert failures == 0
