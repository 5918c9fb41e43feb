# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify() of torch modules: one line, and the numbers of from_torch()."""

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402


def dropout_net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))


def test_modules_are_read_and_certified():
    model = dropout_net()
    inputs = torch.randn(4, 3)
    results = mixcert.certify(model, inputs, threads=1)
    expected = mixcert.certify(mixcert.from_torch(model), inputs.numpy(), threads=1)
    np.testing.assert_array_equal(results.w2_bound, expected.w2_bound)
    np.testing.assert_array_equal(results.mean(), expected.mean())


def test_images_say_their_shape():
    torch.manual_seed(2)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, 3))
    results = mixcert.certify(model, torch.randn(2, 1, 6, 6), threads=1)
    assert results.mean().shape == (2, 3)


def test_trained_modules_are_read_anew():
    model = dropout_net()
    inputs = torch.ones(1, 3)
    before = mixcert.certify(model, inputs, threads=1).mean()
    with torch.no_grad():
        model[3].bias.add_(1.0)
    np.testing.assert_allclose(mixcert.certify(model, inputs, threads=1).mean(), before + 1.0, rtol=1e-6)


def test_posteriors_stand_beside_modules():
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    law = {}
    for name in ("0", "2"):
        for kind in ("weight", "bias"):
            value = getattr(model[int(name)], kind).detach().numpy()
            law[f"{name}.mu_{kind}"] = value
            law[f"{name}.rho_{kind}"] = np.full(value.shape, -2.0)
    inputs = np.array([[0.1, 0.2]])
    results = mixcert.certify(model, inputs, posterior=law, threads=1)
    expected = mixcert.certify(mixcert.from_torch(model, law), inputs, threads=1)
    np.testing.assert_array_equal(results.w2_bound, expected.w2_bound)
    assert results.std()[0, 0] > 0.05


def test_inputs_with_gradients_are_refused():
    with pytest.raises(ValueError, match="detach"):
        mixcert.certify(dropout_net(), torch.ones(2, 3, requires_grad=True))


def test_a_list_of_tensors_is_a_batch():
    model, inputs = dropout_net(), torch.randn(2, 3)
    expected = mixcert.certify(model, inputs, threads=1).w2_bound
    np.testing.assert_array_equal(mixcert.certify(model, list(inputs), threads=1).w2_bound, expected)
    with pytest.raises(ValueError, match=r"inputs: expected tensors of one shape, got \[3\] and \[4\]"):
        mixcert.certify(model, [torch.zeros(3), torch.zeros(4)])


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="a torch module or a Laplace object, got list"):
        mixcert.certify([1, 2], [0.0])
    network = mixcert.Network([mixcert.Dense([[1.0]])])
    with pytest.raises(TypeError, match="posterior: expected none beside a mixcert.Network"):
        mixcert.certify(network, [0.0], posterior={"a": 1})


def test_one_image_of_a_module():
    torch.manual_seed(2)
    model = nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, 3))
    image = torch.randn(3, 6, 6)
    one = mixcert.certify(model, image, threads=1)
    assert isinstance(one, mixcert.Result)
    assert one.w2_bound == mixcert.certify(model, image[None], threads=1)[0].w2_bound


@pytest.mark.parametrize("library", ["ivon", "vogn", "pyro", "pyro-diagonal", "numpyro"])
def test_optimizers_and_guides_stand_beside_modules(library):
    import stand_ins

    case = stand_ins.CASES[library](np.random.default_rng(3))
    inputs = torch.tensor([[0.1, -0.4, 0.7]], dtype=torch.float64)
    found = mixcert.certify(case.module, inputs, posterior=case.posterior, threads=1)
    drawn = stand_ins.sample(case.truth, inputs[0].numpy(), 20000, np.random.default_rng(0))
    np.testing.assert_allclose(found.std()[0], drawn.std(axis=0), rtol=0.05)
