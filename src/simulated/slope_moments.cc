// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The recursions of (F.6). All numbers are nonnegative and every sum is enlarged, so that rounding only adds.
#include "simulated/slope_moments.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mixcert {
namespace {

// Units of coordinates are noise^-power: 0.75 made the tails of trained tanh networks with one input
// smallest.
constexpr double kNoisePower = 0.75;
constexpr double kLeastNoise = 1e-3;

/// sup |s| over the layer; infinite where it is not bounded.
double largest_value(const ActivationMap& activation) {
  return activation.is_uniform() ? activation.common().largest_value() : INFINITY;
}

LayerRuns runs_in(const CoupledChain& chain, const LayerUnits& units) {
  std::vector<Matrix> weights;
  std::vector<LayerSlopes> slopes;
  for (std::size_t k = 0; k < chain.steps.size(); ++k) {
    weights.emplace_back(units[k + 1].asDiagonal() * chain.steps[k].next->weight_mean() *
                         units[k].cwiseInverse().asDiagonal());
    slopes.push_back(chain.steps[k].slopes);
  }
  return {weights, std::move(slopes)};
}

}  // namespace

SlopeMoments::SlopeMoments(const CoupledChain& chain, const LayerUnits& units)
    : runs_(runs_in(chain, units)) {
  const Vector first_variance = chain.first_variance.cwiseProduct(units.front().cwiseAbs2());
  first_sum_ = enlarged(first_variance.sum());
  first_largest_ = first_variance.maxCoeff();
  Vector path = chain.first_mean;
  for (std::size_t k = 0; k < chain.steps.size(); ++k) {
    const Vector activations = chain.steps[k].activation->apply(path);
    layers_.push_back(layer_of(chain.steps[k], path, activations, units[k], units[k + 1]));
    const DenseLayer& next = *chain.steps[k].next;
    path = next.weight_mean() * activations + next.bias_mean();
  }
}

SlopeMoments::Layer SlopeMoments::layer_of(const CoupledStep& step, const Vector& path,
                                           const Vector& activations, const Vector& unit,
                                           const Vector& next_unit) {
  const DenseLayer& next = *step.next;
  // Units are powers of two: nothing is rounded here.
  const Matrix variances =
      next_unit.cwiseAbs2().asDiagonal() * step.variances * unit.cwiseAbs2().cwiseInverse().asDiagonal();
  const Vector biases = next_unit.cwiseAbs2().cwiseProduct(next.bias_variances());
  const Vector row_largest = variances.rowwise().maxCoeff();
  Layer layer;
  layer.activations = unit.cwiseProduct(activations);
  layer.column_sums = variances.colwise().sum().transpose();
  layer.column_largest = variances.colwise().maxCoeff().transpose();
  layer.largest_variance = variances.maxCoeff();
  layer.row_sum = row_largest.sum();
  layer.row_largest = row_largest.maxCoeff();
  layer.bias_sum = biases.sum();
  layer.bias_largest = biases.maxCoeff();
  const double value_error = enlarged(std::sqrt(static_cast<double>(path.size())) *
                                      step.activation->value_error(path.cwiseAbs().maxCoeff()));
  layer.value_error = unit.maxCoeff() * value_error;
  layer.path_deviation = enlarged(std::sqrt((variances * layer.activations.cwiseAbs2() + biases).maxCoeff()) +
                                  std::sqrt(layer.largest_variance) * layer.value_error);
  const double bound = largest_value(*step.activation);
  if (std::isfinite(bound)) {
    const Vector most = bound * bound * step.variances.rowwise().sum() + next.bias_variances();
    layer.bounded_deviation = enlarged(std::sqrt(most.cwiseProduct(next_unit.cwiseAbs2()).maxCoeff()));
  }
  // The path is one of numbers: what separates it from itself, exactly computed, counts as noise.
  const double gamma = rounding_gamma(next.inputs() + 16);
  layer.path_error =
      enlarged(next_unit.maxCoeff() * (step.weight_size * (value_error + gamma * activations.norm()) +
                                       gamma * next.bias_mean().norm()));
  return layer;
}

