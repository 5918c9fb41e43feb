// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of ensembles: every member as a network of its own, then one mixture and one bound (B.1),
// (B.2).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "certify/certifier.h"
#include "certify/input_change.h"
#include "certify/member_average.h"
#include "certify/method_choice.h"
#include "methods/approximation_method.h"
#include "methods/prepared.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "network/ordinary_scale.h"

namespace mixcert {

// Squared W2 bounds average with the members' weights, W1 bounds average as they are (B.1); weights of the
// union are products that were rounded, which moves a little mass (B.2).

namespace {

/// The components of all members, weighted. Each member's weights are divided by their sum, so that nothing
/// but this function's own roundings is left in them.
GaussianMixture weighted_union(std::vector<Result>& results, const Vector& weights) {
  Index size = 0;
  for (const Result& result : results) size += result.mixture.size();
  Vector all(size);
  std::vector<Gaussian> components;
  components.reserve(static_cast<std::size_t>(size));
  Index next = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const GaussianMixture& mixture = results[i].mixture;
    all.segment(next, mixture.size()) =
        weights(static_cast<Index>(i)) * (mixture.weights() / mixture.weights().sum());
    next += mixture.size();
    components.insert(components.end(), mixture.components().begin(), mixture.components().end());
    results[i].mixture = GaussianMixture();
  }
  return {std::move(all), std::move(components)};
}

/// Largest number of components of a member.
Index most_components(const std::vector<Result>& results) {
  Index most = 0;
  for (const Result& result : results) most = std::max(most, result.mixture.size());
  return most;
}

/// E |z - c|^2 of the mixture, c its computed mean.
UpperBound spread(const GaussianMixture& mixture) {
  const Vector center = mixture.mean();
  double sum = 0.0;
  Index rank = 0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const Gaussian& component = mixture.component(i);
    rank = std::max(rank, component.covariance.rank());
    sum += mixture.weights()(i) * ((component.mean - center).squaredNorm() + component.covariance.trace());
  }
  // The computed weights may sum to a little less than one.
  return UpperBound::of_sum(sum, 2 * mixture.size() + mixture.dimension() + rank + 16);
}

/// What rounded weights cost, 2 (eta E|z - c|^2)^{1/2} (B.2); weights of single components are not rounded.
UpperBound weight_rounding(const GaussianMixture& combined, Index most) {
  if (most <= 1) return {};
  const double gamma = rounding_gamma(most + 3);
  return UpperBound{0.0, 2.0} * sqrt(UpperBound{0.0, next_up(3.0 * gamma)} * spread(combined));
}

UpperBound as_upper(const Bound& bound) { return {bound.nominal, bound.value}; }

/// Terms of hidden layer k (from zero); members with fewer layers have none.
LayerReport combined_layer(const std::vector<Result>& results, const Vector& weights, std::size_t k) {
  const auto rms = [&](double LayerReport::*term) {
    const UpperBound root = member_root_mean_square(weights, [&](Index i) {
      const auto& layers = results[static_cast<std::size_t>(i)].layers;
      return k < layers.size() ? UpperBound::exact(layers[k].*term) : UpperBound();
    });
    // Outward rounding of nothing would print as 1e-162.
    return root.nominal == 0.0 ? 0.0 : root.upper;
  };
  LayerReport combined;
  combined.layer = static_cast<Index>(k) + 1;
  combined.compression = rms(&LayerReport::compression);
  combined.local = rms(&LayerReport::local);
  for (const Result& result : results) {
    if (k >= result.layers.size()) continue;
    const LayerReport& layer = result.layers[k];
    // NaN, where a member has no bound, stays.
    if (!(layer.gain <= combined.gain)) combined.gain = layer.gain;
    combined.components += layer.components;
    combined.points += layer.points;
    if (combined.metric.empty()) combined.metric = layer.metric;
    if (combined.metric != layer.metric) combined.metric = "several";
    if (combined.theorem.empty()) combined.theorem = layer.theorem;
    if (combined.theorem != layer.theorem) combined.theorem = "several";
  }
  return combined;
}

std::vector<LayerReport> combined_layers(const std::vector<Result>& results, const Vector& weights) {
  std::size_t count = 0;
  for (const Result& result : results) count = std::max(count, result.layers.size());
  std::vector<LayerReport> layers;
  for (std::size_t k = 0; k < count; ++k) layers.push_back(combined_layer(results, weights, k));
  return layers;
}

/// Why epsilon was missed: the first member that missed it says so.
std::string missed_reason(const std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].termination != Termination::BudgetSpent) continue;
    return "network " + std::to_string(i) + " of the ensemble: " + results[i].reason;
  }
  return "";
}

