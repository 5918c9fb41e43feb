// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The one table of theorems that may bound a local term of the moment method: it drives certificates,
// explanations and the tests of preconditions.
#pragma once

#include <string>
#include <string_view>

#include "methods/moment/theorem.h"

namespace mixcert {

// The rows, each in its theorem's folder; coupling_theorem() and correlated_coupling_theorem() are the moment
// method's.
Theorem convex_noise_theorem();         ///< (Y.27)
Theorem output_law_theorem();           ///< (Y.1)
Theorem fitted_law_theorem();           ///< (Y.40)
Theorem masked_output_theorem();        ///< (D.7)
Theorem noisy_masked_output_theorem();  ///< (D.8)
Theorem weak_signal_theorem();          ///< (Y.30)
Theorem stein_theorem();                ///< (Y.9)
Theorem first_layer_theorem();          ///< (Y.20)
Theorem both_layers_theorem();          ///< (Y.28)
Theorem masked_layers_theorem();        ///< (D.17)
Theorem mask_chain_theorem();           ///< (D.13)
Theorem mask_noise_theorem();           ///< (D.16)
Theorem mask_leaves_theorem();          ///< (D.19)

/// In the order in which they are tried.
const TheoremTable& theorem_table();
/// Those of the coupling alone, (H.3) and (H.7): the certificate is differentiable.
const TheoremTable& coupling_theorems();
/// Throws InvalidArgument where there is no such theorem.
const Theorem& theorem(std::string_view id);

/// For readers, of every theorem that LayerReport::theorem may name, those of the other methods too: "law of
/// the one output (Y.1)". What is no theorem ("several", of ensembles) stays as it is.
std::string theorem_in_words(std::string_view id);

}  // namespace mixcert
