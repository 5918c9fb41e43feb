// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Other mixtures than a method's own, and what they cost.
#include "certify/returned_mixture.h"

#include <utility>
#include <variant>

#include "methods/moment/second_order.h"
#include "mixture/stretched_mixture.h"

namespace mixcert {
namespace {

/// Means and deviations that are this near to the network's, in deviations, stay as they are.
constexpr double kGoodMoments = 0.01;

/// Has it a layer whose outputs are correlated given its inputs, or masks that correlate the next layer's?
bool has_correlated_neurons(const Network& network) {
  for (Index k = 1; k < network.hidden_count(); ++k) {
    if (!network.mask(k).is_none()) return true;
  }
  for (Index k = 0; k < network.layer_count(); ++k) {
    if (!network.layer(k).has_independent_outputs()) return true;
  }
  return false;
}

}  // namespace

void replace_mixture(GaussianMixture mixture, const UpperBound& moved, const Options& options,
                     Certified& made) {
  made.result.mixture = std::move(mixture);
  made.certificate.moved = made.certificate.moved + moved;
  made.certificate.add_up();
  attach_certificate(made.certificate, options, made.shortage, made.result);
}

bool would_miss(const Options& options, const Certified& made, const UpperBound& moved) {
  const double bound = made.result.w2.value;
  return options.epsilon && bound <= *options.epsilon && !(enlarged(bound + moved.upper) <= *options.epsilon);
}

void give_second_order(const Prepared& prepared, Certified& made) {
  const auto* trace = std::get_if<Sealed<MomentTrace>>(&made.trace);
  if (trace == nullptr || made.is_fitted || prepared.network.hidden_count() == 0 ||
      !has_correlated_neurons(prepared.network))
    return;
  const MomentLayerTrace& first = (*trace)->layers.front();
  if (first.pieces.size() != 1 || made.result.mixture.size() != 1 || !made.result.w2.exists()) return;
  const OutputMoments output = second_order_moments(prepared.network, first.pieces.component(0));
  const Vector deviations = positive_part(output.variances).cwiseSqrt();
  if (!output.mean.allFinite() || !deviations.allFinite()) return;
  const Vector own = made.result.mixture.standard_deviation();
  const Vector off = (deviations - own).cwiseAbs() + (output.mean - made.result.mixture.mean()).cwiseAbs();
  if ((off.array() <= kGoodMoments * own.array()).all()) return;
  const StretchedMixture stretched = with_moments(output.mean, deviations, made.result.mixture);
  if (would_miss(prepared.options, made, stretched.moved)) return;
  replace_mixture(stretched.mixture, stretched.moved, prepared.options, made);
  made.is_fitted = true;
}

}  // namespace mixcert
