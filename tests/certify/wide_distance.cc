// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Distances of samples on the line in long double.
#include <algorithm>
#include <cmath>

#include "certify/scale_reference.h"

namespace mixcert::testing {
namespace {

/// Root mean square and the standard error of the mean square, both of differences in `unit`s.
struct Apart {
  Wide distance = 0;
  Wide noise = 0;
};

Apart sorted_distance(WideVector a, WideVector b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto count = static_cast<Wide>(a.size());
  Wide sum = 0;
  Wide fourth = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Wide square = (a[i] - b[i]) * (a[i] - b[i]);
    sum += square;
    fourth += square * square;
  }
  const Wide mean = sum / count;
  const Wide spread = std::sqrt(std::max<Wide>(0, fourth / count - mean * mean) / count);
  const Wide distance = std::sqrt(mean);
  return {distance, distance > 0 ? spread / (2 * distance) : 0};
}

WideVector half(const WideVector& all, bool second) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return second ? WideVector(middle, middle + static_cast<std::ptrdiff_t>(all.size() / 2))
                : WideVector(all.begin(), middle);
}

Wide coordinate_distance(const WideVector& network, const WideVector& mixture) {
  const Apart apart = sorted_distance(network, mixture);
  const Wide floor = std::max(sorted_distance(half(network, false), half(network, true)).distance,
                              sorted_distance(half(mixture, false), half(mixture, true)).distance);
  // Where both laws are points there is no noise, and a floor of zero is right.
  return std::max<Wide>(0, apart.distance - 3 * floor - 6 * apart.noise);
}

}  // namespace

Wide sampled_lower_bound(const WideSamples& samples, const GaussianMixture& mixture, std::uint64_t seed) {
  const WideSamples drawn = wide_samples(mixture, static_cast<Index>(samples.front().size()), seed);
  Wide sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Wide distance = coordinate_distance(samples[i], drawn[i]);
    sum += distance * distance;
  }
  // Long double of a point mass: both roundings are counted.
  return std::sqrt(sum) * (1 - 1e-12L);
}

}  // namespace mixcert::testing