Vector SlopeMoments::deviations(double q) const {
  const Index depth = runs_.depth();
  Vector phi(depth);
  phi(0) = enlarged(std::sqrt(first_sum_ + (q - 2.0) * first_largest_));
  for (Index k = 2; k <= depth; ++k) {
    double sum = runs_.run(k - 1, 1) * phi(0);
    for (Index j = 1; j < k; ++j) {
      const Layer& own = layer(j);
      const Vector columns = own.column_sums + (q - 2.0) * own.column_largest;
      const double noise =
          own.bias_sum + (q - 2.0) * own.bias_largest + columns.dot(own.activations.cwiseAbs2());
      const double spread =
          std::sqrt(columns.maxCoeff()) * (runs_.slopes(j).largest * phi(j - 1) + own.value_error);
      sum += runs_.run(k - 1, j + 1) * (std::sqrt(noise) + own.path_error + spread);
    }
    phi(k - 1) = enlarged(sum);
  }
  return phi;
}

double SlopeMoments::source(Index k, const Vector& deviations) const {
  if (k == 1) return std::sqrt(first_largest_);
  const Layer& before = layer(k - 1);
  const double spread = std::sqrt(before.largest_variance) * runs_.slopes(k - 1).largest * deviations(k - 2);
  return std::min(before.path_deviation + spread, before.bounded_deviation);
}

double SlopeMoments::over_sources(double q, Index last, double last_noise) const {
  const Index depth = runs_.depth();
  const Vector phi = deviations(q);
  // How a source at z_k reaches the output: p_{depth+1} = 1.
  Vector reach = Vector::Zero(depth + 2);
  reach(depth + 1) = 1.0;
  double squares = last > depth ? std::pow(source(depth + 1, phi), 2) : 0.0;
  for (Index k = depth; k >= 1; --k) {
    double sum = runs_.run(depth, k);
    for (Index j = k; j <= depth; ++j) {
      const Layer& own = layer(j);
      const double noise = j == depth ? last_noise : own.row_sum + (q - 2.0) * own.row_largest;
      sum += reach(j + 1) * std::sqrt(noise) * runs_.slopes(j).largest * runs_.run(j - 1, k);
    }
    reach(k) = enlarged(sum);
    squares += std::pow(reach(k) * source(k, phi), 2);
  }
  return enlarged(std::sqrt(enlarged(squares)));
}

double SlopeMoments::of_network(double q) const {
  return over_sources(q, runs_.depth(), layer(runs_.depth()).column_sums.maxCoeff());
}

double SlopeMoments::of_output(double q) const {
  const Layer& last = layer(runs_.depth());
  return over_sources(q, runs_.depth() + 1, last.row_sum + (q - 2.0) * last.row_largest);
}

LayerUnits equal_units(const CoupledChain& chain) {
  LayerUnits units = {Vector::Ones(chain.first_mean.size())};
  for (const CoupledStep& step : chain.steps) units.push_back(Vector::Ones(step.next->outputs()));
  return units;
}

LayerUnits noise_units(const CoupledChain& chain) {
  LayerUnits units = equal_units(chain);
  Vector variances = chain.first_variance, path = chain.first_mean;
  for (std::size_t k = 0; k < chain.steps.size(); ++k) {
    // Neurons without noise are those with next to none.
    const double least = kLeastNoise * kLeastNoise * variances.maxCoeff();
    if (least > 0.0) {
      for (Index j = 0; j < variances.size(); ++j)
        units[k](j) = std::ldexp(
            1.0,
            static_cast<int>(std::lround(-0.5 * kNoisePower * std::log2(std::max(variances(j), least)))));
    }
    const CoupledStep& step = chain.steps[k];
    const Vector activations = step.activation->apply(path);
    variances = step.variances * activations.cwiseAbs2() + step.next->bias_variances();
    path = step.next->weight_mean() * activations + step.next->bias_mean();
  }
  return units;
}

SlopeTail::SlopeTail(const CoupledChain& chain,
                     const std::function<double(const SlopeMoments&, double)>& norm) {
  const SlopeMoments equal(chain, equal_units(chain)), by_noise(chain, noise_units(chain));
  *this = SlopeTail([&](double q) { return std::min(norm(equal, q), norm(by_noise, q)); });
}

SlopeTail::SlopeTail(const std::function<double(double)>& norm) {
  for (std::size_t i = 0; i < kExponents.size(); ++i) norms_[i] = norm(kExponents[i]);
}

double SlopeTail::square_beyond(double probability) const {
  if (!(probability < 1.0)) return INFINITY;
  const double log_inverse = -std::log(probability) * (1.0 - 1e-12);
  double least = INFINITY;
  for (std::size_t i = 0; i < kExponents.size(); ++i) {
    const double power = std::exp(-(1.0 - 2.0 / kExponents[i]) * log_inverse);
    least = std::min(least, 2.0 / log_inverse * power * norms_[i] * norms_[i]);
  }
  return enlarged(least);
}

}  // namespace mixcert
