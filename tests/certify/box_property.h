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

/// Boxes of `networks` random networks in at most `cells` cells. At each of `points` inputs drawn in a box,
/// and at an input of every cell found by gradient ascent of what contradicts its bound: some cell holds it,
/// and none that does is contradicted by the mean and the deviations there, which are the network's own or,
/// where those are not known exactly, within the certificate at that input.
void check_boxes(std::uint64_t networks, Index cells, Index points);

}  // namespace mixcert::testing
