// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Intervals that are proven to hold at least the asked mass of a certified law (U.7).
#pragma once

#include "mixcert/answer/certified_line.h"

namespace mixcert {

struct CredibleInterval {
  double lower = 0.0;
  double upper = 0.0;
  double level = 0.0;         ///< no more than P_p(lower <= y <= upper)
  double enlargement = 0.0;   ///< what either side was moved out from where the search began
  double mixture_mass = 0.0;  ///< P_q(lower < y < upper)
};

/// The shorter of two: the mixture's central interval of mass `level` and the mixture's mean, both enlarged
/// equally on both sides until the proof succeeds. Infinite where there is no bound. Throws InvalidArgument
/// unless 0 < level < 1.
CredibleInterval credible_interval(const CertifiedLine& line, double level);

}  // namespace mixcert
