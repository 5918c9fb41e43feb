// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Table of the sampling options.
#include "sampling_flags.h"

#include <fmt/format.h>

#include <limits>

#include "mixcert/core/error.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

constexpr double kMaxGib = 8.0;

const OptionTable<SamplingFlags>& sampling_table() {
  static const OptionTable<SamplingFlags> table = {
      integer_option<SamplingFlags, Index>("samples", &SamplingFlags::samples, 2, 1000000000,
                                           "samples of the network at each input"),
      flag_option("joint", &SamplingFlags::joint, "one weight draw shared by all inputs"),
      integer_option<SamplingFlags, std::uint64_t>(
          "seed", &SamplingFlags::seed, 0, std::numeric_limits<std::uint64_t>::max(), "seed of the samples"),
      integer_option<SamplingFlags, int>("threads", &SamplingFlags::threads, 0, 4096,
                                         "threads; 0: one per processor"),
  };
  return table;
}

}  // namespace

void SamplingFlags::add_to(CLI::App& command, const std::vector<std::string>& only) {
  add_table_options(command, sampling_table(), *this, only);
}

SimulationOptions SamplingFlags::to_options() const {
  SimulationOptions options;
  options.samples = samples;
  options.seed = seed;
  options.threads = threads;
  options.cancel = &cancel_flag();
  return options;
}

void SamplingFlags::check_memory(Index rows) const {
  const double gib =
      2.0 * sizeof(double) * static_cast<double>(rows) * static_cast<double>(samples) / 0x1.0p30;
  if (gib <= kMaxGib) return;
  throw ResourceError(fmt::format("--samples {}: would need {:.1f} GiB, more than the limit of {} GiB",
                                  samples, gib, kMaxGib));
}

}  // namespace mixcert::cli
