// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// figure-signature-size: formal bounds of the paper's method against the signature size N, M = 3, for every
// network of Table 1, and ours as one more line.
#include <fmt/format.h>

#include "reproduce/measurement.h"

namespace mixcert::lab {
namespace {

std::vector<Index> signature_sizes(const Context& context) {
  return context.quick() ? std::vector<Index>{1, 10, 100}
                         : std::vector<Index>{1, 3, 10, 30, 100, 300, 1000, 3000, 10000};
}

Plot bound_plot(const NetworkSpec& spec, const std::vector<double>& x, const std::vector<double>& paper,
                double ours) {
  Plot plot;
  plot.name = "figure-signature-size-" + spec.name;
  plot.title = spec.title + " " + spec.label;
  plot.x = {"signature size N", true};
  plot.y = {"relative formal bound", true};
  plot.height = 200.0;
  plot.lines = {
      {"paper mode, M = 3", x, paper, Colour::Purple, Dash::Solid, true},
      {"ours (one Gaussian, no N)", {x.front(), x.back()}, {ours, ours}, Colour::Blue, Dash::Dashed, false}};
  return plot;
}

}  // namespace

Outcome figure_signature_size(const Context& context) {
  Outcome outcome;
  const Index count = context.size(2, 10);
  ResultTable table{"figure-signature-size", "Relative formal bounds, M = 3", {}, {}, {}};
  table.columns = {{"data set", ColumnKind::Label},
                   {"network", ColumnKind::Label},
                   {"N", ColumnKind::Label},
                   {"paper mode", ColumnKind::Certified},
                   {"ours", ColumnKind::Certified},
                   {"paper mode, per point", ColumnKind::Seconds},
                   {"ours, per point", ColumnKind::Seconds},
                   {"remark", ColumnKind::Remark}};
  for (const NetworkSpec& spec : network_catalogue()) {
    if (!spec.table1) continue;
    const Subject subject = prepare_subject(context, spec, count);
    if (!subject.is_there()) {
      outcome.complete = outcome.complete && subject.for_ever;
      table.rows.push_back(
          {{spec.title, spec.label, std::string(), {}, {}, {}, {}, "not reproduced: " + subject.gap},
           {{}, "", "", context.options.seed}});
      continue;
    }
    const RowNumbers ours =
        measure(context, subject, "signature-size-" + spec.name + "-ours", {our_options()});
    std::vector<double> x;
    std::vector<double> paper;
    for (const Index size : signature_sizes(context)) {
      const Options options = paper_options(size, 3);
      const RowNumbers row =
          measure(context, subject, fmt::format("signature-size-{}-{}", spec.name, size), {options});
      x.push_back(static_cast<double>(size));
      paper.push_back(row.at("bound"));
      table.rows.push_back(
          {{spec.title, spec.label, std::to_string(size), number_or_nothing(row.at("bound")),
            number_or_nothing(ours.at("bound")), row.at("seconds"), ours.at("seconds"), spec.remark},
           subject.origin(context,
                          {certify_command(subject, options), certify_command(subject, our_options())})});
    }
    outcome.add(bound_plot(spec, x, paper, ours.at("bound")));
  }
  outcome.remarks = {fmt::format(
      "Means over {} test points (the paper: 100, and no printed numbers: its figure cannot be read to "
      "digits). The "
      "error of a signature falls with the root of what its leading directions leave; with 128 neurons of "
      "comparable "
      "variance a grid of 10,000 points spends 13 directions. Compression can make the bound rise with N.",
      count)};
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab
