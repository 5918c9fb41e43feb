// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Distances of the law of one output: to its Gaussian (Y.1), to N(0,1) in units (Y.5 - Y.7), and where a weak
// signal correlates
// its neurons (Y.30).
#pragma once

#include "methods/moment/moment_trace.h"
#include "methods/moment/theorem.h"
#include "mixcert/activation/activation.h"
#include "mixcert/network/dense_layer.h"
#include "mixcert/network/network.h"

namespace mixcert {

// The local error of the last layer for one output, by the law of the output itself (Y.1).

/// W2 between the true push of `piece` through activation and layer and the Gaussian `pushed`. `law` has the
/// moments of the activations. Infinite where (Y.1) does not apply: several outputs, dependent neurons, a
/// bias without noise, and so on. Weights that are not Gaussian count as the Gaussians that stand for them.
UpperBound output_law_distance(const ActivationMap& activation, const DenseLayer& layer,
                               const Gaussian& piece, const SurrogateLaw& law, const Gaussian& pushed);

/// The same for the output's Gaussian, and a mixture of at most `most` components in its place where that is
/// clearly closer (Y.40): the fewest that are nearly as close as more, or that make the distance at most
/// `wanted`.
OutputFit fit_output(const Situation& situation, Index most, double wanted);

/// The same behind dropout, docs/theory/dropout-laws.md (D.8).
OutputFit fit_noisy_masked_output(const Situation& situation, Index most, double wanted);

// The last hidden layer's term where its neurons are correlated by a weak signal, docs/theory/two_layers.md
// (Y.30): without the signal they are independent, and the law of one output can be computed (Y.1).

/// W2 between the push of the last layer's piece and the output's Gaussian, where (Y.30) may hold; infinite
/// where it would certainly not be below `beaten`.
UpperBound weak_signal_distance(const Situation& situation, double beaten);

}  // namespace mixcert
