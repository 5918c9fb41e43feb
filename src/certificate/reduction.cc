// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moment matching in clusters of components, and couplings of components (T.1).
#include "certificate/reduction.h"

#include <cmath>
#include <string>
#include <utility>

#include "certificate/seal.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {

namespace {

// A plan whose sums are further off is no attempt at a coupling.
constexpr double kMarginalTolerance = 0x1p-30;

/// The same F F' with as few columns as it has rank, longest first: principal directions.
Matrix principal_factor(const Matrix& factor) {
  if (factor.cols() <= 1) return factor;
  const bool tall = factor.cols() <= factor.rows();
  const SymmetricEigen eigen =
      symmetric_eigen(tall ? Matrix(factor.transpose() * factor) : Matrix(factor * factor.transpose()));
  const Vector values = positive_part(eigen.values).reverse();
  const Matrix vectors = eigen.vectors.rowwise().reverse();
  const Index rank = (values.array() > 1e-30 * values(0)).count();
  if (tall) return factor * vectors.leftCols(rank);
  return vectors.leftCols(rank) * values.head(rank).cwiseSqrt().asDiagonal();
}

/// Mean and covariance of the members: averages plus the spread of their means.
Gaussian match_moments(const GaussianMixture& mixture, const std::vector<Index>& members, double mass) {
  const auto count = static_cast<Index>(members.size());
  Vector weights(count);
  std::vector<const Covariance*> covariances;
  Vector mean = Vector::Zero(mixture.dimension());
  for (Index i = 0; i < count; ++i) {
    const Index member = members[static_cast<std::size_t>(i)];
    // A cluster of weightless components counts its members equally.
    weights(i) = mass > 0.0 ? mixture.weights()(member) / mass : 1.0 / static_cast<double>(count);
    covariances.push_back(&mixture.component(member).covariance);
    mean += weights(i) * mixture.component(member).mean;
  }
  if (count == 1) return mixture.component(members.front());
  Matrix spread(mixture.dimension(), count);
  for (Index i = 0; i < count; ++i) {
    const Index member = members[static_cast<std::size_t>(i)];
    spread.col(i) = std::sqrt(weights(i)) * (mixture.component(member).mean - mean);
  }
  // The weighted deviations sum to zero, so two members span one direction.
  if (count == 2 && weights(1) > 0.0) {
    spread = Matrix(spread.col(0) / std::sqrt(weights(1)));
  }
  return {mean, weighted_sum(weights, covariances).plus_low_rank(principal_factor(spread))};
}

/// Members of each cluster.
std::vector<std::vector<Index>> members_of(const std::vector<Index>& clusters) {
  std::vector<std::vector<Index>> members;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const auto next = static_cast<Index>(members.size());
    require(clusters[i] >= 0 && clusters[i] <= next,
            "merge_components: clusters must be numbered by their first members");
    if (clusters[i] == next) members.emplace_back();
    members[static_cast<std::size_t>(clusters[i])].push_back(static_cast<Index>(i));
  }
  return members;
}

void require_marginals(const Vector& sums, const Vector& weights, const char* side) {
  // Written so that NaN fails.
  const bool fits = ((sums - weights).array().abs() <= kMarginalTolerance).all();
  require(fits, std::string("with_plan: masses do not add up to the weights of the ") + side + " mixture");
}

}  // namespace

Sealed<CompressionTrace> merge_components(const GaussianMixture& mixture, std::vector<Index> clusters) {
  require(mixture.size() > 0 && static_cast<Index>(clusters.size()) == mixture.size(),
          "merge_components: expected one cluster for each component");
  const std::vector<std::vector<Index>> members = members_of(clusters);
  CompressionTrace trace;
  trace.before = mixture;
  for (Index i = 0; i < mixture.size(); ++i) {
    trace.plan.push_back({i, clusters[static_cast<std::size_t>(i)], mixture.weights()(i)});
  }
  Vector weights = Vector::Zero(static_cast<Index>(members.size()));
  std::vector<Gaussian> components;
  for (std::size_t c = 0; c < members.size(); ++c) {
    for (const Index i : members[c]) weights(static_cast<Index>(c)) += mixture.weights()(i);
    components.push_back(match_moments(mixture, members[c], weights(static_cast<Index>(c))));
  }
  trace.after = GaussianMixture(weights, std::move(components));
  trace.clusters = std::move(clusters);
  return Seal::on(std::move(trace));
}

