// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/coupled_chain.h"

#include <cmath>
#include <utility>

#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace {

CoupledStep step_of(const Network& network, const MomentTrace& trace, Index k) {
  const MomentLayerTrace& traced = trace.layers[static_cast<std::size_t>(k - 1)];
  const Gaussian& piece = traced.pieces.component(0);
  const SurrogateLaw& law = traced.surrogates.front();
  CoupledStep step;
  step.activation = &network.activation(k);
  step.next = &network.layer(k);
  step.mean = law.mean;
  step.gain = gain_per_unit(piece, law);
  step.center = piece.mean;
  step.noise = mean_noise(*step.next, law).cwiseSqrt();
  step.weight_norm = spectral_norm(step.next->weight_mean());
  step.weight_size = enlarged(step.next->weight_mean().norm());
  step.gained_size = enlarged((step.next->weight_mean() * step.gain.asDiagonal()).norm());
  step.slopes = slopes_of(*step.activation, step.next->inputs());
  step.variances = step.next->weight_variances();
  step.largest_variances = step.variances.rowwise().maxCoeff();
  return step;
}

ChainHead head_of(Matrix weights, Vector bias, Vector noise, const Vector& gain) {
  ChainHead head{std::move(weights), std::move(bias), std::move(noise)};
  head.size = enlarged(head.weights.norm());
  head.gained_size = enlarged((head.weights * gain.asDiagonal()).norm());
  return head;
}

}  // namespace

bool is_simulable(const MomentTrace& trace) {
  for (const MomentLayerTrace& layer : trace.layers) {
    const bool is_one = layer.pieces.size() == 1 && layer.plan.empty() && layer.splits.empty() &&
                        layer.surrogates.size() == 1;
    if (!is_one) return false;
  }
  return !trace.layers.empty() && trace.layers.front().pieces.component(0).covariance.is_diagonal() &&
         trace.output.size() == 1;
}

CoupledChain::CoupledChain(const Network& network, const MomentTrace& trace) {
  const Gaussian& first = trace.layers.front().pieces.component(0);
  first_mean = first.mean;
  first_variance = first.covariance.variances();
  for (Index k = 1; k <= network.hidden_count(); ++k) steps.push_back(step_of(network, trace, k));
  head = head_of(last().next->weight_mean(), last().next->bias_mean(), last().noise, last().gain);
}

CoupledChain CoupledChain::stretched(const Vector& factor, const Vector& shift) const {
  CoupledChain made = *this;
  made.head = head_of(factor.asDiagonal() * head.weights, factor.cwiseProduct(head.bias) + shift,
                      factor.cwiseProduct(head.noise), last().gain);
  return made;
}

Index CoupledChain::normal_count() const {
  Index count = first_mean.size();
  for (std::size_t k = 0; k + 1 < steps.size(); ++k) count += steps[k].next->outputs();
  return count;
}

// The chain is affine in its normals: its mean and the factor of its covariance are pushed layer by layer,
// with bounds of what rounding adds to either, in Euclidean and Frobenius norms.

ChainOutput::ChainOutput(const CoupledChain& chain) : mean_(chain.first_mean) {
  signal_ = chain.first_variance.cwiseSqrt().asDiagonal();
  factor_error_ = 4.0 * kUnitRoundoff * signal_.norm();
  for (std::size_t k = 0; k < chain.steps.size(); ++k) {
    const CoupledStep& step = chain.steps[k];
    const bool is_last = k + 1 == chain.steps.size();
    const Matrix& weights = is_last ? chain.head.weights : step.next->weight_mean();
    const Vector& bias = is_last ? chain.head.bias : step.next->bias_mean();
    const double size = is_last ? chain.head.size : step.weight_size;
    const double gained_size = is_last ? chain.head.gained_size : step.gained_size;
    const double gamma = rounding_gamma(weights.cols() + 16);
    const Vector moved = step.mean + step.gain.cwiseProduct(mean_ - step.center);
    const double sizes =
        step.mean.norm() + step.gain.cwiseProduct(mean_.cwiseAbs() + step.center.cwiseAbs()).norm();
    mean_error_ = enlarged(gained_size * mean_error_ + gamma * (size * sizes + bias.norm()));
    mean_ = weights * moved + bias;
    factor_error_ = enlarged(gained_size * factor_error_ + gamma * gained_size * signal_.norm());
    const Matrix carried = (weights * step.gain.asDiagonal()) * signal_;
    if (is_last) {
      signal_ = carried;
      break;
    }
    signal_.resize(carried.rows(), carried.cols() + carried.rows());
    signal_ << carried, Matrix(step.noise.asDiagonal());
  }
  noise_ = chain.head.noise;
  signal_norm_ = enlarged(spectral_norm(signal_) + factor_error_);
}

double ChainOutput::distance_to(const Gaussian& stored) const {
  // The same normals through a factor that is off; then Powers and Stormer for two covariances.
  Matrix difference = signal_ * signal_.transpose();
  difference.diagonal() += noise_.cwiseAbs2();
  difference -= stored.covariance.to_dense();
  const Index m = mean_.size();
  const double size = signal_.squaredNorm() + noise_.squaredNorm() + stored.covariance.variances().sum();
  const double gamma = rounding_gamma(signal_.cols() + stored.covariance.rank() + 16);
  const double trace_norm = std::sqrt(static_cast<double>(m)) * (difference.norm() + gamma * size);
  const double means =
      (mean_ - stored.mean).norm() + 2.0 * kUnitRoundoff * (mean_.norm() + stored.mean.norm()) + mean_error_;
  return enlarged(means + factor_error_ + std::sqrt(enlarged(trace_norm)));
}

}  // namespace mixcert
