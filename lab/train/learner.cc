// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// States as arrays.
#include "train/learner.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

constexpr double kNoiseMemoryInEpochs = 2.0;
/// Keeps a network that fits every target from dividing by zero.
constexpr double kSmallestNoiseVariance = 1e-8;

}  // namespace

Array float_array(const FloatVector& values) {
  return {{values.size()}, std::vector<double>(values.data(), values.data() + values.size())};
}

FloatVector read_float_array(const State& state, const std::string& name, Index size) {
  const auto found = state.find(name);
  if (found == state.end() || found->second.size() != size) {
    throw FileError("checkpoint: array '" + name + "': expected " + std::to_string(size) + " values, got " +
                    (found == state.end() ? "none" : std::to_string(found->second.size())));
  }
  return Eigen::Map<const Vector>(found->second.values.data(), size).cast<float>();
}

Array number_array(double value) { return {{1}, {value}}; }

double read_number(const State& state, const std::string& name) {
  const auto found = state.find(name);
  if (found == state.end() || found->second.size() != 1) {
    throw FileError("checkpoint: array '" + name + "': expected one value");
  }
  return found->second.values.front();
}

double updated_noise_variance(double old, double square_residual, Index batch, Index examples) {
  const double memory = kNoiseMemoryInEpochs * static_cast<double>(examples);
  const double kept = std::exp(-static_cast<double>(batch) / memory);
  return std::max(kSmallestNoiseVariance, kept * old + (1.0 - kept) * square_residual);
}

}  // namespace mixcert::lab
