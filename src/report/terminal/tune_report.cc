// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reports of prior selection.
#include <fmt/format.h>

#include <algorithm>

#include "report/terminal/text_report.h"

namespace mixcert {
namespace {

/// Rows printed of a run, whatever its length.
constexpr Index kRows = 10;

}  // namespace

TuneReport::TuneReport(const TuneOptions& options)
    : steps_(options.steps),
      every_(std::max<Index>(1, options.steps / kRows)),
      table_({{"step", 7}, {"objective", 11}, {"distance", 11}, {"relative", 10}, {"certified bound", 16}}) {}

std::string TuneReport::add(const TuneStep& step) {
  if (begun_ && step.step % every_ != 0 && step.step != steps_) return "";
  std::string text;
  if (!begun_) text = "At each step's own batch of inputs, relative to the target:\n" + table_.header();
  begun_ = true;
  return text +
         table_.row({std::to_string(step.step), short_number(step.objective), short_number(step.distance),
                     short_number(step.distance / step.target_scale), short_bound(step.bound)});
}

std::string TuneReport::steps_text(const TuneRun& run) {
  return fmt::format("\n{} tuned in {} and {}{}\n", counted(run.parameter_count, "parameter"),
                     counted(static_cast<Index>(run.history.size()), "step"), short_time(run.seconds),
                     run.resumed ? ", continued from a checkpoint" : "");
}

std::string comparison_text(const PriorComparison& c, Index input_count) {
  std::string text =
      fmt::format("\nNetwork against target at {}, all at once:\n", counted(input_count, "input"));
  const TextTable table({{"W2", 44}, {"absolute", 10}, {"relative", 10}});
  text += table.header();
  const auto row = [&](const std::string& name, double value, bool is_bound) {
    const double relative = c.relative(value);
    text += table.row({name, is_bound ? short_bound(value) : short_number(value),
                       is_bound ? short_bound(relative) : short_number(relative)});
  };
  row("certified, at most", c.w2_certified, true);
  for (const PriorCertificate& certificate : c.certificates) {
    if (!certificate.gap.empty()) continue;
    row(fmt::format("  method {}: bound + distance", to_string(certificate.method)), certificate.w2, true);
    row("    of which the distance is", certificate.distance, true);
  }
  row(fmt::format("coupled simulation, at most ({})", counted(c.coupled_samples, "sample")),
      c.w2_upper_statistical, false);
  row(fmt::format("Gelbrich of {}", counted(c.samples, "sample")), c.lower.plug_in, false);
  row("  its floor, the target against itself", c.gelbrich_floor, false);
  row("  at least, by it", c.lower.lower, false);
  row(fmt::format("empirical, {} each", counted(c.empirical_samples, "sample")), c.empirical.distance, false);
  row("  its floor, the target against itself", c.empirical.floor, false);
  text += fmt::format(
      "Certified lines are proven; the others are estimates ({}; lower bound with confidence {}, upper bound "
      "fails\n"
      "with probability {:.3g}). Relative: divided by sqrt(E |target|^2) = {}.\n",
      c.assumption, short_percent(c.lower.confidence), c.failure_probability, short_number(c.target_scale));
  return text;
}

}  // namespace mixcert
