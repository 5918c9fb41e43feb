// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which mixture is returned: a method's own, or one whose mean and deviations are nearer to the network's,
// whose distance from it is then part of the bound (B.4).
#pragma once

#include "methods/approximation_method.h"
#include "mixcert/certificate/options.h"

namespace mixcert {

/// The moment method's mixture has the network's mean and covariance, which people read before they read a
/// bound: it stays unless another bound is this part of its own or less.
inline constexpr double kWorthOwnMoments = 0.5;

/// The mixture is replaced, and the bound gets what that costs (B.4).
void replace_mixture(GaussianMixture mixture, const UpperBound& moved, const Options& options,
                     Certified& made);

/// Would a mixture that is so far from its own have the wanted bound no more?
bool would_miss(const Options& options, const Certified& made, const UpperBound& moved);

/// Weights and masks that several outputs share correlate neurons so much that the surrogate's deviations are
/// off by several per cent: the Gaussian gets those of second order. Fitted ones have their own (D.17).
void give_second_order(const Prepared& prepared, Certified& made);

}  // namespace mixcert
