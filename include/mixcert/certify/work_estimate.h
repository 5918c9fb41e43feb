// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How much time and memory a certification will take, in order of magnitude, before it is begun.
#pragma once

#include <string>

#include "mixcert/certificate/options.h"
#include "mixcert/network/ensemble.h"

namespace mixcert {

/// Multiplications that one thread is taken to do in a second: those of matrix products without
/// -march=native on the processors of 2020 and after. Seconds are within a factor of four on the networks of
/// docs/performance.md ("How long it will take"); behind one masked layer with several outputs, and for large
/// signatures, they were up to 34 times too small.
inline constexpr double kMultiplicationsPerSecond = 1e9;

struct WorkEstimate {
  std::string method;            ///< that takes most of the time, in words
  double multiplications = 0.0;  ///< for all inputs, those made once for the network included
  double bytes = 0.0;            ///< at the same time, beside the network and its inputs
  double seconds = 0.0;          ///< multiplications at the rate, shared by threads that have inputs
  bool may_be_drawn = false;     ///< option simulate takes draws of the network in place of this method
  bool is_least = false;         ///< with options.epsilon: the search may go on for longer

  /// Is the work to be announced: more than half a minute, or a quarter of what memory may hold?
  [[nodiscard]] bool is_long(const Options& options) const;
};

/// From sizes of layers, options and the number of inputs; no number of the network is looked at. Nothing is
/// written out, and no bound depends on it.
WorkEstimate estimate_work(const Ensemble& ensemble, const Options& options, Index input_count);

/// "8 s", "3 min", "2.5 h".
std::string duration_text(double seconds);

/// One line: how long, how much memory, and which options lower both.
std::string work_announcement(const WorkEstimate& estimate, const Options& options, Index input_count);

}  // namespace mixcert
