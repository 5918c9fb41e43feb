// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random masked networks beside exact distances.
#pragma once

#include <cmath>
#include <cstdint>

#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_tracer.h"

namespace mixcert::testing {

/// The certificate of a network at the input one.
struct MaskedCertificate {
  Network network;
  Sealed<MomentTrace> trace;
  Certificate plain, sharp;
  GaussianMixture output;

  /// At most `leaves` leaves of the masks of every hidden layer; `most`: components that may be fitted.
  MaskedCertificate(const Network& of, Index leaves, Index most);
};

struct Compared {
  Index used = 0;
  double closest = INFINITY;  ///< bound over truth
  double gained = 0.0;        ///< the coupling's bound over this one, at most
};

/// Expects no bound below the truth for networks of these seeds with one output.
Compared compare_masked(std::uint64_t from, std::uint64_t to, Index leaves, Index most);

}  // namespace mixcert::testing
