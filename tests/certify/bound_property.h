// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The properties every certificate must have, checked on one random network after another. The quick
// and the heavy test differ in numbers only.
#pragma once

#include <cstdint>
#include <limits>

#include "mixcert/certify/certify.h"
#include "mixcert/network/network.h"

namespace mixcert::testing {

/// What was seen over all networks.
struct PropertySummary {
  Index networks = 0;
  Index joint = 0;
  Index compressed = 0;
  double smallest_ratio =
      std::numeric_limits<double>::infinity();  ///< bound / lower bound, where that is > 0
  Index ratios = 0;                             ///< how many lower bounds were > 0
  double largest_inflation = 0.0;               ///< slack for rounding / bound
  Index shallow_rises = 0;                      ///< of the next, how often the bound rose
  Index shallow_steps = 0;                      ///< neighbouring N at K = 1, each asserted not to rise
  Index deep_steps = 0;                         ///< doublings of N tried with K >= 2
  Index deep_falls = 0;                         ///< how often the bound did not rise
};

/// A network with inputs (one column, or several to be certified jointly) and options.
struct PropertyCase {
  Network network;
  Matrix inputs;
  Options options;
};

/// Number `index` of an endless list: K 1..3, all families and activations, weight scales over two
/// decades, all modes, with and without compression.
PropertyCase property_case(std::uint64_t index);

/// Services with the exact program over couplings of components.
Services transport_services();

/// Certifies the case and compares with `samples` samples of the network.
void check_against_simulation(const PropertyCase& tested, Index samples, PropertySummary& summary);

/// For one trace: metric <= expected <= paper, and slack for rounding is small.
void check_forms_on_one_trace(const PropertyCase& tested, PropertySummary& summary);

/// For K = 1 and N = 1, 2, 3, ..., 64 the bound must not rise; for deeper networks and N up to
/// `most_points` it is counted how often it does.
void check_growing_signatures(const PropertyCase& tested, Index most_points, PropertySummary& summary);

/// All of the above on the first `networks` cases (or MIXCERT_PROPERTY_NETWORKS of them), with a
/// summary line at the end.
void check_properties(Index networks, Index samples);

}  // namespace mixcert::testing
