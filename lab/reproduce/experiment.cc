// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The list of experiments.
#include "reproduce/experiment.h"

#include <fmt/format.h>

#include "mixcert/core/error.h"

namespace mixcert::lab {

void Context::check_cancelled() const {
  if (cancel != nullptr && cancel->load()) throw Interrupted("interrupted");
}

std::string Context::command(std::string_view name) const {
  return fmt::format("mixcert reproduce {}{} --seed {}", name, options.quick ? " --quick" : "", options.seed);
}

void Outcome::add(const Plot& plot) {
  drawings.push_back({plot.name, plot.title, plot.caption, plot_chart(plot), plot.wide});
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> list = {
      {"networks", "Networks, trained where they are missing", "networks and training", trained_networks},
      {"table1", "Errors of trained networks: empirical and formal", "Table 1", table_errors},
      {"table2", "Formal bounds against the size of compressed mixtures", "Table 2", table_compression},
      {"figure-signature-size", "Formal bounds against the signature size", "figure of signature sizes",
       figure_signature_size},
      {"figure-sines", "A network on NoisySines, its mixture and its errors", "Figure 1", figure_sines},
      {"figure-cost", "Accuracy against cost", "not in the paper", figure_cost},
      {"figure-kernels", "Kernels and means at 30 inputs", "figure of kernels and means", figure_kernels},
      {"figure-convergence", "Signatures of 2-D mixtures against their size", "figure of convergence rates",
       figure_convergence},
      {"figure-conservatism", "How conservative componentwise signatures are",
       "appendix, figure of componentwise signatures", figure_conservatism},
      {"figure-signatures", "Grid and cross signatures of a 2-D Gaussian", "figures of both constructions",
       figure_signatures},
      {"example-method", "The worked example of the convergence section", "example after the theorem",
       example_method},
      {"table3", "Priors tuned to Gaussian processes", "Table 3", table_priors},
      {"figure-prior", "Functions drawn from four priors", "figure of priors", figure_prior},
      {"figure-uci", "Posteriors on UCI tables", "figure of UCI tables", figure_uci},
  };
  return list;
}

std::vector<const Experiment*> find_experiments(const std::string& name) {
  std::vector<const Experiment*> found;
  std::string known = "all";
  for (const Experiment& experiment : experiments()) {
    if (name == "all" || name == experiment.name) found.push_back(&experiment);
    known += "|" + std::string(experiment.name);
  }
  require(!found.empty(), "NAME: expected " + known + ", got '" + name + "'");
  return found;
}

}  // namespace mixcert::lab
