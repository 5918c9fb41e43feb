// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// figure-uci: posteriors of [2x128] networks on UCI tables under three priors, beside the Gaussian process.
// Networks took hours of a processor or a GPU: their scores are stored results (docs/uci-priors.md), with the
// programs that made them; the process is fitted here where the tables are in the data folder.
#include <fmt/format.h>

#include <cmath>

#include "data/load.h"
#include "mixcert/core/error.h"
#include "prior/table_process.h"
#include "reproduce/outcome_file.h"

namespace mixcert::lab {
namespace {

/// Mean and standard deviation over ten splits.
struct Score {
  double mean, deviation;
};

struct StoredScores {
  const char* set;
  const char* prior;
  Score rmse, nll;
  const char* remark;
};

// Programs for PyTorch and a GPU; `mixcert train` and `mixcert hmc` are the same methods.
constexpr const char* kVogn = "scripts/gpu/vogn_posterior.py of commit 8b47a96224d4 (no longer in the tree)";
constexpr const char* kHmc = "scripts/gpu/hmc_posterior.py of commit 8b47a96224d4 (no longer in the tree)";

constexpr StoredScores kVognScores[] = {
    {"boston", "isotropic", {2.947, 0.551}, {2.485, 0.175}, ""},
    {"boston", "fan-in", {2.987, 0.703}, {2.508, 0.231}, ""},
    {"boston", "tuned", {2.967, 0.575}, {2.481, 0.225}, ""},
    {"concrete", "isotropic", {5.654, 0.414}, {3.176, 0.075}, ""},
    {"concrete", "fan-in", {5.991, 0.308}, {3.260, 0.082}, ""},
    {"concrete", "tuned", {5.458, 0.275}, {3.119, 0.046}, ""},
    {"energy", "isotropic", {0.548, 0.064}, {0.809, 0.125}, ""},
    {"energy", "fan-in", {0.567, 0.054}, {0.882, 0.076}, ""},
    {"energy", "tuned", {0.543, 0.058}, {0.836, 0.084}, ""},
    {"kin8nm", "isotropic", {0.0767, 0.0020}, {-1.137, 0.034}, ""},
    {"kin8nm", "fan-in", {0.0702, 0.0024}, {-1.225, 0.040}, ""},
    {"kin8nm", "tuned", {0.0725, 0.0020}, {-1.207, 0.027}, ""},
};
constexpr StoredScores kHmcScores[] = {
    {"boston", "isotropic, HMC", {2.907, 0.906}, {2.371, 0.109}, ""},
    {"boston", "fan-in, HMC", {2.838, 0.960}, {2.581, 0.519}, ""},
    {"boston", "tuned, HMC", {2.640, 0.593}, {2.272, 0.141}, ""},
    {"concrete", "isotropic, HMC", {4.449, 0.534}, {2.915, 0.095}, ""},
    {"concrete", "fan-in, HMC", {5.103, 0.357}, {3.061, 0.102}, ""},
    {"concrete", "tuned, HMC", {4.278, 0.603}, {2.868, 0.112}, ""},
    {"energy", "isotropic, HMC", {0.746, 0.420}, {0.810, 0.149}, "not mixed"},
    {"energy", "fan-in, HMC", {0.425, 0.062}, {0.586, 0.097}, ""},
    {"energy", "tuned, HMC", {0.486, 0.056}, {0.704, 0.122}, ""},
    {"kin8nm", "isotropic, HMC", {0.0670, 0.0017}, {-1.285, 0.013}, "not mixed"},
    {"kin8nm", "fan-in, HMC", {0.0625, 0.0017}, {-1.357, 0.023}, ""},
    {"kin8nm", "tuned, HMC", {0.0654, 0.0021}, {-1.317, 0.017}, ""},
};
constexpr StoredScores kProcessScores[] = {
    {"boston", "process (stored)", {2.759, 0.619}, {2.435, 0.305}, ""},
    {"concrete", "process (stored)", {5.111, 0.781}, {3.031, 0.146}, ""},
    {"energy", "process (stored)", {0.480, 0.056}, {0.697, 0.140}, ""},
    {"kin8nm", "process (stored)", {0.0692, 0.0017}, {-1.258, 0.020}, ""},
};

ResultRow stored_row(const StoredScores& s, const char* command) {
  return {{std::string(s.set), std::string(s.prior), 10.0, s.rmse.mean, s.rmse.deviation, s.nll.mean,
           s.nll.deviation,
           std::string("stored result") + (*s.remark != '\0' ? std::string("; ") + s.remark : "")},
          {{std::string("stored: ") + command}, "", "", 0}};
}

/// kin8nm has 7,373 examples: minutes for each split.
Index live_splits(const std::string& set) { return set == "kin8nm" ? 1 : 10; }

Score score_of(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double square = 0.0;
  for (const double v : values) square += (v - mean) * (v - mean);
  return {mean, values.size() > 1 ? std::sqrt(square / static_cast<double>(values.size() - 1)) : 0.0};
}

RowNumbers fitted(const Context& context, const std::string& set, Index split) {
  return kept_row(context, fmt::format("uci-{}-{}", set, split), "table process", [&] {
    DataRequest request;
    request.name = set;
    request.folder = context.options.data;
    request.split_index = split;
    TableProcessOptions options;
    options.seed = context.options.seed;
    const TableProcess process = fit_table_process(load_dataset(request), options, context.cancel);
    const GpScores scores = process.in_data_units(process.test);
    RowNumbers row;
    row.set("rmse", scores.root_mean_square_error);
    row.set("nll", scores.negative_log_likelihood);
    return row;
  });
}

ResultRow live_row(const Context& context, const std::string& set, Outcome& outcome) {
  const std::string name = "process (here)";
  const RowOrigin origin{
      {fmt::format("mixcert gp --data {} --split-index 0 (to {})", set, live_splits(set) - 1)},
      "",
      "",
      context.options.seed};
  try {
    std::vector<double> rmse;
    std::vector<double> nll;
    for (Index split = 0; split < live_splits(set); ++split) {
      const RowNumbers row = fitted(context, set, split);
      rmse.push_back(row.at("rmse"));
      nll.push_back(row.at("nll"));
    }
    const Score r = score_of(rmse);
    const Score n = score_of(nll);
    return {{set, name, static_cast<double>(rmse.size()), r.mean, r.deviation, n.mean, n.deviation,
             std::string()},
            origin};
  } catch (const FileError& error) {
    outcome.complete = false;
    return {{set, name, {}, {}, {}, {}, {}, std::string("not reproduced: ") + error.what()}, origin};
  }
}

Plot score_plot(const std::string& set, bool nll) {
  Plot plot;
  plot.name = fmt::format("figure-uci-{}-{}", set, nll ? "nll" : "rmse");
  plot.title = fmt::format("{}: test {}", set, nll ? "negative log likelihood" : "RMSE");
  plot.x.names = {"gp", "isotropic", "fan-in", "tuned"};
  plot.x.label = "prior";
  plot.y = {nll ? "NLL" : "RMSE"};
  plot.height = 200.0;
  const auto dots = [&](const std::string& name, Colour colour, const auto& scores, double first,
                        double shift) {
    PlotDots d{name, {}, {}, colour};
    d.radius = 4.0;
    double place = first;
    for (const StoredScores& s : scores) {
      if (set != s.set) continue;
      const Score& score = nll ? s.nll : s.rmse;
      d.x.push_back(place + shift);
      d.y.push_back(score.mean);
      d.low.push_back(score.mean - score.deviation);
      d.high.push_back(score.mean + score.deviation);
      place += 1.0;
    }
    return d;
  };
  plot.dots = {dots("process", Colour::Ink, kProcessScores, 0.0, 0.0),
               dots("mean-field (VOGN)", Colour::Orange, kVognScores, 1.0, -0.12),
               dots("sampled (HMC)", Colour::Green, kHmcScores, 1.0, 0.12)};
  return plot;
}

}  // namespace

Outcome figure_uci(const Context& context) {
  Outcome outcome;
  outcome.remarks = {
      "Test scores in the data's units, mean and standard deviation over ten splits. Rows of networks are "
      "stored results: "
      "[2x128] tanh networks, noise as the process has it, VOGN with the step of the largest ELBO, and the "
      "same posterior "
      "sampled by HMC (docs/uci-priors.md has the schedules, what had not mixed, and the tables with other "
      "steps). Those "
      "rows were made with PyTorch programs of an earlier state of version 0.1.0 that are no longer in the "
      "tree; mixcert train and mixcert hmc are the same methods. The paper prints no numbers for its "
      "figure."};
  ResultTable table{"figure-uci", "Test scores", {}, {}, {}};
  table.columns = {{"set", ColumnKind::Label},     {"prior", ColumnKind::Label},
                   {"splits", ColumnKind::Number}, {"RMSE", ColumnKind::Estimate},
                   {"± RMSE", ColumnKind::Number}, {"NLL", ColumnKind::Estimate},
                   {"± NLL", ColumnKind::Number},  {"remark", ColumnKind::Remark}};
  for (const char* set : {"boston", "concrete", "energy", "kin8nm"}) {
    if (!context.quick()) table.rows.push_back(live_row(context, set, outcome));
    for (const StoredScores& s : kProcessScores)
      if (std::string(set) == s.set) table.rows.push_back(stored_row(s, "scripts/compare_priors_uci"));
    for (const StoredScores& s : kVognScores)
      if (std::string(set) == s.set) table.rows.push_back(stored_row(s, kVogn));
    for (const StoredScores& s : kHmcScores)
      if (std::string(set) == s.set) table.rows.push_back(stored_row(s, kHmc));
    outcome.add(score_plot(set, false));
    outcome.add(score_plot(set, true));
  }
  table.notes = {
      "Scores of held-out examples have no floor; their deviation over splits stands beside them."};
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab
