// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Surrogates with the mean and the variance of the activation, docs/theory/moment-method.md (H.1): the gain
// is sign(c_1) sqrt(Var a). The gain c_1 would make the certificate smaller by at most a few per cent and
// every variance of the mixture too small.
#include "methods/moment/surrogate_law.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "activation/activation_traits.h"
#include "certificate/rounding_terms.h"
#include "core/column_product.h"
#include "methods/moment/moment_error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

namespace {

/// sqrt(total - part^2), rounded up: what is left of a mean square when a coefficient is taken out.
double root_of_rest(const Enclosed& total, const Enclosed& part) {
  const double smallest = positive_part(std::abs(part.value) - part.error);
  const double rest = next_up(total.upper() - next_down(smallest * smallest));
  // Written so that NaN, left by an overflow, stays NaN: then there is no bound.
  return rest <= 0.0 ? 0.0 : next_up(std::sqrt(rest));
}

/// sign(c_1) sqrt(c_1^2 + T^2).
double variance_matching_gain(const GaussianMoments& moments) {
  const double size = std::hypot(moments.slope.value, std::sqrt(positive_part(moments.residual.value)));
  return std::copysign(size, moments.slope.value);
}

/// Room for what the rounded deviation changes (H.5): `shift` bounds the L2 norm of f(m + s x) - f(m + s~ x).
void charge_deviation(double shift, Index j, SurrogateLaw& law) {
  const double fourth_root = std::sqrt(law.second(j) + law.second_error(j) + std::abs(law.square_slope(j)) +
                                       law.square_slope_error(j) + law.square_rest(j));
  const double squares = 3.0 * shift * (fourth_root + shift);
  law.error(j) = next_up(law.error(j) + shift);
  law.second_error(j) = next_up(law.second_error(j) + squares);
  law.square_slope_error(j) = next_up(law.square_slope_error(j) + squares);
  law.square_rest(j) = next_up(law.square_rest(j) + squares);
}

void fill_coordinate(const GaussianMoments& moments, Index j, SurrogateLaw& law) {
  const double gain = variance_matching_gain(moments);
  law.mean(j) = moments.mean.value;
  law.gain(j) = gain;
  law.linear(j) = moments.slope.value - gain;
  law.quadratic(j) = moments.curvature.value;
  law.rest(j) = root_of_rest(moments.residual, moments.curvature);
  law.error(j) = next_up(moments.mean.error + moments.slope.error + moments.curvature.error +
                         2 * kUnitRoundoff * std::abs(gain));
  law.second(j) = moments.second.value;
  law.second_error(j) = moments.second.error;
  law.square_slope(j) = moments.square_slope.value;
  law.square_slope_error(j) = moments.square_slope.error;
  law.square_rest(j) = root_of_rest(moments.square_variance, moments.square_slope);
}

}  // namespace

SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece,
                           const std::vector<GaussianMoments>& moments) {
  const Index n = piece.dimension();
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const double relative = rounding_gamma(piece.covariance.rank() + 4) * activation.lipschitz().upper;
  SurrogateLaw law;
  for (Vector* field :
       {&law.mean, &law.gain, &law.linear, &law.quadratic, &law.rest, &law.error, &law.second,
        &law.second_error, &law.square_slope, &law.square_slope_error, &law.square_rest, &law.reach}) {
    field->resize(n);
  }
  law.lipschitz = activation.lipschitz().upper;
  const double largest = activation.is_uniform() ? activation.common().largest_value() : INFINITY;
  for (Index j = 0; j < n; ++j) {
    fill_coordinate(moments[static_cast<std::size_t>(j)], j, law);
    charge_deviation(next_up(relative * deviations(j)), j, law);
    law.reach(j) = next_up(next_up(largest + std::abs(law.mean(j))) + law.error(j));
  }
  return law;
}

SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece, Index input_count) {
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  std::vector<GaussianMoments> moments;
  moments.reserve(static_cast<std::size_t>(piece.dimension()));
  for (Index j = 0; j < piece.dimension(); ++j) {
    moments.push_back(gaussian_moments(activation.at(j / input_count), piece.mean(j), deviations(j)));
  }
  return surrogate_law(activation, piece, moments);
}

// N(M mean + b, M diag(gain) r diag(gain) M' + diag(E S)), docs/theory/moment-method.md (H.3).

Vector mean_noise(const DenseLayer& layer, const SurrogateLaw& law) {
  return surrogate_images(layer, {&law}).noise;
}

SurrogateImages surrogate_images(const DenseLayer& layer, const std::vector<const SurrogateLaw*>& laws) {
  const auto count = static_cast<Index>(laws.size());
  Matrix columns(layer.inputs(), count);
  for (Index i = 0; i < count; ++i) columns.col(i) = laws[static_cast<std::size_t>(i)]->mean;
  SurrogateImages images{column_product(layer.weight_mean(), columns), {}};
  images.means.colwise() += layer.bias_mean();
  const Matrix* variances = independent_variances(layer.weights());
  if (variances == nullptr) {
    images.noise = layer.bias_variances().replicate(1, count);
    return images;
  }
  for (Index i = 0; i < count; ++i) columns.col(i) = laws[static_cast<std::size_t>(i)]->second;
  images.noise = column_product(*variances, columns);
  images.noise.colwise() += layer.bias_variances();
  return images;
}

