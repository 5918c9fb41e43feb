// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// table3 and figure-prior: priors of [2x64] and [2x128] networks against Gaussian processes.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/statistics/simulate.h"
#include "reproduce/outcome_file.h"
#include "reproduce/prior_cases.h"
#include "reproduce/subject.h"

namespace mixcert::lab {
namespace {

/// One row of the paper's Table 3, and the critic's priors as docs/prior-selection.md has them: made on a GPU
/// with 1,000 critic steps by a program that is no longer in the tree (`mixcert critic-prior` is the same
/// method), relative Gelbrich and empirical distances.
struct PaperPrior {
  const char* arch;
  const char* label;
  const char* lengthscale;
  double uninformative, critic, tuned;
  double stored_gelbrich, stored_empirical;
};
constexpr PaperPrior kPaper[] = {
    {"1-64-64-1", "[2x64]", "1", 0.97, 0.30, 0.25, 0.080, 0.200},
    {"1-128-128-1", "[2x128]", "1", 0.46, 0.30, 0.25, 0.080, 0.205},
    {"1-64-64-1", "[2x64]", "0.75", 1.09, 0.39, 0.32, 0.112, 0.247},
    {"1-128-128-1", "[2x128]", "0.75", 0.56, 0.39, 0.31, 0.117, 0.261},
    {"1-64-64-1", "[2x64]", "0.5", 1.23, 0.53, 0.47, 0.188, 0.350},
    {"1-128-128-1", "[2x128]", "0.5", 0.69, 0.53, 0.43, 0.190, 0.353},
};
constexpr const char* kStored =
    "stored: scripts/gpu/critic_prior.py of commit 8b47a96224d4 (no longer in the tree); "
    "scripts/compare_priors --critics DIR";

PriorComparisonOptions comparison_options(const Context& context) {
  PriorComparisonOptions options;
  options.samples = context.size(300, 20000);
  options.coupled_samples = context.size(20, 400);
  options.empirical_samples = context.size(100, 1000);
  options.seed = context.options.seed;
  options.threads = context.options.threads;
  return options;
}

RowNumbers compared(const Context& context, const PriorCase& prior, const MadePrior& made) {
  const PriorComparisonOptions options = comparison_options(context);
  const std::string name = "prior-" + made.file.stem().string();
  const std::string key = fmt::format("{} {} {} {} {}", made.sha256, prior.kernel(), options.samples,
                                      options.coupled_samples, options.empirical_samples);
  return kept_row(context, name, key, [&] {
    const Matrix inputs = judged_points();
    const PriorComparison c = compare_prior(
        made.network, inputs, GaussianMixture(process_of(prior).law(inputs)), options, context.cancel);
    RowNumbers row;
    row.set("certified", c.relative(c.w2_certified));
    row.set("coupled", c.relative(c.coupled_cost));
    row.set("gelbrich", c.relative(c.lower.plug_in));
    row.set("gelbrich_floor", c.relative(c.gelbrich_floor));
    row.set("empirical", c.relative(c.empirical.distance));
    row.set("floor", c.relative(c.empirical.floor));
    return row;
  });
}

std::optional<double> printed_for(const PaperPrior& paper, PriorKind kind) {
  if (kind == PriorKind::Isotropic) return paper.uninformative;
  if (kind == PriorKind::Tuned) return paper.tuned;
  return std::nullopt;
}

ResultRow prior_row(const Context& context, const PaperPrior& paper, const PriorCase& prior) {
  const MadePrior made = make_prior(context, prior);
  const RowNumbers row = compared(context, prior, made);
  const auto printed = printed_for(paper, prior.kind);
  const std::string judge = fmt::format(
      "mixcert compare-prior {} --kernel '{}' --inputs {} --samples {} --coupled-samples {}",
      made.file.string(), prior.kernel(), (context.options.out / "inputs" / "prior-judged.npy").string(),
      comparison_options(context).samples, comparison_options(context).coupled_samples);
  return {{prior.lengthscale, std::string(paper.label), std::string(to_string(prior.kind)),
           printed ? ResultValue(*printed) : ResultValue(), number_or_nothing(row.at("empirical")),
           number_or_nothing(row.at("floor")), number_or_nothing(row.at("gelbrich")),
           number_or_nothing(row.at("gelbrich_floor")), number_or_nothing(row.at("coupled")),
           number_or_nothing(row.at("certified")), std::string()},
          {{made.command, judge}, made.file.string(), made.sha256, context.options.seed}};
}

struct Functions {
  Matrix drawn;  ///< points x functions
  std::string title, name;
};

Plot function_plot(const Vector& x, const Functions& functions) {
  const std::vector<double> places(x.data(), x.data() + x.size());
  const Vector mean = functions.drawn.rowwise().mean();
  const Vector deviation = ((functions.drawn.colwise() - mean).rowwise().squaredNorm() /
                            static_cast<double>(functions.drawn.cols()))
                               .cwiseSqrt();
  Plot plot;
  plot.name = "figure-prior-" + functions.name;
  plot.title = functions.title;
  plot.x = {"input x", false, -1.0, 1.0};
  plot.y = {"output", false, -4.5, 4.5};
  PlotBand band{"99.7 % (3 deviations)", places, {}, {}, Colour::Grey};
  PlotLine centre{"mean", places, {}, Colour::Ink, Dash::Solid, false};
  for (Index i = 0; i < x.size(); ++i) {
    band.low.push_back(mean(i) - 3.0 * deviation(i));
    band.high.push_back(mean(i) + 3.0 * deviation(i));
    centre.y.push_back(mean(i));
  }
  plot.bands = {band};
  for (Index f = 0; f < std::min<Index>(8, functions.drawn.cols()); ++f) {
    const Vector one = functions.drawn.col(f);
    plot.lines.push_back({"functions drawn",
                          places,
                          {one.data(), one.data() + one.size()},
                          Colour::Green,
                          Dash::Solid,
                          false,
                          0.9});
  }
  plot.lines.push_back(centre);
  return plot;
}

}  // namespace

Outcome table_priors(const Context& context) {
  Outcome outcome;
  write_points(context.options.out / "inputs" / "prior-judged.npy", judged_points());
  ResultTable table{"table3", "Relative W2 between priors and rbf processes, 20 inputs jointly", {}, {}, {}};
  table.columns = {{"length-scale", ColumnKind::Label},
                   {"network", ColumnKind::Label},
                   {"prior", ColumnKind::Label},
                   {"empirical", ColumnKind::Paper},
                   {"empirical", ColumnKind::Estimate},
                   {"empirical", ColumnKind::Floor},
                   {"Gelbrich", ColumnKind::Estimate},
                   {"Gelbrich", ColumnKind::Floor},
                   {"coupled (upper)", ColumnKind::Estimate},
                   {"certified", ColumnKind::Certified},
                   {"remark", ColumnKind::Remark}};
  for (const PaperPrior& paper : kPaper) {
    if (context.quick() && std::string(paper.lengthscale) != "1") continue;
    const std::string arch =
        context.quick() ? (std::string(paper.arch) == "1-64-64-1" ? "1-8-8-1" : "1-12-12-1") : paper.arch;
    for (const PriorKind kind : {PriorKind::Isotropic, PriorKind::FanIn, PriorKind::Tuned})
      table.rows.push_back(prior_row(context, paper, {arch, paper.lengthscale, kind}));
    table.rows.push_back({{std::string(paper.lengthscale),
                           std::string(paper.label),
                           std::string("critic (Tran et al.)"),
                           paper.critic,
                           paper.stored_empirical,
                           {},
                           paper.stored_gelbrich,
                           {},
                           {},
                           {},
                           std::string("stored result of a GPU run, per layer; floors as in the rows above")},
                          {{kStored}, "", "", 0}});
  }
  table.notes = {
      "The paper's isotropic prior must be another one: N(0, 1) on every weight gives its networks outputs "
      "of variance "
      "64 or 128 times the last activations', far from a process of variance 1; it does not print the "
      "variance that it used.",
      "Most of the paper's figures for tuned priors is the floor of the estimator: two samples of 1,000 "
      "functions of the "
      "same process are 0.18 to 0.31 apart at 20 inputs. The Gelbrich distance does not have that floor."};
  if (context.quick())
    table.notes.insert(table.notes.begin(),
                       "Quick form: hidden layers of 8 and 12 neurons stand for 64 and 128.");
  outcome.tables.push_back(std::move(table));
  return outcome;
}

Outcome figure_prior(const Context& context) {
  Outcome outcome;
  const std::string arch = context.quick() ? "1-8-8-1" : "1-128-128-1";
  const Index functions = context.size(50, 2000);
  const Vector x = Vector::LinSpaced(context.size(21, 101), -1.0, 1.0);
  const Matrix inputs = x.transpose();
  const PriorCase process{arch, "0.5", PriorKind::Tuned};
  ResultTable table{"figure-prior",
                    "Priors of the panels",
                    {{"panel", ColumnKind::Label}, {"what", ColumnKind::Remark}},
                    {},
                    {}};
  const auto add = [&](const Functions& drawn, const std::string& what, const RowOrigin& origin) {
    outcome.add(function_plot(x, drawn));
    table.rows.push_back({{drawn.title, what}, origin});
  };
  const auto network_panel = [&](PriorKind kind, const std::string& title, const std::string& what) {
    const MadePrior made = make_prior(context, {arch, "0.5", kind});
    const Matrix drawn = simulate_joint(
        made.network, inputs, {functions, context.options.seed, context.options.threads, context.cancel});
    add({drawn, title, std::string(to_string(kind))}, what,
        {{made.command}, made.file.string(), made.sha256, context.options.seed});
  };
  network_panel(
      PriorKind::FanIn, "(a) Isotropic prior, variance 1/fan-in",
      "the paper prints no variance; N(0, 1) on every weight has outputs ten times the scale of the process");
  add({sample_functions(process_of(process), inputs, functions, context.options.seed),
       "(b) Gaussian process, rbf(0.5)", "process"},
      "zero mean, length-scale 0.5, variance 1",
      {{context.command("figure-prior")}, "", "", context.options.seed});
  network_panel(PriorKind::Tuned, "(c) Prior tuned to the process (ours)",
                "300 steps, one variance per neuron");
  network_panel(PriorKind::Critic, "(d) Prior by a critic (Tran et al.)",
                "a reduced run, far fewer steps than published: for the picture only; distances of the full "
                "one are in table3");
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab
