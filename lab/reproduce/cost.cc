// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// figure-cost: how far from the network's law one gets for how much time, per input and on one thread.
// Monte Carlo: W2 between the law p and n samples p_n of it. With two samples of size n,
//     W2(p_n, p'_n) / 2 <= max(W2(p_n, p), W2(p'_n, p))  and  E W2(p_n, p)^2 <= E W2(p_n, p'_n)^2
// (triangle inequality; convexity of W2^2 in one argument), so that the two-sample distance brackets it.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "reproduce/measurement.h"

namespace mixcert::lab {
namespace {

double sampling_seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<Index> sample_sizes(const Context& context, Index outputs) {
  if (context.quick()) return {30, 100};
  std::vector<Index> sizes = {10, 30, 100, 300, 1000};
  if (outputs == 1) sizes.insert(sizes.end(), {10000, 100000});
  return sizes;
}

RowNumbers sampling_cost(const Context& context, const Subject& subject, Index samples) {
  const std::string name = fmt::format("cost-{}-mc-{}", subject.spec->name, samples);
  const std::string key = fmt::format("{} mc {} at {}", subject.sha256, samples, subject.inputs.cols());
  return kept_row(context, name, key, [&] {
    double square = 0.0;
    double seconds = 0.0;
    double unit = 0.0;
    const Index count = subject.inputs.cols();
    for (Index i = 0; i < count; ++i) {
      context.check_cancelled();
      const auto start = std::chrono::steady_clock::now();
      const Matrix a =
          simulate(subject.net(), subject.inputs.col(i), i, {samples, context.options.seed, 1, nullptr});
      seconds += sampling_seconds(start);
      const Matrix b =
          simulate(subject.net(), subject.inputs.col(i), i, {samples, context.options.seed + 1, 1, nullptr});
      unit = std::sqrt(a.colwise().squaredNorm().mean());
      square += empirical_wasserstein2(a, b) / unit;
    }
    RowNumbers row;
    row.set("upper", square / static_cast<double>(count));
    row.set("lower", 0.5 * square / static_cast<double>(count));
    row.set("seconds", seconds / static_cast<double>(count));
    return row;
  });
}

/// Ours with a growing budget: the moment method, all theorems, mixtures.
std::vector<std::pair<std::string, Options>> budgets(const Context& context) {
  Options moment = our_options();
  moment.method = Method::Moment;
  moment.theorems = TheoremSet::Coupling;
  std::vector<std::pair<std::string, Options>> all = {{"moment", moment}, {"auto", our_options()}};
  if (context.quick()) return all;
  for (const Index pieces : {2, 4, 8})
    all.emplace_back(fmt::format("{} pieces", pieces), our_options(pieces));
  return all;
}

void add_point(PlotDots& dots, double seconds, double value, double low, double high) {
  dots.x.push_back(1e3 * seconds);
  dots.y.push_back(value);
  dots.low.push_back(low);
  dots.high.push_back(high);
}

void add_costs(const Context& context, const Subject& subject, ResultTable& table, Outcome& outcome) {
  const NetworkSpec& spec = *subject.spec;
  Plot plot;
  plot.name = "figure-cost-" + spec.name;
  plot.title = spec.title + " " + spec.label;
  plot.x = {"time per input, ms (one thread)", true};
  plot.y = {"relative W2", true};
  PlotDots sampled{"Monte Carlo, bracket", {}, {}, Colour::Green};
  PlotLine paper{"paper mode, formal", {}, {}, Colour::Purple, Dash::Solid, true};
  PlotDots paper_distance{"paper mode, empirical", {}, {}, Colour::Amber};
  PlotLine ours{"ours, formal", {}, {}, Colour::Blue, Dash::Solid, true};
  PlotDots our_bracket{"ours, bracket", {}, {}, Colour::Orange};
  const Index statistics = context.size(500, 10000);
  const auto row = [&](const std::string& method, const std::string& size, double seconds,
                       const ResultValue& formal, double lower, double upper, double empirical, double floor,
                       const std::string& command) {
    table.rows.push_back({{spec.title, spec.label, method, size, seconds, formal, number_or_nothing(lower),
                           number_or_nothing(upper), number_or_nothing(empirical), number_or_nothing(floor)},
                          subject.origin(context, {command})});
  };
  for (const Index samples : sample_sizes(context, subject.net().outputs())) {
    const RowNumbers r = sampling_cost(context, subject, samples);
    add_point(sampled, r.at("seconds"), std::sqrt(r.at("lower") * r.at("upper")), r.at("lower"),
              r.at("upper"));
    row("Monte Carlo", fmt::format("{} samples", samples), r.at("seconds"), {}, r.at("lower"), r.at("upper"),
        NAN, NAN,
        fmt::format("mixcert sample {} --inputs {} --samples {}", subject.model.string(),
                    subject.inputs_file.string(), samples));
  }
  for (const Index size : context.quick() ? std::vector<Index>{10} : std::vector<Index>{1, 10, 100, 1000}) {
    const Options options = paper_options(size, 5);
    const RowNumbers r = measure(context, subject, fmt::format("cost-{}-paper-{}", spec.name, size),
                                 {options, context.size(200, 1000), statistics});
    paper.x.push_back(1e3 * r.at("seconds"));
    paper.y.push_back(r.at("bound"));
    add_point(paper_distance, r.at("seconds"), r.at("empirical"), r.at("lower"), r.at("empirical"));
    row("paper mode", fmt::format("N = {}", size), r.at("seconds"), r.at("bound"), r.at("lower"), NAN,
        r.at("empirical"), r.at("floor"), certify_command(subject, options));
  }
  for (const auto& [label, options] : budgets(context)) {
    const RowNumbers r =
        measure(context, subject,
                fmt::format("cost-{}-ours-{}-{}", spec.name, to_string(options.method), options.pieces),
                {options, context.size(200, 1000), statistics});
    ours.x.push_back(1e3 * r.at("seconds"));
    ours.y.push_back(r.at("bound"));
    add_point(our_bracket, r.at("seconds"), r.at("coupled"), r.at("lower"), r.at("upper"));
    row("ours", label, r.at("seconds"), r.at("bound"), r.at("lower"), r.at("upper"), r.at("empirical"),
        r.at("floor"), certify_command(subject, options));
  }
  plot.lines = {paper, ours};
  plot.dots = {sampled, paper_distance, our_bracket};
  outcome.add(plot);
}

}  // namespace

Outcome figure_cost(const Context& context) {
  Outcome outcome;
  ResultTable table{"figure-cost", "Error against time per input", {}, {}, {}};
  table.columns = {{"data set", ColumnKind::Label},         {"network", ColumnKind::Label},
                   {"method", ColumnKind::Label},           {"size", ColumnKind::Label},
                   {"time per input", ColumnKind::Seconds}, {"formal", ColumnKind::Certified},
                   {"lower (stat.)", ColumnKind::Estimate}, {"upper (stat.)", ColumnKind::Estimate},
                   {"empirical", ColumnKind::Estimate},     {"empirical", ColumnKind::Floor}};
  const std::vector<std::string> names =
      context.quick() ? std::vector<std::string>{"sines-1x64"}
                      : std::vector<std::string>{"sines-1x64", "sines-2x64", "kin8nm-2x128", "mnist-1x128",
                                                 "mnist-2x128"};
  for (const std::string& name : names) {
    const Subject subject = prepare_subject(context, find_network(name), context.size(2, 5));
    if (subject.is_there()) {
      add_costs(context, subject, table, outcome);
      continue;
    }
    outcome.complete = false;
    outcome.remarks.push_back(name + " is not reproduced: " + subject.gap);
  }
  outcome.remarks.push_back(
      "Error is W2 to the network's law relative to the output's size. Monte Carlo: the distance of two "
      "samples of size n "
      "brackets that of n samples from the law (its half, and itself). Paper mode: proven bound, empirical "
      "figure with the Gelbrich bound "
      "below it. Ours: proven bound, and the bracket of Gelbrich's bound and coupled simulation. Only the "
      "two proven "
      "columns are guarantees; Monte Carlo has none.");
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab
