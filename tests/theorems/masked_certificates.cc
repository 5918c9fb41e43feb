// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masked_certificates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "theorems/masked_layers_oracle.h"
#include "theorems/theorem_table.h"

namespace mixcert::testing {

MaskedCertificate::MaskedCertificate(const Network& of, Index leaves, Index most) : network(of) {
  const MomentPlanner planner = [&](Index layer, const GaussianMixture& mixture) {
    MomentChoices choices;
    choices.masks = grow_mask_tree(Vector::Ones(mixture.dimension()), network.mask(layer), leaves);
    return choices;
  };
  trace = propagate_moments(network, Vector::Ones(1), planner, {});
  const ErrorNorms norms = make_error_norms(network, SensitivityMode::Closed);
  plain = evaluate_moment_certificate(network, analyse_sensitivity(network), norms, trace);
  SharpenedOutput made = sharpened_output(theorem_table(), network, norms, trace, {most, 0.0}, plain);
  sharp = std::move(made.certificate);
  output = made.mixture ? *std::move(made.mixture) : trace->output;
}

Compared compare_masked(std::uint64_t from, std::uint64_t to, Index leaves, Index most) {
  Compared compared;
  for (std::uint64_t seed = from; seed <= to; ++seed) {
    SCOPED_TRACE(seed);
    const TwoMaskedLayers net = random_masked_layers(seed, 1);
    const MaskedCertificate made(net.network(), leaves, most);
    const double exact = line_distance(output_patterns(net), Vector::Ones(1), made.output);
    EXPECT_GE(made.sharp.w2.value, exact * (1.0 - 1e-7));
    if (made.sharp.layers.front().theorem != "D.17") continue;
    ++compared.used;
    compared.closest = std::min(compared.closest, made.sharp.w2.value / exact);
    compared.gained = std::max(compared.gained, made.plain.w2.value / made.sharp.w2.value);
  }
  return compared;
}

}  // namespace mixcert::testing
