// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// figure-sines, the paper's Figure 1: a network trained on NoisySines by Monte Carlo, its mixture, and the
// error curves, all at 100 inputs of its domain; ours beside it.
#include <fmt/format.h>

#include <cmath>

#include "mixcert/certify/certify.h"
#include "mixcert/statistics/simulate.h"
#include "reproduce/measurement.h"

namespace mixcert::lab {
namespace {

/// Trained weights leave deviations of a few hundredths: bands of one deviation could not be seen.
constexpr double kDeviations = 10.0;

struct Curve {
  std::vector<double> mean, deviation, low, high;

  void add(double m, double sd) {
    mean.push_back(m);
    deviation.push_back(sd);
    low.push_back(m - kDeviations * sd);
    high.push_back(m + kDeviations * sd);
  }
};

Plot band_plot(const std::string& name, const std::string& title, const std::vector<double>& x,
               const Curve& curve, Colour colour) {
  Plot plot;
  plot.name = "figure-sines-" + name;
  plot.title = title;
  plot.x = {"input x", false, -1.0, 1.0};
  plot.y = {"output", false, -2.0, 2.0};
  plot.bands = {{"± 10 standard deviations", x, curve.low, curve.high, colour}};
  plot.lines = {{"mean", x, curve.mean, Colour::Ink, Dash::Solid, false}};
  return plot;
}

Plot deviation_plot(const std::vector<double>& x, const Curve& sampled, const Curve& grid, const Curve& own) {
  Plot plot;
  plot.name = "figure-sines-deviations";
  plot.title = "Standard deviations";
  plot.caption = "Of the network by Monte Carlo, and of both mixtures.";
  plot.x = {"input x", false, -1.0, 1.0};
  plot.y = {"standard deviation"};
  plot.lines = {{"network, Monte Carlo", x, sampled.deviation, Colour::Green, Dash::Solid, false, 3.2},
                {"grid, N = 10", x, grid.deviation, Colour::Purple, Dash::Dashed, false},
                {"ours", x, own.deviation, Colour::Blue, Dash::Solid, false}};
  return plot;
}

struct Series {
  std::string name, label;
  ColumnKind kind;
  Colour colour;
  Dash dash;
};

const std::vector<Series>& error_series() {
  static const std::vector<Series> all = {
      {"paper_bound", "grid, formal", ColumnKind::Certified, Colour::Purple, Dash::Solid},
      {"ours_bound", "ours, formal", ColumnKind::Certified, Colour::Blue, Dash::Solid},
      {"ours_upper", "ours, upper (stat.)", ColumnKind::Estimate, Colour::Orange, Dash::DashDotted},
      {"paper_empirical", "grid, empirical", ColumnKind::Estimate, Colour::Amber, Dash::Dashed},
      {"paper_floor", "grid, empirical", ColumnKind::Floor, Colour::Ink, Dash::Dotted},
      {"ours_empirical", "ours, empirical", ColumnKind::Estimate, Colour::Green, Dash::Dashed},
      {"ours_floor", "ours, empirical", ColumnKind::Floor, Colour::Grey, Dash::Dotted}};
  return all;
}

/// W2 itself, as in the figure: relative numbers times their unit.
std::vector<RowNumbers> errors_along(const Context& context, const Subject& subject) {
  const Index samples = context.size(300, 1000);
  MeasurementPlan grid{paper_options(10, 5), samples, 0};
  MeasurementPlan best{our_options(), samples, context.size(500, 10000)};
  grid.options.seed = best.options.seed = context.options.seed;
  grid.options.threads = best.options.threads = context.options.threads;
  const std::vector<RowNumbers> paper = measure_points(context, subject, grid);
  const std::vector<RowNumbers> ours = measure_points(context, subject, best);
  std::vector<RowNumbers> rows(paper.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const char* name : {"bound", "empirical", "floor"})
      rows[i].set(std::string("paper_") + name, paper[i].at(name) * paper[i].at("unit"));
    for (const char* name : {"bound", "upper", "empirical", "floor"})
      rows[i].set(std::string("ours_") + name, ours[i].at(name) * ours[i].at("unit"));
  }
  return rows;
}

}  // namespace

