// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Backpropagation through dense layers, written out.
#include "train/dense_net.h"

#include <algorithm>
#include <utility>

#include "mixcert/core/error.h"
#include "statistics/simulate/normal_source.h"
#include "train/activation_values.h"

namespace mixcert::lab {
namespace {

using RowsMap = Eigen::Map<FloatRows>;
using RowVectorMap = Eigen::Map<Eigen::RowVectorXf>;

/// Sums over examples of d a' and d, for one layer, at `place`.
void write_sums(const FloatRows& d, const FloatRows& a, float* place) {
  RowsMap(place, d.cols(), a.cols()).noalias() = d.transpose() * a;
  RowVectorMap(place + d.cols() * a.cols(), d.cols()) = d.colwise().sum();
}

}  // namespace

DenseNet::DenseNet(std::vector<Index> sizes, const Activation& activation, std::vector<double> dropout_rates)
    : sizes_(std::move(sizes)), activation_(activation), dropout_rates_(std::move(dropout_rates)) {
  require(sizes_.size() >= 2 && dropout_rates_.size() + 1 == sizes_.size(),
          "DenseNet: expected one dropout rate per layer, got " + std::to_string(dropout_rates_.size()));
  offsets_.push_back(0);
  for (std::size_t k = 0; k + 1 < sizes_.size(); ++k) {
    offsets_.push_back(offsets_.back() + sizes_[k + 1] * (sizes_[k] + 1));
  }
}

bool DenseNet::has_dropout() const {
  return std::any_of(dropout_rates_.begin(), dropout_rates_.end(), [](double rate) { return rate > 0.0; });
}

DenseNet::ConstRowsMap DenseNet::weight(const float* parameters, Index k) const {
  return {parameters + offsets_[static_cast<std::size_t>(k)], layer_outputs(k), layer_inputs(k)};
}

DenseNet::ConstVectorMap DenseNet::bias(const float* parameters, Index k) const {
  return {parameters + offsets_[static_cast<std::size_t>(k)] + layer_outputs(k) * layer_inputs(k),
          layer_outputs(k)};
}

void DenseNet::forward(const float* parameters, const FloatRows& inputs, Generator* dropout,
                       Pass& pass) const {
  const auto count = static_cast<std::size_t>(layer_count());
  pass.inputs.resize(count);
  pass.outputs.resize(count);
  pass.scales.assign(count, FloatRows());
  for (std::size_t k = 0; k < count; ++k) {
    const auto layer = static_cast<Index>(k);
    FloatRows& a = pass.inputs[k];
    a = k == 0 ? inputs : activation_values(activation_, pass.outputs[k - 1]);
    if (dropout != nullptr && dropout_rates_[k] > 0.0) {
      pass.scales[k].resize(a.rows(), a.cols());
      fill_dropout_scale(*dropout, dropout_rates_[k], pass.scales[k]);
      a.array() *= pass.scales[k].array();
    }
    FloatRows& z = pass.outputs[k];
    z.noalias() = a * weight(parameters, layer).transpose();
    z.rowwise() += bias(parameters, layer).transpose();
  }
}

void DenseNet::backward(const float* parameters, const Pass& pass, FloatRows output_gradient,
                        const Sinks& sinks) const {
  FloatRows d = std::move(output_gradient);
  for (Index layer = layer_count() - 1; layer >= 0; --layer) {
    const auto k = static_cast<std::size_t>(layer);
    if (sinks.gradient != nullptr) write_sums(d, pass.inputs[k], sinks.gradient + offsets_[k]);
    if (sinks.squared_gradient != nullptr) {
      write_sums(d.cwiseAbs2(), pass.inputs[k].cwiseAbs2(), sinks.squared_gradient + offsets_[k]);
    }
    if (layer == 0 && sinks.input_gradient == nullptr) return;
    FloatRows below = d * weight(parameters, layer);
    if (pass.scales[k].size() > 0) below.array() *= pass.scales[k].array();
    if (layer > 0) below.array() *= activation_slopes(activation_, pass.outputs[k - 1]).array();
    d = std::move(below);
  }
  *sinks.input_gradient = std::move(d);
}

void DenseNet::set_initial_weights(Generator& generator, float* parameters) const {
  for (Index k = 0; k < layer_count(); ++k) {
    const double gain = k + 1 < layer_count() ? initial_variance(activation_) : 1.0;
    Matrix numbers(layer_inputs(k), layer_outputs(k));
    fill_normal(generator, numbers);
    numbers *= std::sqrt(gain / static_cast<double>(layer_inputs(k)));
    float* const place = parameters + offsets_[static_cast<std::size_t>(k)];
    RowsMap(place, layer_outputs(k), layer_inputs(k)) = numbers.transpose().cast<float>();
    Matrix shifts(layer_outputs(k), 1);
    fill_normal(generator, shifts);
    shifts /= std::sqrt(static_cast<double>(layer_inputs(k)));
    Eigen::Map<FloatVector>(place + numbers.size(), shifts.size()) = shifts.col(0).cast<float>();
  }
}

}  // namespace mixcert::lab
