// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.11): propagation and certificate are those of certify(); their trace is read
// backwards, layer by layer.
#include <cmath>
#include <string>
#include <utility>

#include "certificate/first_push.h"
#include "gradient/moment/moment_gradient.h"
#include "gradient/weight_gradient.h"
#include "methods/approximation_method.h"
#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

/// One Gaussian: neither compressed nor split.
MomentChoices whole(Index, const GaussianMixture&) { return {}; }

/// The error norm of that name.
std::size_t chosen_error_norm(const std::vector<ErrorNorm>& error_norms, const std::string& name) {
  for (std::size_t c = 0; c < error_norms.size(); ++c) {
    if (error_norms[c].name == name) return c;
  }
  throw InvalidArgument("gradient: no error_norm has a finite bound; expected weights of moderate size");
}

/// Derivatives in the law of the pre-activations that are being gone back through.
struct LawGradient {
  Vector mean;
  Matrix covariance;
};

LawGradient of_output(const Gaussian& law, ConstVectorRef mean_bar, ConstMatrixRef covariance_bar) {
  const Index n = law.dimension();
  require(mean_bar.size() == 0 || mean_bar.size() == n, "gradient: mean_bar has the wrong size");
  require(covariance_bar.size() == 0 || (covariance_bar.rows() == n && covariance_bar.cols() == n),
          "gradient: covariance_bar has the wrong size");
  LawGradient bar{Vector::Zero(n), Matrix::Zero(n, n)};
  if (mean_bar.size() > 0) bar.mean = mean_bar;
  if (covariance_bar.size() > 0) bar.covariance = covariance_bar;
  return bar;
}

/// One hidden layer: from derivatives in what it pushes to those in its piece.
LawGradient back_through(const ActivationMap& activation, const LocalError& local, double bound_weight,
                         const LawGradient& pushed, std::vector<NormGradient>& norms, LayerGradient& layer) {
  const Gaussian& piece = local.piece;
  PieceGradient piece_bar = PieceGradient::zero(piece);
  SurrogateGradient surrogate = SurrogateGradient::zero(piece.dimension());
  add_push_gradient(local.next, piece, local.law, pushed.mean, pushed.covariance, piece_bar, surrogate,
                    layer);
  if (bound_weight != 0.0) {
    norms = add_local_gradient(local, bound_weight, piece_bar, surrogate, layer);
  }
  const CoordinateGradient coordinates = surrogate_gradient(
      activation, piece.mean, piece.covariance.variances().cwiseSqrt(), 1, local.law, surrogate);
  piece_bar.deviation += coordinates.deviation;
  return {piece_bar.mean + coordinates.mean, piece_bar.total_covariance(piece)};
}

}  // namespace

MomentBound::MomentBound(const Network& network, ConstVectorRef input) : network_(network) {
  require_differentiable(network);
  check_inputs(network, input);
  point_ = first_point(network, input).point;
  error_norms_ = make_error_norms(network, SensitivityMode::Closed);
  trace_ = propagate_moments(network, input, whole, {});
  certificate_ = evaluate_moment_certificate(network, analyse_sensitivity(network), error_norms_, trace_);
}

NetworkGradient MomentBound::gradient(double bound_weight, ConstVectorRef mean_bar,
                                      ConstMatrixRef covariance_bar) const {
  NetworkGradient gradient = zero_gradient(network_);
  LawGradient bar = of_output(law(), mean_bar, covariance_bar);
  std::vector<ErrorNormGradient> norms(trace_->layers.size());
  for (std::size_t k = trace_->layers.size(); k-- > 0;) {
    const auto number = static_cast<Index>(k) + 1;
    norms[k].error_norm = chosen_error_norm(error_norms_[k], certificate_.layers[k].metric);
    const LocalError local{network_.layer(number), trace_->layers[k].pieces.component(0),
                           trace_->layers[k].surrogates.front(), error_norms_[k][norms[k].error_norm]};
    bar =
        back_through(network_.activation(number), local, bound_weight, bar, norms[k].norms, gradient[k + 1]);
  }
  pull_back_push(network_.layer(0), point_, 1, {bar.mean, bar.covariance.diagonal(), {}}, gradient.front());
  add_error_norm_gradient(network_, norms, gradient);
  return gradient;
}

}  // namespace mixcert
