// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A function is a DenseNet with weights deviation * normal; d/d deviation = normal * d/d weight.
#include "prior/function_prior.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/parallel.h"

namespace mixcert::lab {
namespace {

// Functions whose gradients are added up by one thread: the order of sums is then fixed.
constexpr Index kPieceSize = 32;

float deviation_of(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x))); }
float logistic(float x) { return 1.0F / (1.0F + std::exp(-x)); }

}  // namespace

FunctionPrior::FunctionPrior(std::vector<Index> sizes, const Activation& activation, Granularity granularity,
                             FloatRows points)
    : net_(sizes, activation, std::vector<double>(sizes.size() - 1, 0.0)),
      granularity_(granularity),
      points_(std::move(points)) {
  require(net_.outputs() == 1, "FunctionPrior: expected one output, got " + std::to_string(net_.outputs()));
  require(points_.rows() > 0 && points_.cols() == net_.inputs(),
          "FunctionPrior: expected points with " + std::to_string(net_.inputs()) + " numbers, got " +
              std::to_string(points_.cols()));
}

Index FunctionPrior::parameter_count() const {
  return granularity_ == Granularity::PerLayer ? 2 * net_.layer_count() : net_.parameter_count();
}

FloatVector FunctionPrior::scales() const {
  FloatVector scales = FloatVector::Ones(net_.parameter_count());
  Index place = 0;
  for (Index k = 0; k < net_.layer_count(); ++k) {
    const Index weights = net_.layer_outputs(k) * net_.layer_inputs(k);
    scales.segment(place, weights).setConstant(1.0F / std::sqrt(static_cast<float>(net_.layer_inputs(k))));
    place += weights + net_.layer_outputs(k);
  }
  return scales;
}

FloatVector FunctionPrior::deviations(const FloatVector& parameters) const {
  FloatVector result(net_.parameter_count());
  if (granularity_ == Granularity::PerWeight) {
    result = parameters.unaryExpr(&deviation_of);
  } else {
    Index place = 0;
    for (Index k = 0; k < net_.layer_count(); ++k) {
      const Index weights = net_.layer_outputs(k) * net_.layer_inputs(k);
      result.segment(place, weights).setConstant(deviation_of(parameters(2 * k)));
      result.segment(place + weights, net_.layer_outputs(k)).setConstant(deviation_of(parameters(2 * k + 1)));
      place += weights + net_.layer_outputs(k);
    }
  }
  return result.cwiseProduct(scales());
}

FloatVector FunctionPrior::summed(const FloatVector& all) const {
  if (granularity_ == Granularity::PerWeight) return all;
  FloatVector sums(2 * net_.layer_count());
  Index place = 0;
  for (Index k = 0; k < net_.layer_count(); ++k) {
    const Index weights = net_.layer_outputs(k) * net_.layer_inputs(k);
    sums(2 * k) = all.segment(place, weights).sum();
    sums(2 * k + 1) = all.segment(place + weights, net_.layer_outputs(k)).sum();
    place += weights + net_.layer_outputs(k);
  }
  return sums;
}

FloatVector FunctionPrior::noise(std::uint64_t seed, std::uint64_t index, Index function) const {
  FloatVector normals(net_.parameter_count());
  fill_noise(seed, TrainStream::PriorFunctions, split_mix(index) + static_cast<std::uint64_t>(function), 1,
             normals);
  return normals;
}

FloatRows FunctionPrior::draw(const FloatVector& parameters, Index count, std::uint64_t seed,
                              std::uint64_t index, int threads) const {
  const FloatVector spread = deviations(parameters);
  FloatRows functions(count, point_count());
  parallel_for(count, threads, [&](Index i) {
    const FloatVector drawn = noise(seed, index, i).cwiseProduct(spread);
    DenseNet::Pass pass;
    net_.forward(drawn.data(), points_, nullptr, pass);
    functions.row(i) = pass.outputs.back().transpose();
  });
  return functions;
}

FloatVector FunctionPrior::gradient(const FloatVector& parameters, const FloatRows& slopes,
                                    std::uint64_t seed, std::uint64_t index, int threads) const {
  const FloatVector spread = deviations(parameters);
  const Index pieces = (slopes.rows() + kPieceSize - 1) / kPieceSize;
  std::vector<FloatVector> sums(static_cast<std::size_t>(pieces), FloatVector::Zero(spread.size()));
  parallel_for(pieces, threads, [&](Index piece) {
    FloatVector of_weights(spread.size());
    for (Index i = piece * kPieceSize; i < std::min((piece + 1) * kPieceSize, slopes.rows()); ++i) {
      const FloatVector normals = noise(seed, index, i);
      const FloatVector drawn = normals.cwiseProduct(spread);
      DenseNet::Pass pass;
      net_.forward(drawn.data(), points_, nullptr, pass);
      net_.backward(drawn.data(), pass, slopes.row(i).transpose(), {of_weights.data(), nullptr, nullptr});
      sums[static_cast<std::size_t>(piece)] += normals.cwiseProduct(of_weights);
    }
  });
  FloatVector total = FloatVector::Zero(spread.size());
  for (const FloatVector& sum : sums) total += sum;
  return summed(total.cwiseProduct(scales())).cwiseProduct(parameters.unaryExpr(&logistic));
}

Network FunctionPrior::network(const FloatVector& parameters) const {
  const Vector variances = deviations(parameters).cast<double>().cwiseAbs2();
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  Index place = 0;
  for (Index k = 0; k < net_.layer_count(); ++k) {
    const Index inputs = net_.layer_inputs(k);
    const Index outputs = net_.layer_outputs(k);
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> weights(
        variances.data() + place, outputs, inputs);
    layers.emplace_back(std::to_string(k), Matrix::Zero(outputs, inputs), Vector::Zero(outputs),
                        MeanFieldWeights{weights},
                        IndependentBias{variances.segment(place + outputs * inputs, outputs)});
    activations.emplace_back(k == 0 ? Activation() : net_.activation());
    place += outputs * (inputs + 1);
  }
  return {std::move(layers), std::move(activations)};
}

}  // namespace mixcert::lab
