// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An experiment: a name, what it repeats, and a function from the circumstances to tables and drawings. The
// list of all of them is experiments(); a further one is a further line there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/parallel.h"
#include "reproduce/plot.h"
#include "reproduce/result_table.h"

namespace mixcert::lab {

struct ReproduceOptions {
  /// Small networks, few points and samples: shows that everything runs.
  bool quick = false;
  std::filesystem::path out;
  std::filesystem::path networks;
  std::filesystem::path data;  ///< empty: that of `mixcert data`
  std::uint64_t seed = 0;
  int threads = 0;
  bool train = true;     ///< networks that are missing
  bool restart = false;  ///< do not take what an earlier run has finished
};

/// What an experiment is given.
struct Context {
  ReproduceOptions options;
  const CancelFlag* cancel = nullptr;
  std::function<void(const std::string&)> report;  ///< one line on what is going on; may be null
  double* earlier_seconds = nullptr;  ///< where the time of rows of earlier runs is added; may be null

  [[nodiscard]] bool quick() const { return options.quick; }
  /// The first in the quick form, the second otherwise.
  [[nodiscard]] Index size(Index quick, Index full) const { return options.quick ? quick : full; }
  void say(const std::string& line) const {
    if (report) report(line);
  }
  /// Throws Interrupted once the caller wants to stop.
  void check_cancelled() const;
  /// "mixcert reproduce NAME --seed 0", with --quick where it is.
  [[nodiscard]] std::string command(std::string_view name) const;
};

struct Drawing {
  std::string name;  ///< of its file
  std::string title;
  std::string caption;
  std::string chart;  ///< Vega specification
  bool wide = false;  ///< takes a row of the page
};

struct Outcome {
  std::vector<ResultTable> tables;
  std::vector<Drawing> drawings;
  std::vector<std::string> remarks;
  bool complete = true;  ///< false where something was missing that may be there another time
  double seconds = 0.0;  ///< wall clock, of all runs that it took

  /// Keeps the chart of the plot.
  void add(const Plot& plot);
};

struct Experiment {
  std::string_view name;
  std::string_view title;
  std::string_view source;  ///< where it stands in the paper
  Outcome (*run)(const Context&);
};

/// In the order of the index page.
const std::vector<Experiment>& experiments();
/// Those that a name stands for: one, or every one for "all". Throws InvalidArgument.
std::vector<const Experiment*> find_experiments(const std::string& name);

Outcome trained_networks(const Context& context);
Outcome figure_signatures(const Context& context);
Outcome example_method(const Context& context);
Outcome figure_convergence(const Context& context);
Outcome figure_conservatism(const Context& context);
Outcome table_errors(const Context& context);
Outcome table_compression(const Context& context);
Outcome figure_sines(const Context& context);
Outcome figure_signature_size(const Context& context);
Outcome figure_kernels(const Context& context);
Outcome figure_cost(const Context& context);
Outcome table_priors(const Context& context);
Outcome figure_prior(const Context& context);
Outcome figure_uci(const Context& context);

}  // namespace mixcert::lab
