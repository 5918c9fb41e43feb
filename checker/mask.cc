// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "mask.h"

namespace mixcert_check {
namespace {

/// phi(Phi^{-1}(p)), which is the same for 1 - p.
Ball density_at_quantile(const Ball& p) {
  const Ball t = by_arb(arb_hypgeom_erfcinv, Ball(2.0) * p);  // the quantile is -2^{1/2} t
  return exponential(-square(t)) / root(Ball(2.0) * Ball::pi());
}

}  // namespace

Mask Mask::of(const Json& entry) {
  for (const auto& [key, value] : entry.object()) {
    if (key != "type" && key != "rate" && key != "name" && key != "inputs")
      throw BadFile("not covered: dropout with '" + key + "'");
  }
  const double rate = entry.at("rate").number();
  if (!(rate >= 0.0 && rate < 1.0)) throw BadFile("dropout: expected a rate in [0, 1)");
  Mask made;
  if (rate == 0.0) return made;
  const Ball dropped = rate, keep = Ball(1.0) - dropped;
  made.is_random = true;
  made.variance = dropped / keep;
  if (entry.at("type").text() == "gaussian_dropout") {
    made.fourth = Ball(1.0) + Ball(6.0) * made.variance + Ball(3.0) * square(made.variance);
    made.coupling = root(made.variance);
  } else {
    made.fourth = Ball(1.0) / (square(keep) * keep);
    made.coupling = density_at_quantile(rate < 0.5 ? dropped : keep) / keep;
  }
  return made;
}

}  // namespace mixcert_check
