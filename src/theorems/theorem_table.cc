// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The rows, in the order in which they are tried.
#include "theorems/theorem_table.h"

#include <algorithm>
#include <string>

#include "methods/moment/moment_certificate.h"
#include "mixcert/core/error.h"

namespace mixcert {

const TheoremTable& theorem_table() {
  // (D.17) is last: it bounds the sum of two terms, and those that come before have lowered both.
  static const TheoremTable table = {
      coupling_theorem(),    correlated_coupling_theorem(), convex_noise_theorem(),  fitted_law_theorem(),
      output_law_theorem(),  noisy_masked_output_theorem(), masked_output_theorem(), stein_theorem(),
      weak_signal_theorem(), first_layer_theorem(),         both_layers_theorem(),   mask_chain_theorem(),
      mask_noise_theorem(),  mask_leaves_theorem(),         masked_layers_theorem(),
  };
  return table;
}

const TheoremTable& coupling_theorems() {
  static const TheoremTable table = {coupling_theorem(), correlated_coupling_theorem()};
  return table;
}

const Theorem& theorem(std::string_view id) {
  const TheoremTable& table = theorem_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Theorem& t) { return id == t.id; });
  if (found == table.end()) throw InvalidArgument("no theorem " + std::string(id));
  return *found;
}

std::string theorem_in_words(std::string_view id) {
  const std::string number = " (" + std::string(id) + ")";
  if (id == "S.1") return "grid points" + number;
  if (id == "J.1") return "matched Gaussian, jointly" + number;
  for (const Theorem& one : theorem_table()) {
    if (id == one.id) return one.name + number;
  }
  return std::string(id);
}

}  // namespace mixcert
