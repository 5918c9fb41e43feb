// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The additive certificate (M.2):
//     W2(p, q) <= sum_k  W_{G_k}(q_k, c_k)  +  W_{G_k}(c_k, signature)  +  rounding,
// evaluated from a trace for one chain of metrics or, term by term, for the best of several.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mixcert/certificate/result.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

/// Which constants and refinements a certificate may use.
enum class CertificateForm {
  Metric,    ///< every chain, local Lipschitz refinement
  Expected,  ///< the scalar chain lambda_max(E W'W), local Lipschitz refinement
  Paper,     ///< the paper's constants, global Lipschitz constants
};

/// What one hidden layer adds at the output.
struct LayerTerms {
  UpperBound compression;  ///< W2; the moment method's splitting included
  UpperBound splitting;    ///< the part of it that is splitting
  UpperBound local;        ///< W2, of signature or surrogate, and rounding
  UpperBound compression_w1;
  UpperBound local_w1;
  double gain = 0.0;       ///< largest sqrt(G_ii) of the chain of the local term
  std::string metric;      ///< name of that chain
  std::string theorem;     ///< number, in docs/theory, of what bounds the local term
  bool is_whole = false;   ///< is the local term about the law of the output as a whole, no sum over neurons?
  bool is_shared = false;  ///< is it what the next layer's local term leaves of a bound of both?
  std::shared_ptr<const LayerTerms>
      alone;                       ///< what they were before they were shared; null where they are not
  std::size_t chain = 0;           ///< its place among those tried
  std::string compression_metric;  ///< name of the compression term's; empty where nothing was compressed
};

Bound bound_of(Distance distance, UpperBound value);

struct Certificate {
  CertificateForm form = CertificateForm::Metric;
  std::vector<LayerTerms> layers;
  UpperBound first;  ///< of the first layer: weights that are not Gaussian, and rounding
  UpperBound moved;  ///< from the mixture that the layers' terms are about to the one that is handed out
  Bound w2;
  Bound w1;

  /// Sets both bounds to the sum of all terms.
  void add_up();
};

}  // namespace mixcert
