// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Samples of a mixture: labels first, then all samples of a component at once, so that
// each covariance is factored once and only if its component occurs.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/simulate/gaussian_sampler.h"

namespace mixcert {
namespace {

/// For each component, the samples that belong to it; labels by inversion.
std::vector<std::vector<Index>> draw_members(const Vector& weights, Index samples, Generator& generator) {
  std::vector<double> cumulative;
  double total = 0.0;
  for (const double weight : weights) cumulative.push_back(total += weight);
  std::vector<std::vector<Index>> members(cumulative.size());
  for (Index s = 0; s < samples; ++s) {
    // The product may round up to `total`, where the search would pass the last component.
    const double u = std::min(uniform(generator) * total, std::nextafter(total, 0.0));
    const auto place = std::upper_bound(cumulative.begin(), cumulative.end(), u);
    members[static_cast<std::size_t>(place - cumulative.begin())].push_back(s);
  }
  return members;
}

}  // namespace

Matrix sample_mixture(const GaussianMixture& mixture, Index samples, std::uint64_t seed, Stream stream,
                      std::uint64_t index) {
  require(mixture.size() > 0, "sample_mixture: the mixture has no components");
  require(samples >= 0, "sample_mixture: expected samples >= 0, got " + std::to_string(samples));
  Generator generator = make_generator(seed, stream, index);
  const auto members = draw_members(mixture.weights(), samples, generator);
  Matrix result(mixture.dimension(), samples);
  for (Index i = 0; i < mixture.size(); ++i) {
    const std::vector<Index>& mine = members[static_cast<std::size_t>(i)];
    if (mine.empty()) continue;
    result(Eigen::all, mine) =
        GaussianSampler(mixture.component(i)).draw(generator, static_cast<Index>(mine.size()));
  }
  return result;
}

}  // namespace mixcert