void describe(const std::vector<Result>& results, Result& combined) {
  combined.input = results.front().input;
  combined.method = results.front().method;
  combined.certificate = results.front().certificate;
  combined.options = results.front().options;
  for (const Result& result : results) {
    if (result.method != combined.method) combined.method = Method::Auto;
    if (result.certificate != combined.certificate) combined.certificate = CertificateMode::Best;
    combined.seconds += result.seconds;
  }
}

}  // namespace

Result combine_results(std::vector<Result> results, const Vector& weights, const Options& options) {
  Result combined;
  describe(results, combined);
  combined.layers = combined_layers(results, weights);
  const Index most = most_components(results);
  combined.mixture = weighted_union(results, weights);
  const UpperBound rounding = weight_rounding(combined.mixture, most);
  // A member without a bound leaves none: its NaN goes through the sums.
  Certificate certificate;
  const auto member = [&](Index i) -> const Result& { return results[static_cast<std::size_t>(i)]; };
  const UpperBound w2 = member_root_mean_square(weights, [&](Index i) { return as_upper(member(i).w2); });
  const UpperBound w1 = member_average(weights, [&](Index i) { return as_upper(member(i).w1); });
  certificate.w2 = bound_of(Distance::W2, w2 + rounding);
  certificate.w1 = bound_of(Distance::W1, w1 + rounding);
  attach_certificate(certificate, options, Shortage::None, combined);
  if (!combined.w2.exists()) {
    combined.termination = Termination::Completed;
    combined.reason = results.front().reason;
  } else if (combined.termination == Termination::BudgetSpent && !missed_reason(results).empty()) {
    combined.reason = missed_reason(results);
  }
  return combined;
}

std::vector<Certifier> member_certifiers(const Ensemble& ensemble, const Options& options,
                                         const Services& services) {
  require(!options.simulate || ensemble.size() == 1,
          "option --simulate: expected one network, got an ensemble of " + std::to_string(ensemble.size()));
  std::vector<Certifier> members;
  for (Index i = 0; i < ensemble.size(); ++i) members.emplace_back(ensemble.member(i), options, services);
  return members;
}

Result certify_members(const Ensemble& ensemble, const std::vector<Certifier>& members, ConstMatrixRef inputs,
                       Index index, const Options& options, const Services& services) {
  std::vector<Result> results;
  std::vector<Certified> certified;
  for (const Certifier& member : members) {
    Certified made = member.certify(inputs, index);
    results.push_back(std::move(made.result));
    // Traces can be large; only statistics look at them again.
    if (options.statistics > 0) certified.push_back(std::move(made));
  }
  Result result = combine_results(std::move(results), ensemble.weights(), options);
  require_finite(result);
  if (options.statistics == 0) return result;
  std::vector<CouplingTrace> simulated;
  simulated.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) simulated.push_back(members[i].coupling(certified[i]));
  result.statistics =
      services.ensemble_statistics(ensemble, inputs, index, simulated, result.mixture, options);
  return result;
}

void certify(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options, const ResultSink& sink,
             const Services& services) {
  if (ensemble.size() == 1) return certify(ensemble.member(0), inputs, options, sink, services);
  options.validate();
  require(options.method != Method::Coupled || ensemble.size() == 1,
          "method coupled: expected one network, got an ensemble of " + std::to_string(ensemble.size()));
  const std::optional<Ensemble> rescaled =
      with_ordinary_sizes(ensemble, [&](const Network& one) { return stays_graph(one, options); });
  const Ensemble& ordinary = rescaled ? *rescaled : ensemble;
  check_inputs(ordinary.member(0), inputs);
  require(options.statistics == 0 || services.ensemble_statistics != nullptr,
          "option --statistics: needs Services::ensemble_statistics, which mixcert::statistics provides");
  const std::vector<Certifier> members = member_certifiers(ordinary, options, services);
  if (options.joint) {
    sink(certify_members(ordinary, members, inputs, 0, options, services));
    return;
  }
  const BallWidening ball(ordinary, inputs, options, services);
  certify_blocks(inputs.cols(), 1, options, services, sink, [&](Index i, Index, const ResultSink& deliver) {
    Result result = certify_members(ordinary, members, inputs.col(i), i, options, services);
    ball.apply(result);
    deliver(std::move(result));
  });
}

std::vector<Result> certify(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                            const Services& services) {
  std::vector<Result> results;
  certify(
      ensemble, inputs, options, [&](Result&& result) { results.push_back(std::move(result)); }, services);
  return results;
}

}  // namespace mixcert
