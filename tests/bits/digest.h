// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A fingerprint of numbers: two runs print the same one when every bit agrees.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "mixcert/certify/explain.h"
#include "mixcert/gradient/objective.h"

namespace mixcert::testing {

/// FNV-1a over the bytes of what is added, in order.
class Digest {
 public:
  void add(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int byte = 0; byte < 8; ++byte) add_byte(static_cast<unsigned char>(bits >> (8 * byte)));
  }
  void add(std::string_view text) {
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
  }
  void add(const Matrix& matrix) {
    for (Index i = 0; i < matrix.size(); ++i) add(matrix.data()[i]);
  }
  void add(const GaussianMixture& mixture) {
    add(Matrix(mixture.weights()));
    for (const Gaussian& component : mixture.components()) {
      add(Matrix(component.mean));
      add(component.covariance.to_dense());
    }
  }
  void add(const Result& result);
  void add(const BoundContributions& contributions);
  void add(const NetworkGradient& gradient);

  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001B3ULL; }

  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

inline void Digest::add(const Result& result) {
  add(to_string(result.method));
  add(to_string(result.certificate));
  add(result.mixture);
  for (const double value : {result.w2.value, result.w2.nominal, result.w1.value, result.relative_w2})
    add(value);
  // Where they are known: others keep the fingerprints that they had before there were any.
  for (const double value : {result.w2_lower, result.w2_lower_mixture}) {
    if (value == value) add(value);
  }
  for (const LayerReport& layer : result.layers) {
    for (const double value : {layer.compression, layer.local, layer.gain}) add(value);
    add(static_cast<double>(layer.components));
    add(static_cast<double>(layer.points));
    add(layer.metric);
    add(layer.theorem);
  }
  add(to_string(result.termination));
  add(result.reason);
  if (!result.statistics) return;
  for (const double value :
       {result.statistics->w2_lower_statistical, result.statistics->w2_upper_statistical})
    add(value);
}

inline void Digest::add(const BoundContributions& contributions) {
  add(contributions.bound);
  add(contributions.first);
  for (const LayerContributions& layer : contributions.layers) {
    add(layer.total);
    for (const Contribution& part : layer.parts) {
      add(to_string(part.source));
      add(part.amount);
      add(Matrix(part.neurons));
      add(Matrix(part.outputs));
    }
    add(Matrix(layer.directions));
  }
}

inline void Digest::add(const NetworkGradient& gradient) {
  for (const LayerGradient& layer : gradient) {
    add(layer.weight_mean);
    add(layer.weight_variance);
    add(Matrix(layer.bias_mean));
    add(Matrix(layer.bias_variance));
  }
}

}  // namespace mixcert::testing
