// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Estimates of what the next step allocates.
#include "methods/memory_guard.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <variant>

#include "core/overloaded.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

std::string gib(double bytes) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f GiB", bytes / kBytesPerGib);
  return text;
}

/// Doubles in the covariance of one pushed point.
double covariance_size(const DenseLayer& layer, double input_count) {
  const double out = static_cast<double>(layer.outputs());
  if (layer.has_independent_outputs()) return out * input_count * input_count;
  const double dense = out * out * input_count * input_count;
  const bool dense_bias = !is_deterministic(layer.bias()) && independent_variances(layer.bias()) == nullptr;
  if (dense_bias) return dense;
  // No law takes more than a dense matrix, which is what a law without an answer of its own counts as.
  return std::visit(Overloaded{[&](const LowRankWeights& law) {
                                 return out * input_count *
                                        (input_count + static_cast<double>(law.factor.size()));
                               },
                               [dense](const auto&) { return dense; }},
                    layer.weights());
}

}  // namespace

void MemoryGuard::check(double bytes, const std::string& what) const {
  if (bytes <= limit_in_gib_ * kBytesPerGib) return;
  throw ResourceError(what + " would need " + gib(bytes) + ", more than the limit of " +
                      gib(limit_in_gib_ * kBytesPerGib) +
                      "; use fewer components, points or joint inputs, or raise --max-memory-in-gib");
}

void MemoryGuard::check_push(const DenseLayer& layer, Index points, Index input_count) const {
  const double d = static_cast<double>(input_count);
  const double per_point = static_cast<double>(layer.outputs()) * d + covariance_size(layer, d);
  check(2.0 * sizeof(double) * static_cast<double>(points) * per_point,
        "layer '" + layer.name() + "': " +
            (input_count > 1 ? "the joint law of its outputs at " + std::to_string(input_count) + " inputs"
                             : std::to_string(points) + " components"));
}

void MemoryGuard::check_input_norms(const DenseLayer& first) const {
  constexpr double kMatrices = 6.0;
  const auto n = static_cast<double>(first.inputs());
  check(kMatrices * sizeof(double) * n * n,
        "layer '" + first.name() + "': norms of its " + std::to_string(first.inputs()) + " inputs");
}

void MemoryGuard::check_joint_moments(const DenseLayer& layer, Index input_count) const {
  const double d = static_cast<double>(input_count);
  const double blocks = 8.0 * static_cast<double>(std::max(layer.inputs(), layer.outputs())) * d * d;
  const double size = static_cast<double>(layer.outputs()) * d;
  const double dense =
      layer.weight_mean().isZero(0.0) ? 0.0 : 4.0 * size * (size + static_cast<double>(layer.inputs()) * d);
  check(sizeof(double) * (blocks + dense), "layer '" + layer.name() + "': the joint law of its outputs at " +
                                               std::to_string(input_count) + " inputs");
}

void MemoryGuard::check_signature(const GaussianMixture& mixture, Index components, Index points,
                                  bool cross) const {
  const double n = static_cast<double>(mixture.dimension());
  const double kept =
      static_cast<double>(components > 0 ? std::min(components, mixture.size()) : mixture.size());
  const double per_component =
      cross ? std::max(2.0 * n, static_cast<double>(points)) : static_cast<double>(points);
  check(3.0 * sizeof(double) * n * kept * per_component,
        "a signature of " + std::to_string(points) + " points per component");
}

}  // namespace mixcert
