// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Pooling in front of a network (L.1): |max x - max y| <= max |x_i - y_i|, and a mean of n values has n
// roundings.
#include <algorithm>
#include <cmath>

#include "network/layers/feature_steps.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

class PoolStep : public FeatureStep {
 public:
  PoolStep(const Window2d& window, const LayerShape& shape)
      : pixels_(window_pixels(window, shape.image)),
        channels_(shape.channels),
        positions_(shape.positions()),
        taps_(window.kernel.height * window.kernel.width) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const auto windows = static_cast<Index>(pixels_.size());
    BoundedValues output{Vector(channels_ * windows), Vector(channels_ * windows)};
    for (Index channel = 0; channel < channels_; ++channel) {
      const double* values = input.values.data() + channel * positions_;
      const double* errors = input.errors.data() + channel * positions_;
      for (Index at = 0; at < windows; ++at) {
        pool(pixels_[static_cast<std::size_t>(at)], values, errors, output.values(channel * windows + at),
             output.errors(channel * windows + at));
      }
    }
    return output;
  }

 protected:
  virtual void pool(const std::vector<Index>& pixels, const double* values, const double* errors,
                    double& value, double& error) const = 0;
  [[nodiscard]] Index taps() const { return taps_; }

 private:
  std::vector<std::vector<Index>> pixels_;
  Index channels_;
  Index positions_;
  Index taps_;
};

class MaxPoolStep : public PoolStep {
 public:
  using PoolStep::PoolStep;

 private:
  void pool(const std::vector<Index>& pixels, const double* values, const double* errors, double& value,
            double& error) const override {
    value = values[pixels.front()];
    error = errors[pixels.front()];
    for (const Index pixel : pixels) {
      value = std::max(value, values[pixel]);
      error = larger_or_nan(error, errors[pixel]);
    }
  }
};

class AveragePoolStep : public PoolStep {
 public:
  using PoolStep::PoolStep;

 private:
  void pool(const std::vector<Index>& pixels, const double* values, const double* errors, double& value,
            double& error) const override {
    const auto count = static_cast<double>(taps());
    double sum = 0.0;
    double magnitude = 0.0;
    double bound = 0.0;
    for (const Index pixel : pixels) {
      sum += values[pixel];
      magnitude += std::abs(values[pixel]);
      bound += errors[pixel];
    }
    value = sum / count;
    const double gamma = rounding_gamma(taps() + 1);
    error = (1.0 + 2.0 * rounding_gamma(taps() + 8)) * (bound + gamma * magnitude) / count + kUnderflow;
  }
};

}  // namespace

std::unique_ptr<FeatureStep> average_pool_step(const Window2d& window, const LayerShape& shape) {
  return std::make_unique<AveragePoolStep>(window, shape);
}

std::unique_ptr<FeatureStep> max_pool_step(const Window2d& window, const LayerShape& shape) {
  return std::make_unique<MaxPoolStep>(window, shape);
}

}  // namespace mixcert
