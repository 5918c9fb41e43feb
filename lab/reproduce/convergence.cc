// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// figure-convergence and figure-conservatism: signatures of mixtures in the plane against their size. Formal
// bounds are componentwise (S.1); the clustered signature stands for the best locations there are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mixcert/statistics/simulate.h"
#include "reproduce/outcome_file.h"
#include "reproduce/planar_mixtures.h"

namespace mixcert::lab {
namespace {

/// Transport with more arcs than this takes minutes.
constexpr Index kMostArcs = 3000000;

std::vector<Index> locations_of(const Context& context) {
  return context.quick() ? std::vector<Index>{4, 16, 40} : std::vector<Index>{4, 10, 30, 100, 300, 1000};
}

Index samples_for(const Context& context, Index locations) {
  return context.quick() ? 400 : std::min<Index>(10000, kMostArcs / locations);
}

/// Samples of the mixture that no cluster was made of.
Matrix fresh_samples(const Context& context, const GaussianMixture& mixture, Index count) {
  return sample_mixture(mixture, count, context.options.seed, Stream::Mixture, 1);
}

void set_distance(RowNumbers& row, const std::string& name, const LawDistance& distance) {
  row.set(name, distance.distance);
  row.set(name + "_floor", distance.floor);
}

RowNumbers signature_row(const Context& context, Index components, Index locations, bool clustered) {
  const Index count = samples_for(context, locations);
  const std::string name =
      fmt::format("planar-{}-{}{}", components, locations, clustered ? "-clustered" : "");
  return kept_row(
      context, name, fmt::format("planar mixture {} {} samples {}", components, locations, count), [&] {
        const std::uint64_t seed = context.options.seed;
        const GaussianMixture mixture = planar_mixture(components, seed);
        const Matrix samples = fresh_samples(context, mixture, count);
        const MixtureSignature adaptive = grid_signature_of(mixture, locations, optimal_quantizer);
        RowNumbers row;
        row.set("points", static_cast<double>(adaptive.law.weights.size()));
        row.set("samples", static_cast<double>(count));
        row.set("adaptive", adaptive.bound);
        set_distance(row, "adaptive_empirical", sample_distance(samples, adaptive.law, seed));
        if (!clustered) return row;
        const MixtureSignature uniform = grid_signature_of(mixture, locations, uniform_quantizer);
        row.set("uniform", uniform.bound);
        row.set("rate", uniform.rate);
        set_distance(row, "uniform_empirical", sample_distance(samples, uniform.law, seed));
        const Matrix training = sample_mixture(mixture, context.size(2000, 100000), seed, Stream::Mixture, 0);
        set_distance(row, "clustered_empirical",
                     sample_distance(samples, clustered_signature(training, locations, seed), seed));
        return row;
      });
}

PlotLine line_of(const std::string& name, const std::vector<double>& x, const std::vector<RowNumbers>& rows,
                 const std::string& number, Colour colour, Dash dash) {
  PlotLine line{name, x, {}, colour, dash, dash == Dash::Solid};
  for (const RowNumbers& row : rows) line.y.push_back(row.at(number));
  return line;
}

Plot convergence_plot(std::string name, std::string title, std::string caption) {
  Plot plot;
  plot.name = std::move(name);
  plot.title = std::move(title);
  plot.caption = std::move(caption);
  plot.x = {"locations N of the whole signature", true};
  plot.y = {"W2 (E|z|² = 1)", true};
  return plot;
}

void add_convergence_plots(Index components, const std::vector<double>& x,
                           const std::vector<RowNumbers>& rows, Outcome& outcome) {
  Plot formal =
      convergence_plot(fmt::format("figure-convergence-formal-{}", components),
                       fmt::format("Formal bounds, M = {}", components),
                       "Proven W2 between mixture and signature; the dotted curve is the paper's corollary.");
  formal.lines = {line_of("adaptive grid", x, rows, "adaptive", Colour::Blue, Dash::Solid),
                  line_of("uniform grid", x, rows, "uniform", Colour::Purple, Dash::Dashed),
                  line_of("proven rate (uniform)", x, rows, "rate", Colour::Grey, Dash::Dotted)};
  Plot empirical =
      convergence_plot(fmt::format("figure-convergence-empirical-{}", components),
                       fmt::format("Empirical W2, M = {}", components),
                       "Transport between samples of the mixture and the signature. The floor is the same "
                       "estimate for samples of the signature itself.");
  empirical.lines = {
      line_of("adaptive grid", x, rows, "adaptive_empirical", Colour::Orange, Dash::Solid),
      line_of("uniform grid", x, rows, "uniform_empirical", Colour::Amber, Dash::Dashed),
      line_of("clustered", x, rows, "clustered_empirical", Colour::Green, Dash::DashDotted),
      line_of("floor (adaptive)", x, rows, "adaptive_empirical_floor", Colour::Grey, Dash::Dotted)};
  outcome.add(formal);
  outcome.add(empirical);
}

}  // namespace

Outcome figure_convergence(const Context& context) {
  Outcome outcome;
  outcome.remarks = {
      "The paper does not print its mixtures: these are drawn with distinct modes and E|z|² = 1. N counts "
      "the "
      "locations of the whole signature, N / M for each component. The paper's empirical figures are from "
      "10⁴ "
      "samples of either side; here samples of the mixture meet the signature with its exact weights."};
  ResultTable table{"figure-convergence", "Signatures of mixtures in the plane", {}, {}, {}};
  table.columns = {{"M", ColumnKind::Label},
                   {"N", ColumnKind::Label},
                   {"adaptive grid", ColumnKind::Certified},
                   {"uniform grid", ColumnKind::Certified},
                   {"proven rate", ColumnKind::Certified},
                   {"adaptive, empirical", ColumnKind::Estimate},
                   {"adaptive", ColumnKind::Floor},
                   {"uniform, empirical", ColumnKind::Estimate},
                   {"uniform", ColumnKind::Floor},
                   {"clustered, empirical", ColumnKind::Estimate},
                   {"clustered", ColumnKind::Floor},
                   {"samples", ColumnKind::Number}};
  for (const Index components : context.quick() ? std::vector<Index>{1, 3} : std::vector<Index>{1, 3, 10}) {
    std::vector<RowNumbers> rows;
    std::vector<double> x;
    for (const Index locations : locations_of(context)) {
      if (locations < components) continue;
      const RowNumbers row = signature_row(context, components, locations, true);
      x.push_back(static_cast<double>(locations));
      ResultRow shown{{std::to_string(components), std::to_string(locations)},
                      {{context.command("figure-convergence")}, "", "", context.options.seed}};
      for (const char* number : {"adaptive", "uniform", "rate", "adaptive_empirical",
                                 "adaptive_empirical_floor", "uniform_empirical", "uniform_empirical_floor",
                                 "clustered_empirical", "clustered_empirical_floor", "samples"})
        shown.values.push_back(number_or_nothing(row.at(number)));
      table.rows.push_back(std::move(shown));
      rows.push_back(row);
    }
    add_convergence_plots(components, x, rows, outcome);
  }
  outcome.tables.push_back(std::move(table));
  return outcome;
}

Outcome figure_conservatism(const Context& context) {
  Outcome outcome;
  outcome.remarks = {
      "The formal bound sums the components' errors as if none could serve another: exact for one Gaussian, "
      "conservative where components overlap."};
  ResultTable table{"figure-conservatism", "Componentwise signatures, bound and estimate", {}, {}, {}};
  table.columns = {{"M", ColumnKind::Label},          {"N", ColumnKind::Label},
                   {"formal", ColumnKind::Certified}, {"empirical", ColumnKind::Estimate},
                   {"empirical", ColumnKind::Floor},  {"formal / empirical", ColumnKind::Number},
                   {"samples", ColumnKind::Number}};
  std::vector<Plot> panels;
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  const std::vector<Index> sizes =
      context.quick() ? std::vector<Index>{1, 4} : std::vector<Index>{1, 2, 4, 8, 16};
  for (const Index size : sizes) {
    std::vector<RowNumbers> rows;
    std::vector<double> x;
    for (const Index locations : locations_of(context)) {
      if (locations < size) continue;
      const RowNumbers row = signature_row(context, size, locations, false);
      x.push_back(static_cast<double>(locations));
      table.rows.push_back({{std::to_string(size), std::to_string(locations), row.at("adaptive"),
                             row.at("adaptive_empirical"), row.at("adaptive_empirical_floor"),
                             row.at("adaptive") / row.at("adaptive_empirical"), row.at("samples")},
                            {{context.command("figure-conservatism")}, "", "", context.options.seed}});
      rows.push_back(row);
    }
    Plot& panel = panels.emplace_back(convergence_plot(
        fmt::format("figure-conservatism-{}", size), fmt::format("Adaptive grids, M = {}", size),
        "Bound and estimate for a mixture of M Gaussians; floors of the estimates in the table."));
    panel.lines = {line_of("bound", x, rows, "adaptive", Colour::Blue, Dash::Solid),
                   line_of("estimate", x, rows, "adaptive_empirical", Colour::Orange, Dash::Dashed)};
    for (const PlotLine& line : panel.lines) {
      for (const double y : line.y) {
        low = std::min(low, y);
        high = std::max(high, y);
      }
    }
  }
  // Axes of the same ends: gaps between bound and estimate can be compared by eye.
  for (Plot& panel : panels) {
    panel.y.low = 0.8 * low;
    panel.y.high = 1.25 * high;
    outcome.add(panel);
  }
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab
