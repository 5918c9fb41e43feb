// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Costs of a coupling of components, docs/theory/transport.md (T.1).
#include "certify/compression_error.h"

#include "mixcert/transport/gaussian_transport.h"

namespace mixcert {
namespace {

/// What costs of moving mass that no entry of the plan moves are at most.
struct Unplanned {
  Upper squared, mean;

  /// Mass of component i that is left of its weight, moved by way of `center`: at most 2 E|z - center|^2 on
  /// this side.
  void add(const GaussianMixture& mixture, const Vector& planned, const Vector& center, ConstVectorRef g) {
    for (Index i = 0; i < mixture.size(); ++i) {
      const Upper left = Upper::exact(positive_part(mixture.weights()(i) - planned(i)));
      if (left.upper == 0.0) continue;
      const Gaussian& component = mixture.component(i);
      const double size =
          g.dot((component.mean - center).cwiseAbs2()) + g.dot(component.covariance.variances());
      const Upper square = Upper::of_sum(size, 2 * g.size() + 8);
      squared = squared + left * square * Upper::exact(2.0);
      mean = mean + left * sqrt(square);
    }
  }
};

}  // namespace

Distances compression_distances(const CompressionTrace& trace, ConstVectorRef g, Upper scale) {
  if (trace.plan.empty()) return {};
  Upper squared;
  Upper mean;
  Vector sources = Vector::Zero(trace.before.size());
  Vector targets = Vector::Zero(trace.after.size());
  for (const PlanEntry& entry : trace.plan) {
    sources(entry.source) += entry.mass;
    targets(entry.target) += entry.mass;
    const Upper cost =
        gaussian_transport_cost(trace.before.component(entry.source), trace.after.component(entry.target), g);
    const Upper mass = Upper::exact(entry.mass);
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
