// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Local terms by further theorems. Every layer's: (Y.27) where its noise is convex. The last hidden layer's:
// the law of the output itself (Y.1), (Y.9), (Y.30). No metric carries this term, so a bound of W2 is all
// that is needed; pieces combine as in (H.3). The first of two hidden layers: (Y.20), likewise a bound of W2
// at the output, or both together (Y.28).
#include <algorithm>
#include <utility>

#include "certify/line_push.h"
#include "certify/moment_local.h"
#include "certify/replaced_weights.h"
#include "certify/signal_apart.h"
#include "certify/stein_push.h"
#include "certify/theorem_table.h"
#include "certify/two_stage_carry.h"
#include "mixcert/certify/moment_certificate.h"

namespace mixcert {
namespace {

/// A theorem: the distance between the push of a piece and its Gaussian.
using PushDistance = Upper (*)(const ActivationMap&, const DenseLayer&, const Gaussian&, const SurrogateLaw&,
                               const Gaussian&);

/// Root mean square over the pieces, and what weights that are not Gaussian add; infinite where one piece is,
/// and where theorem `id` does not hold.
Upper local_error(const Network& network, const MomentTrace& trace, const char* id,
                  PushDistance push_distance) {
  const Index last = network.hidden_count();
  if (!theorem(id).may_hold({network, trace, last})) return {INFINITY, INFINITY};
  const MomentLayerTrace& layer = trace.layers.back();
  const DenseLayer& next = network.layer(last);
  Upper squared, replaced;
  for (Index i = 0; i < layer.pieces.size(); ++i) {
    const SurrogateLaw& law = layer.surrogates[static_cast<std::size_t>(i)];
    const Upper distance = push_distance(network.activation(last), next, layer.pieces.component(i), law,
                                         trace.output.component(i));
    const Upper weight = Upper::exact(layer.pieces.weights()(i));
    squared = squared + weight * distance * distance;
    if (!(squared.upper < INFINITY)) return {INFINITY, INFINITY};
    if (!has_replaced_weights(next)) continue;
    const Vector errors = replaced_weight_errors(next, law.second + law.second_error, 1);
    replaced = replaced + weight * Upper::of_sum(errors.sum(), errors.size() + 8);
  }
  return sqrt(squared) + sqrt(replaced);
}

void take_smaller(const Upper& local, const char* id, LayerTerms& terms) {
  if (!(local.upper < terms.local.upper)) return;
  terms.local = local;
  terms.local_w1 = min(terms.local_w1, local);
  terms.theorem = id;
}

/// `total` is of both local terms: the first one is what the last leaves of it.
void take_both(const Upper& total, LayerTerms& first, const LayerTerms& last) {
  if (!(total.upper < first.local.upper + last.local.upper)) return;
  const auto less = [&total](const Upper& other) -> Upper {
    return {positive_part(total.nominal - other.nominal), positive_part(next_up(total.upper - other.upper))};
  };
  first.local = less(last.local);
  first.local_w1 = min(first.local_w1, less(last.local_w1));
  first.theorem = "Y.28";
}

/// (H.3) with the roots of convex noise.
void take_convex_noise(const Network& network, const Carriers& carriers, const MomentTrace& trace,
                       Index number, LayerTerms& terms) {
  const auto k = static_cast<std::size_t>(number - 1);
  const NoiseRule rule = noise_rule(network, trace, number);
  if (rule == NoiseRule::Any) return;
  LayerTerms convex = terms;
  convex.theorem = "Y.27";
  evaluate_local(network, carriers[k], trace.layers[k], number, rule, convex);
  if (convex.local.upper < terms.local.upper) terms = convex;
}

}  // namespace

Certificate sharpened_certificate(const Network& network, const Carriers& carriers,
                                  const Sealed<MomentTrace>& trace, Certificate certificate) {
  const MomentTrace& made = *trace;
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    take_convex_noise(network, carriers, made, k, certificate.layers[static_cast<std::size_t>(k - 1)]);
  }
  certificate.add_up();
  if (made.layers.empty()) return certificate;
  const TwoStageDistance stages = two_stage_distance(network, carriers, made);
  take_smaller(stages.first, "Y.20", certificate.layers.front());
  LayerTerms& terms = certificate.layers.back();
  // For one output (Y.1) is next to exact; where it does not apply, or for several, (Y.9).
  const Upper line = local_error(network, made, "Y.1", line_push_distance);
  take_smaller(line, "Y.1", terms);
  if (!(line.upper < INFINITY))
    take_smaller(local_error(network, made, "Y.9", stein_push_distance), "Y.9", terms);
  take_smaller(signal_apart_distance(network, made), "Y.30", terms);
  if (certificate.layers.size() == 2) take_both(stages.both, certificate.layers.front(), terms);
  certificate.add_up();
  return certificate;
}

}  // namespace mixcert
