// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (H.3) with the roots of convex noise; the lemma is in methods/moment/moment_error.h.
#include "methods/moment/moment_certificate.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

bool sharpen_by_convex_noise(const Situation& situation, Index layer, Certificate& certificate) {
  const auto k = static_cast<std::size_t>(layer - 1);
  LayerTerms convex = certificate.layers[k];
  convex.theorem = "Y.27";
  evaluate_local(situation.network, situation.error_norms[k], situation.traced(layer), layer,
                 NoiseRule::Convex, convex);
  if (convex.local.upper < certificate.layers[k].local.upper) certificate.layers[k] = convex;
  return true;
}

std::vector<RootParts> parts(const Situation& situation, Index layer, const LayerTerms& terms) {
  return moment_parts(situation, layer, terms, NoiseRule::Convex);
}

}  // namespace

Theorem convex_noise_theorem() {
  return {"Y.27",
          "matched Gaussian, convex noise",
          "convex_noise.md",
          {precondition::kUnmasked,
           precondition::kIndependentNext,
           {"the layer's weights are random",
            [](const Situation& at, Index layer) { return at.layer(layer).next_is_random; }},
           {"the sizes of its activations are convex functions",
            [](const Situation& at, Index layer) { return at.layer(layer).has_convex_sizes; }}},
          sharpen_by_convex_noise,
          parts};
}

}  // namespace mixcert
