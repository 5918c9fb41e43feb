// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Coordinates, noise and exact moments for the Stein bound, and what inexact ones cost: docs/theory/stein.md
// (Y.14).
#include "theorems/stein/stein_distance.h"

#include <algorithm>
#include <cmath>

#include "methods/moment/moment_error.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

/// Moments of the layer's neurons.
struct LayerKernels {
  std::vector<NeuronKernels> neurons;
  Matrix covariance;   ///< of the output, as computed
  Vector noise;        ///< Sb, as computed
  double error = 0.0;  ///< no less than the Frobenius norm of what the covariance is off by
  double moved = 0.0;  ///< what rounded deviations of the piece change, in L2
};

LayerKernels layer_kernels(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                           const SurrogateLaw& law) {
  const Matrix& m = layer.weight_mean();
  const Matrix* weight_variances = independent_variances(layer.weights());
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const double relative = rounding_gamma(piece.covariance.rank() + 4) * activation.lipschitz().upper;
  LayerKernels all;
  all.noise = layer.bias_variances();
  Vector variances(layer.inputs());
  double sizes = layer.bias_variances().norm();
  for (Index j = 0; j < layer.inputs(); ++j) {
    all.neurons.push_back(
        neuron_kernels(activation.at(j), piece.mean(j), deviations(j), {law.mean(j), law.error(j)}));
    const NeuronKernels& k = all.neurons.back();
    variances(j) = k.variance.value;
    const double squared = m.col(j).squaredNorm();
    all.error += k.variance.error * squared;
    sizes += k.variance.value * squared;
    double noise = 0.0;
    if (weight_variances != nullptr) {
      const auto v = weight_variances->col(j);
      all.noise += k.second.value * v;
      all.error += k.second.error * v.norm();
      sizes += k.second.value * v.norm();
      noise = std::sqrt(v.sum());
    }
    // The neuron that the kernels describe moves the output and its mean.
    all.moved += enlarged((std::sqrt(squared) + noise) * (relative * deviations(j) + 2.0 * k.moved));
  }
  all.covariance = m * variances.asDiagonal() * m.transpose();
  all.covariance.diagonal() += all.noise;
  all.error += rounding_gamma(2 * layer.inputs() + 64) * sizes;
  return all;
}

/// `noise` is no more than Sb. Computed eigenvectors need not be trusted: all inequalities are checked.
SteinCoordinates coordinates(const Matrix& covariance, const Vector& noise) {
  SteinCoordinates made;
  const Index n = covariance.rows();
  const Matrix diagonal = noise.asDiagonal();
  made.root = common_directions(diagonal, covariance).transpose();
  if (!made.root.allFinite()) return made;
  const double size = made.root.squaredNorm(), gamma = rounding_gamma(4 * n + 16);
  const auto off_diagonal = [](Matrix x) {
    x.diagonal().setZero();
    return enlarged(x.norm());
  };
  const Matrix image = made.root * covariance * made.root.transpose();
  const double least = image.diagonal().minCoeff() - off_diagonal(image) - gamma * size * covariance.norm();
  if (!(least > 0.9)) return made;
  const Matrix noise_image = made.root * diagonal * made.root.transpose();
  made.defect =
      (off_diagonal(noise_image) + gamma * size * noise.norm() + 1e-11 * noise_image.norm()) / least;
  // N is made smaller where root N root' <= I is not certain.
  const double reduction =
      (1.0 - 1e-11) /
      larger_or_nan(1.0,
                    enlarged(noise_image.diagonal().maxCoeff<Eigen::PropagateNaN>() / least) + made.defect);
  made.noise = noise * reduction;
  made.shares = noise_image.diagonal() * (reduction / least);
  made.root *= (1.0 + 1e-12) / std::sqrt(least);
  made.exist = made.shares.allFinite() && made.shares.minCoeff() > -1e-12;
  made.shares = positive_part(made.shares);
  return made;
}

}  // namespace

double stein_work(const DenseLayer& layer) {
  return static_cast<double>(layer.inputs()) * std::pow(static_cast<double>(layer.outputs()), 4);
}

UpperBound stein_distance(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                          const SurrogateLaw& law, const Gaussian& pushed) {
  const UpperBound unknown{INFINITY, INFINITY};
  if (!layer.has_independent_outputs() || !piece.covariance.is_diagonal() || law.is_masked() ||
      !(stein_work(layer) <= kMostSteinWork)) {
    return unknown;
  }
  const Matrix covariance = pushed.covariance.to_dense();
  const LayerKernels kernels = layer_kernels(activation, layer, piece, law);
  if (!(kernels.error < INFINITY)) return unknown;
  const Vector least_noise =
      (kernels.noise.array() - kernels.error).max(layer.bias_variances().array()) * (1.0 - 1e-12);
  const SteinCoordinates at = coordinates(covariance, least_noise);
  if (!at.exist) return unknown;
  const NoiseTransform transform = noise_transform(activation, layer, piece, kernels.neurons, at.noise);
  const SteinNorms norms = stein_norms(layer, at.root, kernels.neurons, transform.shares);
  const double flow = stein_flow(norms, at, transform);
  const double difference =
      (enlarged((kernels.covariance - covariance).norm()) + kernels.error) * at.root.norm();
  const Matrix& m = layer.weight_mean();
  const Vector means = m * law.mean + layer.bias_mean();
  const Vector sizes = m.cwiseAbs() * law.mean.cwiseAbs() + layer.bias_mean().cwiseAbs();
  const double shift = (means - pushed.mean).norm() + rounding_gamma(layer.inputs() + 8) * sizes.norm() +
                       (m.cwiseAbs() * law.error).norm();
  return {flow, enlarged(enlarged(flow + difference + shift + kernels.moved))};
}

}  // namespace mixcert
