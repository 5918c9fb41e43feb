// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A prior against a target law: certificates by the triangle inequality over each method's mixture, estimates
// by (C.1), (C.2) and (C.5).
#include "mixcert/statistics/prior_comparison.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "certificate/replaced_weights.h"
#include "methods/joint/joint_tracer.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixcert/transport/mixture_transport.h"
#include "quantize/signature.h"
#include "statistics/coupled_simulation.h"

namespace mixcert {
namespace {

using O = PriorComparisonOptions;

constexpr Index kMaxSamples = 1'000'000'000;
constexpr Index kMaxEmpirical = 5000;

double gelbrich_of(const GaussianMixture& a, const GaussianMixture& b) {
  return std::sqrt(gelbrich_squared(a.mean(), a.covariance(), b.mean(), b.covariance()));
}

/// Gelbrich distance of a sample's moments.
double sample_gelbrich(const Matrix& samples, const GaussianMixture& target) {
  const Vector mean = samples.rowwise().mean();
  const Matrix centred = samples.colwise() - mean;
  const Matrix covariance = centred * centred.transpose() / static_cast<double>(samples.cols());
  return std::sqrt(gelbrich_squared(mean, covariance, target.mean(), target.covariance()));
}

/// Why the joint moment method does not cover the network; "" where it does.
std::string moment_gap(const Network& network) {
  if (network.has_masks()) return "the network has dropout";
  for (Index k = 0; k < network.layer_count(); ++k) {
    if (!network.layer(k).is_gaussian()) return "the network has weights that are not Gaussian";
  }
  return network.correlated_layer();
}

Options certify_options(Method method, const O& options) {
  Options result;
  result.method = method;
  result.joint = true;
  result.seed = options.seed;
  result.threads = options.threads;
  result.max_memory_in_gib = options.max_memory_in_gib;
  if (method == Method::Signature) {
    result.signature_size = options.signature_size;
    result.components = options.components;
  }
  return result;
}

PriorCertificate certificate_by(Method method, const Network& network, ConstMatrixRef inputs,
                                const GaussianMixture& target, const O& options, const CancelFlag* cancel) {
  PriorCertificate certificate;
  certificate.method = method;
  Services services;
  services.cancel = cancel;
  try {
    const Result result = certify(network, inputs, certify_options(method, options), services).front();
    certificate.bound = result.w2.value;
    certificate.distance = certified_mixture_distance(result.mixture, target);
    certificate.w2 = next_up(certificate.bound + certificate.distance);
    certificate.gelbrich = gelbrich_of(result.mixture, target);
  } catch (const ResourceError& error) {
    certificate.gap = error.what();
  }
  return certificate;
}

void add_certificates(const Network& network, ConstMatrixRef inputs, const GaussianMixture& target,
                      const O& options, const CancelFlag* cancel, PriorComparison& comparison) {
  const std::string gap = moment_gap(network);
  PriorCertificate moment;
  moment.gap = gap;
  if (gap.empty()) moment = certificate_by(Method::Moment, network, inputs, target, options, cancel);
  comparison.certificates.push_back(std::move(moment));
  if (options.signature_size > 0) {
    comparison.certificates.push_back(
        certificate_by(Method::Signature, network, inputs, target, options, cancel));
  }
  for (const PriorCertificate& certificate : comparison.certificates) {
    if (certificate.w2 < comparison.w2_certified) comparison.w2_certified = certificate.w2;
  }
}

void add_sampled_moments(const Network& network, ConstMatrixRef inputs, const GaussianMixture& target,
                         const O& options, const CancelFlag* cancel, PriorComparison& comparison) {
  const Matrix drawn =
      simulate_joint(network, inputs, {options.samples, options.seed, options.threads, cancel});
  comparison.samples = options.samples;
  comparison.lower = gelbrich_lower_bound(drawn, target, options.seed, 0);
  comparison.gelbrich_floor =
      sample_gelbrich(sample_mixture(target, options.samples, options.seed, Stream::Floor, 1), target);
  comparison.empirical_samples = std::min(options.empirical_samples, options.samples);
  comparison.empirical =
      empirical_distance(drawn.leftCols(comparison.empirical_samples), target, options.seed, 0);
}

/// (C.5), by way of the moment method's Gaussian, with covariances as close to the network's as can be: what
/// the certificate adds to them would only have to be carried to the target.
void add_coupled_upper(const Network& network, ConstMatrixRef inputs, const GaussianMixture& target,
                       const O& options, const CancelFlag* cancel, PriorComparison& comparison) {
  Services services;
  services.cancel = cancel;
  const Sealed<JointTrace> trace = propagate_jointly(
      network, inputs, certify_options(Method::Moment, options), services, RidgeRule::Least);
  CoupledSamples samples = simulate_coupled_jointly(
      network, inputs, *trace, {options.coupled_samples, options.seed, options.threads, cancel});
  samples.surrogate = carry_samples(samples.surrogate, joint_output(*trace), target, options.seed);
  const CoupledDistance distance = coupled_distance(samples, options.failure_probability);
  comparison.coupled_samples = options.coupled_samples;
  comparison.w2_upper_statistical = distance.w2_upper_statistical;
  comparison.coupled_cost = std::sqrt(distance.square.mean);
  comparison.failure_probability = options.failure_probability;
}

void check_arguments(const Network& network, ConstMatrixRef inputs, const GaussianMixture& target,
                     const O& options) {
  options.validate();
  require(inputs.cols() > 0 && inputs.rows() == network.inputs(),
          "compare_prior: expected inputs of " + std::to_string(network.inputs()) +
              " numbers, one or more, got " + std::to_string(inputs.rows()) + " x " +
              std::to_string(inputs.cols()));
  require(target.dimension() == inputs.cols() * network.outputs(),
          "compare_prior: expected a target over " + std::to_string(inputs.cols()) + " inputs x " +
              std::to_string(network.outputs()) + " outputs, got dimension " +
              std::to_string(target.dimension()));
  const double most = static_cast<double>(std::max(options.samples, 2 * options.coupled_samples));
  const double gib = 3.0 * sizeof(double) * most * static_cast<double>(target.dimension()) / 0x1.0p30;
  if (gib <= options.max_memory_in_gib) return;
  throw ResourceError("compare_prior: samples would need " + format_number(gib) +
                      " GiB, more than the limit of " + format_number(options.max_memory_in_gib) +
                      " GiB; take fewer or raise --max-memory-in-gib");
}

OptionTable<O> make_table() {
  return {
      integer_option<O, Index>("samples", &O::samples, 2, kMaxSamples, "of the network, for its moments"),
      integer_option<O, Index>("coupled-samples", &O::coupled_samples, 2, kMaxSamples,
                               "of the coupled simulation"),
      integer_option<O, Index>("empirical-samples", &O::empirical_samples, 1, kMaxEmpirical,
                               "of both sides, for the empirical W2"),
      real_option("failure-probability", &O::failure_probability, 0.0,
                  "of the statistical upper bound; below 1"),
      integer_option<O, Index>("signature-size", &O::signature_size, 0, kMaxGridSize,
                               "of the signature method's certificate; 0: none"),
      integer_option<O, Index>("components", &O::components, 1, kMaxGridSize, "that it keeps"),
      integer_option<O, std::uint64_t>("seed", &O::seed, 0, std::numeric_limits<std::uint64_t>::max(),
                                       "seed of all samples"),
      integer_option<O, int>("threads", &O::threads, 0, 4096, "0: one per processor"),
      real_option("max-memory-in-gib", &O::max_memory_in_gib, 0.0, "refuse work that needs more memory"),
  };
}

}  // namespace

const OptionTable<PriorComparisonOptions>& prior_comparison_table() {
  static const OptionTable<O> table = make_table();
  return table;
}

void PriorComparisonOptions::validate() const {
  PriorComparisonOptions copy;
  for (const auto& field : prior_comparison_table()) field.set(copy, field.get(*this));
  if (!(failure_probability < 1.0)) {
    bad_option("failure-probability", "a number above 0 and below 1", format_number(failure_probability));
  }
}

double certified_mixture_distance(const GaussianMixture& a, const GaussianMixture& b) {
  require(a.dimension() == b.dimension(), "certified_mixture_distance: mixtures of dimensions " +
                                              std::to_string(a.dimension()) + " and " +
                                              std::to_string(b.dimension()) + ", expected equal ones");
  const Vector ones = Vector::Ones(a.dimension());
  Matrix cost(a.size(), b.size());
  for (Index j = 0; j < b.size(); ++j) {
    for (Index i = 0; i < a.size(); ++i) {
      cost(i, j) = gaussian_transport_cost(a.component(i), b.component(j), ones).upper;
    }
  }
  if (cost.size() == 1) return next_up(std::sqrt(cost(0, 0)));
  const TransportPlan plan = optimal_plan(a.weights(), b.weights(), cost);
  double sum = 0.0;
  for (const PlanEntry& entry : plan.entries) sum += entry.mass * cost(entry.source, entry.target);
  const UpperBound moved = UpperBound::of_sum(sum, 2 * static_cast<Index>(plan.entries.size()) + 2);
  // Marginals of the plan are off by less than 2^-52 each; what is missing is moved at the largest cost.
  const double missing = static_cast<double>(a.size() + b.size()) * 0x1.0p-51 * cost.maxCoeff();
  return next_up(std::sqrt((moved + UpperBound::exact(missing)).upper));
}

PriorComparison compare_prior(const Network& network, ConstMatrixRef inputs, const GaussianMixture& target,
                              const PriorComparisonOptions& options, const CancelFlag* cancel) {
  check_arguments(network, inputs, target, options);
  PriorComparison comparison;
  comparison.target_scale = std::sqrt(target.second_moment());
  comparison.assumption = "asymptotic: finite fourth moments";
  add_certificates(network, inputs, target, options, cancel, comparison);
  add_sampled_moments(network, inputs, target, options, cancel, comparison);
  if (comparison.certificates.front().gap.empty()) {
    add_coupled_upper(network, inputs, target, options, cancel, comparison);
  }
  return comparison;
}

}  // namespace mixcert