Sealed<CompressionTrace> with_plan(const Sealed<CompressionTrace>& merged, std::vector<PlanEntry> plan) {
  CompressionTrace trace = *merged;
  Vector sources = Vector::Zero(trace.before.size());
  Vector targets = Vector::Zero(trace.after.size());
  for (const PlanEntry& entry : plan) {
    require(entry.source >= 0 && entry.source < sources.size() && entry.target >= 0 &&
                entry.target < targets.size() && entry.mass >= 0.0,
            "with_plan: expected nonnegative masses between components");
    sources(entry.source) += entry.mass;
    targets(entry.target) += entry.mass;
  }
  require_marginals(sources, trace.before.weights(), "first");
  require_marginals(targets, trace.after.weights(), "second");
  // No component may be moved more than it weighs; what is moved less is charged (T.1).
  for (PlanEntry& entry : plan) {
    const double source = trace.before.weights()(entry.source) / sources(entry.source);
    const double target = trace.after.weights()(entry.target) / targets(entry.target);
    entry.mass *= std::min({1.0, source, target});
  }
  trace.plan = std::move(plan);
  return Seal::on(std::move(trace));
}

// Costs of a coupling of components, docs/theory/transport.md (T.1).

namespace {

/// What costs of moving mass that no entry of the plan moves are at most.
struct Unplanned {
  UpperBound squared, mean;

  /// Mass of component i that is left of its weight, moved by way of `center`: at most 2 E|z - center|^2 on
  /// this side.
  void add(const GaussianMixture& mixture, const Vector& planned, const Vector& center, ConstVectorRef g) {
    for (Index i = 0; i < mixture.size(); ++i) {
      const UpperBound left = UpperBound::exact(positive_part(mixture.weights()(i) - planned(i)));
      if (left.upper == 0.0) continue;
      const Gaussian& component = mixture.component(i);
      const double size =
          g.dot((component.mean - center).cwiseAbs2()) + g.dot(component.covariance.variances());
      const UpperBound square = UpperBound::of_sum(size, 2 * g.size() + 8);
      squared = squared + left * square * UpperBound::exact(2.0);
      mean = mean + left * sqrt(square);
    }
  }
};

}  // namespace

Distances compression_distances(const CompressionTrace& trace, ConstVectorRef g, UpperBound scale) {
  if (trace.plan.empty()) return {};
  UpperBound squared;
  UpperBound mean;
  Vector sources = Vector::Zero(trace.before.size());
  Vector targets = Vector::Zero(trace.after.size());
  for (const PlanEntry& entry : trace.plan) {
    sources(entry.source) += entry.mass;
    targets(entry.target) += entry.mass;
    const UpperBound cost =
        gaussian_transport_cost(trace.before.component(entry.source), trace.after.component(entry.target), g);
    const UpperBound mass = UpperBound::exact(entry.mass);
    squared = squared + mass * cost;
    mean = mean + mass * sqrt(cost);
  }
  if (sources != trace.before.weights() || targets != trace.after.weights()) {
    Unplanned unplanned;
    const Vector center = trace.before.mean();
    unplanned.add(trace.before, sources, center, g);
    unplanned.add(trace.after, targets, center, g);
    squared = squared + unplanned.squared;
    mean = mean + unplanned.mean;
  }
  return {sqrt(squared) * scale, mean * scale};
}

}  // namespace mixcert