Vector gain_per_unit(const Gaussian& piece, const SurrogateLaw& law) {
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  return law.gain.binaryExpr(deviations, [](double gain, double s) { return s > 0.0 ? gain / s : 0.0; });
}

Matrix activation_covariance(const Gaussian& piece, const SurrogateLaw& law) {
  const Vector variances = law.second - law.mean.cwiseAbs2();
  if (piece.covariance.is_diagonal()) return positive_part(variances).asDiagonal();
  const Matrix r = correlation_of(piece.covariance);
  const Vector first = law.linear + law.gain;
  Matrix covariance = (first * first.transpose()).cwiseProduct(r);
  covariance += (law.quadratic * law.quadratic.transpose()).cwiseProduct(r.cwiseAbs2());
  covariance += (law.rest * law.rest.transpose()).cwiseProduct(r.cwiseProduct(r.cwiseAbs2()));
  // Raising a diagonal keeps the matrix semidefinite: by rounding, and by what masks add.
  covariance.diagonal() = larger_or_nan(covariance.diagonal(), variances);
  return covariance;
}

namespace {

/// Deviations of the surrogate's coordinates, what masks add included (D.3).
Vector surrogate_deviations(const SurrogateLaw& law) {
  if (!law.is_masked()) return law.gain.cwiseAbs();
  return (law.gain.array().square() + law.mask_gain.array().square()).sqrt();
}

/// signal + diag(noise), its diagonal raised so that the stored matrix is positive semidefinite in spite of
/// rounding: entries are off by at most gamma P_i P_j, P_i^2 = majorant_i (H.5).
Covariance dense_sum(Matrix signal, const Vector& noise, const Vector& majorant, Index terms) {
  const double relative = 2.0 * static_cast<double>(signal.rows()) * rounding_gamma(2 * terms + 16);
  signal.diagonal() += noise + relative * majorant;
  return Covariance::dense(std::move(signal));
}

/// M diag(gain) r diag(gain) M'.
Matrix signal_covariance(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  const Matrix image = layer.weight_mean() * gain_per_unit(piece, law).asDiagonal();
  const Covariance& r = piece.covariance;
  const bool is_dense = r.block_count() == 1 && r.rank() == 0;
  const Matrix carried =
      is_dense ? column_product(image, r.stacked_blocks()) : r.times(image.transpose()).transpose();
  Matrix signal = carried * image.transpose();
  if (law.is_masked()) {
    const Matrix masked = layer.weight_mean() * law.mask_gain.asDiagonal();
    signal.noalias() += masked * masked.transpose();
  }
  return 0.5 * (signal + signal.transpose());
}

/// Outputs that are correlated given their input: the noise has the covariance that it has on average (H.7).
Covariance correlated_covariance(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  const Matrix noise = layer.expected_noise(law.mean, activation_covariance(piece, law));
  const Vector majorant = (layer.weight_mean().cwiseAbs() * surrogate_deviations(law)).cwiseAbs2() +
                          2.0 * (law.second.sum() * layer.row_variances() + layer.bias_variances());
  return dense_sum(signal_covariance(layer, piece, law) + noise, Vector::Zero(layer.outputs()), majorant,
                   covariance_operations(layer));
}

Covariance pushed_covariance(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law,
                             const Vector& noise) {
  if (!layer.has_independent_outputs()) return correlated_covariance(layer, piece, law);
  const Matrix& m = layer.weight_mean();
  const Index n = layer.inputs();
  if (piece.covariance.is_diagonal()) {
    const Matrix factor = m * surrogate_deviations(law).asDiagonal();
    if (n < layer.outputs()) return Covariance::diagonal(noise).plus_low_rank(factor);
    Matrix signal = Matrix::Zero(layer.outputs(), layer.outputs());
    signal.selfadjointView<Eigen::Lower>().rankUpdate(factor);
    signal.triangularView<Eigen::StrictlyUpper>() = signal.transpose();
    const Vector majorant = signal.diagonal();
    return dense_sum(std::move(signal), noise, majorant, n);
  }
  const Vector majorant = (m.cwiseAbs() * surrogate_deviations(law)).cwiseAbs2();
  return dense_sum(signal_covariance(layer, piece, law), noise, majorant, 2 * n + piece.covariance.rank());
}

}  // namespace

Gaussian push_surrogate(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law, Vector mean,
                        const Vector& noise) {
  return {std::move(mean), pushed_covariance(layer, piece, law, noise)};
}

}  // namespace mixcert
