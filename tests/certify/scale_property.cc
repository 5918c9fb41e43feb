// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Seeds are fixed, so a failure is reproduced by the number of its case.
#include "certify/scale_property.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "certify/scale_networks.h"
#include "certify/scale_reference.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/transport/mixture_transport.h"

namespace mixcert::testing {
namespace {

struct Summary {
  Index compared = 0;  // bounds of scaled networks beside those of unscaled ones
  Index refused = 0;   // of these
  Index moderate = 0;  // of these, with exponents that nothing has to refuse
  Index moderate_refused = 0;
  Index odd = 0;
  Index odd_refused = 0;
  Index sampled = 0;   // bounds beside samples
  Index exact = 0;     // bounds beside moments in fifty digits
  Index unusable = 0;  // refused at ordinary scale
};

Services transport_services() {
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  return services;
}

/// Nothing where the library refuses.
std::optional<Result> certified(const ScaleCase& tested) {
  try {
    return certify(tested.network, tested.inputs, tested.options, transport_services()).front();
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_finite(const Result& result) {
  if (!std::isfinite(result.w2.value) || !std::isfinite(result.w1.value)) return false;
  for (const Gaussian& component : result.mixture.components()) {
    if (!component.mean.allFinite() || !component.covariance.to_dense().allFinite()) return false;
  }
  return true;
}

PreciseMoments shifted_moments(PreciseMoments moments, int exponent) {
  for (Precise& mean : moments.mean) mean = ldexp(mean, exponent);
  for (Precise& variance : moments.variance) variance = ldexp(variance, 2 * exponent);
  return moments;
}

Precise root_of_second_moment(const PreciseMoments& moments) {
  Precise sum = 0;
  for (std::size_t i = 0; i < moments.mean.size(); ++i)
    sum += moments.mean[i] * moments.mean[i] + moments.variance[i];
  return sqrt(sum);
}

/// How far bounds of one law may be apart. Choices weigh numbers in the units they have, at ordinary scales
/// too: signatures and masks choose grids and clusters (up to a tenth), splits which neurons to split (up to
/// a half), correlated layers the metric by its value before rounding (up to three per cent).
double tolerance_of(const ScaleCase& tested) {
  if (tested.options.pieces > 1) return 0.6;
  const bool chooses = tested.options.method == Method::Signature || tested.network.has_masks();
  return chooses ? 0.1 : tested.network.correlated_layer().empty() ? 0.01 : 0.03;
}

/// The scaled network's output is 2^e times the other's: so is its bound, and the mixtures are as near as the
/// bounds say.
void expect_same_law(const Result& plain, const Result& scaled, int exponent, double tolerance) {
  const PreciseMoments moments = precise_moments(plain.mixture);
  const Precise size = root_of_second_moment(moments);
  // Of an output that is zero whatever the weights are, the bound is the smallest number the engine knows.
  if (size == 0) return;
  const Precise bound = ldexp(Precise(scaled.w2.value), -exponent);
  // What rounding alone leaves may depend on the order of operations.
  // Outputs below 2^-70 get the charge of that size (R.9).
  const Precise slack = tolerance * plain.w2.value + 1e-9 * size + ldexp(Precise(1.0), -140 - exponent);
  EXPECT_LE(abs(bound - plain.w2.value), slack)
      << "scaled " << scaled.w2.value << " by 2^" << exponent << " (" << static_cast<double>(bound)
      << "), plain " << plain.w2.value;
  const Precise apart =
      moment_lower_bound(moments, shifted_moments(precise_moments(scaled.mixture), -exponent));
  EXPECT_LE(apart, bound + plain.w2.value) << "mixtures";
}

/// The moments in fifty digits where they are known, and samples, are no farther from the mixture than the
/// bound.
void expect_truth_below(const ScaleCase& tested, const Result& result, Index samples, std::uint64_t seed,
                        Summary& summary) {
  if (is_linear(tested.network) || is_deterministic(tested.network)) {
    PreciseMoments exact;
    for (Index i = 0; i < tested.inputs.cols(); ++i) {
      const PreciseMoments one = precise_moments(tested.network, tested.inputs.col(i));
      exact.mean.insert(exact.mean.end(), one.mean.begin(), one.mean.end());
      exact.variance.insert(exact.variance.end(), one.variance.begin(), one.variance.end());
    }
    EXPECT_LE(moment_lower_bound(exact, precise_moments(result.mixture)), result.w2.value) << "moments";
    ++summary.exact;
  }
  if (is_deterministic(tested.network)) return;
  const WideSamples drawn = wide_samples(tested.network, tested.inputs, samples, seed);
  EXPECT_LE(sampled_lower_bound(drawn, result.mixture, seed + 1), result.w2.value) << "samples";
  ++summary.sampled;
}

void check_scaled(std::uint64_t index, bool cancels, ScaleRange range, Index samples, Summary& summary) {
  ScaleCase tested = scale_case(index, true);
  const std::optional<Result> plain = certified(tested);
  if (!plain) {
    ++summary.unusable;
    return;
  }
  Generator generator = make_generator(index, Stream::Example, 7010);
  std::vector<int> exponents = random_exponents(generator, tested.network.layer_count(), range);
  if (cancels) exponents.back() = 0;
  tested.network = scaled_network(tested.network, exponents, generator);
  SCOPED_TRACE(describe(tested));
  const std::optional<Result> scaled = certified(tested);
  const bool is_moderate = range == ScaleRange::Moderate;
  ++summary.compared;
  summary.moderate += is_moderate ? 1 : 0;
  if (!scaled) {
    ++summary.refused;
    summary.moderate_refused += is_moderate ? 1 : 0;
    return;
  }
  EXPECT_TRUE(is_finite(*scaled)) << scaled->w2.value;
  if (!is_finite(*scaled)) return;
  expect_same_law(*plain, *scaled, exponents.back(), tolerance_of(tested));
  expect_truth_below(tested, *scaled, samples, index, summary);
}

void check_odd(std::uint64_t index, Index samples, Summary& summary) {
  const ScaleCase tested = odd_case(index);
  SCOPED_TRACE(describe(tested));
  ++summary.odd;
  const std::optional<Result> result = certified(tested);
  if (!result) {
    ++summary.odd_refused;
    return;
  }
  EXPECT_TRUE(is_finite(*result)) << result->w2.value;
  if (is_finite(*result)) expect_truth_below(tested, *result, samples, index, summary);
}

}  // namespace

void check_scale_properties(Index networks, Index samples) {
  if (const char* wanted = std::getenv("MIXCERT_PROPERTY_NETWORKS")) networks = std::atol(wanted);
  Summary summary;
  for (Index i = 0; i < networks; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const auto range = static_cast<ScaleRange>(i / 4 % 3);
    SCOPED_TRACE("case " + std::to_string(i));
    if (i % 4 < 2) {
      check_scaled(index, i % 4 == 0, range, samples, summary);
    } else {
      check_odd(index, samples, summary);
    }
  }
  EXPECT_LE(summary.moderate_refused, 0.4 * static_cast<double>(summary.moderate));
  std::printf(
      "scale properties: %td networks; %td scaled beside unscaled, %td refused (%td of %td at moderate "
      "exponents); "
      "%td at odd scales, %td refused; %td bounds beside %td samples, %td beside exact moments; %td refused "
      "unscaled\n",
      networks, summary.compared, summary.refused, summary.moderate_refused, summary.moderate, summary.odd,
      summary.odd_refused, summary.sampled, samples, summary.exact, summary.unusable);
}

}  // namespace mixcert::testing
