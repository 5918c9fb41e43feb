// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Boxes of inputs of random networks in cells (M.11), against certificates at points of the boxes.
#pragma once

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert::testing {

InputBox cube(Index features, double lower, double upper);
bool contains(const InputBox& cell, const Vector& x);

/// The defaults, in one thread.
Options at_points();

/// No more than W2(a, b) (Gelbrich, with the variances pooled).
double least_distance(const GaussianMixture& a, const GaussianMixture& b);

/// Boxes of `networks` random networks in at most `cells` cells. At each of `points` inputs of a box, drawn,
/// or found by steps towards what contradicts the bound most: some cell holds it, and no cell that does is
/// contradicted by the certificate there.
void check_boxes(std::uint64_t networks, Index cells, Index points);

}  // namespace mixcert::testing