Outcome figure_sines(const Context& context) {
  Outcome outcome;
  Subject subject = prepare_subject(context, find_network("sines-1x64"), 1);
  if (!subject.is_there()) {
    outcome.complete = false;
    outcome.remarks = {"Not reproduced: " + subject.gap};
    return outcome;
  }
  const Index count = context.size(9, 100);
  subject.inputs = Vector::LinSpaced(count, -1.0, 1.0).transpose();
  subject.inputs_file = context.options.out / "inputs" / "sines-line.npy";
  write_points(subject.inputs_file, subject.inputs);
  std::vector<double> x;
  Curve sampled, grid, own;
  const std::vector<RowNumbers> errors = errors_along(context, subject);
  const auto results =
      certify(subject.net(), subject.inputs, paper_options(10, 5), certify_services(context));
  const auto ours = certify(subject.net(), subject.inputs, our_options());
  for (Index i = 0; i < count; ++i) {
    x.push_back(subject.inputs(0, i));
    const Matrix samples =
        simulate(subject.net(), subject.inputs.col(i), i,
                 {context.size(300, 10000), context.options.seed, context.options.threads, context.cancel});
    const double mean = samples.mean();
    sampled.add(mean, std::sqrt((samples.array() - mean).square().mean()));
    const GaussianMixture& q = results[static_cast<std::size_t>(i)].mixture;
    grid.add(q.mean()(0), q.standard_deviation()(0));
    const GaussianMixture& best = ours[static_cast<std::size_t>(i)].mixture;
    own.add(best.mean()(0), best.standard_deviation()(0));
  }
  outcome.add(band_plot("network", "(a) Network, Monte Carlo", x, sampled, Colour::Orange));
  outcome.add(band_plot("mixture", "(b) Mixture of the paper's method, N = 10", x, grid, Colour::Grey));
  outcome.add(band_plot("ours", "(b') One Gaussian by the moment method", x, own, Colour::Grey));
  outcome.add(deviation_plot(x, sampled, grid, own));
  Plot plot;
  plot.name = "figure-sines-errors";
  plot.title = "(c) W2 between network and mixture";
  plot.caption =
      "Estimates dashed, proven bounds solid; dotted lines are the floors of the empirical figures.";
  plot.x = {"input x", false, -1.0, 1.0};
  plot.y = {"W2", true};
  ResultTable table{
      "figure-sines", "W2 at inputs of NoisySines, network [1x64]", {{"x", ColumnKind::Label}}, {}, {}};
  for (const Series& series : error_series()) {
    PlotLine line{series.kind == ColumnKind::Floor ? "floor: " + series.label : series.label,
                  x,
                  {},
                  series.colour,
                  series.dash,
                  false};
    for (const RowNumbers& row : errors) line.y.push_back(row.at(series.name));
    plot.lines.push_back(line);
    table.columns.push_back({series.label, series.kind});
  }
  Options with = our_options();
  with.statistics = context.size(500, 10000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ResultRow row{{fmt::format("{:.3f}", x[i])}, {}};
    for (const Series& series : error_series())
      row.values.push_back(number_or_nothing(errors[i].at(series.name)));
    row.origin = subject.origin(
        context, {certify_command(subject, paper_options(10, 5)), certify_command(subject, with)});
    table.rows.push_back(std::move(row));
  }
  outcome.remarks = {
      fmt::format("Monte Carlo: {} samples for (a), {} of either side for the empirical distances. The "
                  "paper's network is another "
                  "one: its data are a mixture of sines that it does not print.",
                  context.size(300, 10000), context.size(300, 1000))};
  outcome.add(plot);
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab
