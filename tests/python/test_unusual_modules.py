# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Modules with options and operators away from their defaults (unusual_modules.py): each is read rightly or
refused in one line, none wrongly."""

import copy

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

import unusual_modules  # noqa: E402
from torch_nets import outputs  # noqa: E402

OUTCOMES = {}
SAMPLES = 20000


def built(name):
    make, shape = unusual_modules.CASES[name]
    torch.manual_seed(3)
    module = make().double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(0, 0.6)
    return module, shape


def drawn(module, x):
    """Outputs with the dropout of training and the running statistics of evaluation."""
    own = copy.deepcopy(module).train()
    for part in own.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.eval()
    with torch.no_grad():
        return own(x.expand(SAMPLES, *x.shape)).reshape(SAMPLES, -1).numpy()


def is_random(samples):
    return np.ptp(samples, axis=0).max() > 1e-9


def check_law(net, module, x):
    ours = mixcert.simulate(net, x.numpy().ravel(), samples=SAMPLES)
    # A module that is random in evaluation mode alone is as it is there.
    theirs = next((y for y in (drawn(module, x), drawn_in_evaluation(module, x)) if is_random(y)))
    error = 6.0 * theirs.std(axis=0) / np.sqrt(SAMPLES)
    assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 1.5 * error + 1e-12)
    assert np.allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.05)


def drawn_in_evaluation(module, x):
    with torch.no_grad():
        return module(x.expand(SAMPLES, *x.shape)).reshape(SAMPLES, -1).numpy()


@pytest.mark.parametrize("name", unusual_modules.CASES)
def test_read_rightly_or_refused(name):
    module, shape = built(name)
    try:
        net = mixcert.from_torch(module, input_shape=shape if len(shape) == 3 else None)
    except ValueError as error:
        assert "\n" not in str(error) and len(str(error)) < 400
        OUTCOMES[name] = f"refused: {error}"
        return
    sizes = torch.tensor([0.3, 1, 1, 3, 3, 9]).reshape(6, *[1] * len(shape))
    inputs = sizes * torch.randn(6, *shape, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
    OUTCOMES[name] = "read"
    assert not any("not compared" in line for line in net.assumptions)
    if is_random(mixcert.simulate(net, inputs[0].numpy().ravel(), samples=50)):
        check_law(net, module, inputs[1])
        OUTCOMES[name] = "read, random"
        return
    with torch.no_grad():
        theirs = outputs(module(inputs))
    ours = mixcert.certify(net, inputs.numpy().reshape(6, -1)).mean()
    if any("softmax" in line for line in net.assumptions):
        ours = torch.softmax(torch.tensor(ours), 1).numpy()
    assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())


def test_a_third_is_read():
    """Refusing everything would be safe and of no use."""
    if set(OUTCOMES) != set(unusual_modules.CASES):
        pytest.skip("only part of the modules was tried")
    for name, outcome in OUTCOMES.items():
        print(f"{name}: {outcome}")
    count = sum(outcome.startswith("read") for outcome in OUTCOMES.values())
    print(f"{len(OUTCOMES)} modules: {count} read rightly, {len(OUTCOMES) - count} refused")
    assert len(OUTCOMES) >= 100 and count >= len(OUTCOMES) / 3
