// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (S.1) is differentiated as it stands. The refined error (S.4) of a coordinate is a function of its mean and
// deviation alone, made of maxima of slopes over cells; it is differentiated by central differences, accurate
// to about 1e-9 of the error per deviation wherever no maximum changes hands (Z.23).
#include <cmath>

#include "gradient/signature/signature_gradient.h"
#include "methods/signature/signature_certificate.h"

namespace mixcert {
namespace {

// Of the deviation: truncation and rounding of the differences are then both near 1e-10.
constexpr double kRelativeStep = 1e-5;

/// One component's share.
class ComponentErrors {
 public:
  ComponentErrors(const Gaussian& gaussian, const GridSignature& signature, const ActivationMap& activation,
                  Index input_count)
      : gaussian_(gaussian), signature_(signature), activation_(activation), input_count_(input_count) {
    const double l = activation.lipschitz().nominal;
    lipschitz_squared_ = l * l;
    variances_ = gaussian.covariance.variances();
    plain_ = lipschitz_squared_ * signature.mean_square_errors(variances_);
  }

  /// Is the error of coordinate i the refined one?
  [[nodiscard]] bool is_refined(Index i, double error) const { return error < plain_(i); }

  void add_plain(Index i, double error_bar, ComponentGradient& gradient) const {
    // Rounding has made an error negative; where there is no variance the derivative is one-sided.
    if (plain_(i) == 0.0 && variances_(i) > 0.0) return;
    const double bar = lipschitz_squared_ * error_bar;
    const Covariance& covariance = gaussian_.covariance;
    gradient.gaussian.blocks(i, i % covariance.block_size()) += bar;
    if (covariance.rank() > 0) gradient.gaussian.factor.row(i) += 2.0 * bar * covariance.factor().row(i);
    for (Index d = 0; d < signature_.axis_count(); ++d) {
      const double captured = 1.0 - signature_.quantizers[static_cast<std::size_t>(d)]->distortion.nominal;
      gradient.directions(i, d) -= 2.0 * bar * captured * signature_.directions(i, d);
    }
  }

  void add_refined(Index i, double error_bar, ComponentGradient& gradient) const {
    const Activation& activation = activation_.at(i / input_count_);
    const NormalQuantizer& quantizer = quantizer_of(i);
    const double mean = gaussian_.mean(i);
    const double deviation = std::sqrt(variances_(i));
    const double step = kRelativeStep * deviation;
    const auto error = [&](double m, double s) {
      return coordinate_error(activation, m, s, quantizer).nominal;
    };
    const double in_mean = error(mean + step, deviation) - error(mean - step, deviation);
    const double in_deviation = error(mean, deviation + step) - error(mean, deviation - step);
    gradient.gaussian.mean(i) += error_bar * in_mean / (2.0 * step);
    gradient.gaussian.blocks(i, 0) += error_bar * in_deviation / (4.0 * step * deviation);
  }

 private:
  [[nodiscard]] const NormalQuantizer& quantizer_of(Index i) const {
    for (std::size_t d = 0; d < signature_.coordinates.size(); ++d) {
      if (signature_.coordinates[d] == i) return *signature_.quantizers[d];
    }
    return optimal_quantizer(1);
  }

  const Gaussian& gaussian_;
  const GridSignature& signature_;
  const ActivationMap& activation_;
  Index input_count_;
  double lipschitz_squared_ = 1.0;
  Vector variances_;
  Vector plain_;
};

}  // namespace

Vector add_local_gradient(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          Index input_count, bool refine, ConstVectorRef g, double q_bar,
                          std::vector<ComponentGradient>& components) {
  const Matrix errors = local_errors(layer, activation, input_count, refine).nominal;
  for (Index j = 0; j < layer.after.size(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const ComponentErrors component(layer.after.component(j), layer.signatures[at], activation, input_count);
    for (Index i = 0; i < g.size(); ++i) {
      const double error_bar = q_bar * layer.after.weights()(j) * g(i);
      if (component.is_refined(i, errors(i, j))) {
        component.add_refined(i, error_bar, components[at]);
      } else {
        component.add_plain(i, error_bar, components[at]);
      }
    }
  }
  return q_bar * errors * layer.after.weights();
}

}  // namespace mixcert
