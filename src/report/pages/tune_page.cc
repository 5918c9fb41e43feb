// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sections of the report of `mixcert tune`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text_table.h"
#include "report/pages/charts.h"
#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

using Kind = Column::Kind;
using Mark = LegendEntry::Mark;

std::vector<Headline> headlines(const PriorComparison& c) {
  std::vector<Headline> all;
  all.push_back({"Certified W2, relative", "\u2264 " + percent_bound_text(c.relative(c.w2_certified)),
                 "of the target\u2019s root mean square", Tone::Certified});
  if (!std::isnan(c.w2_upper_statistical)) {
    all.push_back({"Coupled simulation, relative",
                   "\u2264 " + percent_text(c.relative(c.w2_upper_statistical)),
                   "estimate from above; not certified", Tone::Estimate});
  }
  all.push_back(
      {"Gelbrich, relative", percent_text(c.relative(c.lower.plug_in)),
       fmt::format("distance of the moments; its floor is {}", percent_text(c.relative(c.gelbrich_floor))),
       Tone::Estimate});
  all.push_back({"Empirical, relative", percent_text(c.relative(c.empirical.distance)),
                 fmt::format("its floor is {}", percent_text(c.relative(c.empirical.floor))),
                 Tone::Estimate});
  return all;
}

std::vector<std::string> warnings(const TuneContents& c) {
  std::vector<std::string> all;
  const PriorComparison& comparison = c.comparison;
  if (!std::isfinite(comparison.w2_certified)) {
    std::string why;
    for (const PriorCertificate& certificate : comparison.certificates) {
      if (!certificate.gap.empty() && why.empty()) why = ": " + certificate.gap;
    }
    all.push_back("There is no certified distance" + why + ".");
  } else if (comparison.relative(comparison.w2_certified) > 1.0) {
    all.emplace_back(
        "The certified distance exceeds the size of the target itself: it is true, and says little. The "
        "estimates beside it are sharper, and not proven.");
  }
  if (comparison.empirical.distance < 1.2 * comparison.empirical.floor) {
    all.emplace_back(
        "The empirical distance is close to its floor: so many samples cannot tell network and target apart "
        "better than the target from itself.");
  }
  return all;
}

Section subject_section(const TuneContents& c) {
  FactList facts;
  facts.facts.push_back({"Target", c.target});
  facts.facts.push_back({"Architecture", c.run.architecture});
  facts.facts.push_back(
      {"Prior", fmt::format("{} with {}", c.prior_file, counted(c.parameter_count, "tuned parameter"))});
  facts.facts.push_back(
      {"Inputs", fmt::format("{} from {}, {} held out for the comparison", counted(c.inputs, "input"),
                             c.inputs_file, count_text(c.held_out))});
  facts.facts.push_back(
      {"Steps", fmt::format("{} in {}{}", count_text(static_cast<long long>(c.history.size())),
                            short_time(c.seconds), c.resumed ? ", continued from a checkpoint" : "")});
  return {"What was tuned", {facts}};
}

Section history_section(const TuneContents& c) {
  std::vector<Curve> curves{{"certified bound, network to mixture", {}}, {"distance, mixture to target", {}}};
  for (const TuneStep& step : c.history) {
    curves[0].values.push_back(step.bound / step.target_scale);
    curves[1].values.push_back(step.distance / step.target_scale);
  }
  Figure figure;
  figure.title = "Bound and distance at every step";
  figure.caption = "Each step at its own batch of inputs, relative to the target there.";
  figure.alternative = "Curves of the certified bound and of the distance over the steps.";
  const LegendEntry bound{Mark::Bound, curves[0].name}, distance{Mark::Estimate, curves[1].name};
  figure.legend.push_back(bound);
  figure.legend.push_back(distance);
  figure.spec = curves_chart(curves, "relative W2");
  return {"How it went", {FigureRow{{figure}}}};
}

Table comparison_table(const PriorComparison& c) {
  Table table{"Distances between network and target", {{"W2", Kind::Text}}, {}};
  for (const char* title : {"certified", "relative"})
    table.columns.push_back({title, Kind::Number, Tone::Certified});
  for (const char* title : {"estimate", "relative"})
    table.columns.push_back({title, Kind::Number, Tone::Estimate});
  const Cell none{"", NAN};
  const auto certified = [&](const std::string& name, double value) {
    const double relative = c.relative(value);
    table.rows.push_back({word_cell(name),
                          {"\u2264 " + bound_text(value), value},
                          {percent_bound_text(relative), relative},
                          none,
                          none});
  };
  const auto estimated = [&](const std::string& name, double value, const std::string& sign = "") {
    const double relative = c.relative(value);
    table.rows.push_back({word_cell(name),
                          none,
                          none,
                          {sign + number_text(value), value},
                          {percent_text(relative), relative}});
  };
  certified("certified", c.w2_certified);
  for (const PriorCertificate& certificate : c.certificates) {
    if (!certificate.gap.empty()) continue;
    certified(fmt::format("\u2003method {}: bound + distance", to_string(certificate.method)),
              certificate.w2);
  }
  estimated(fmt::format("coupled simulation, {}", counted(c.coupled_samples, "sample")),
            c.w2_upper_statistical, "\u2264 ");
  estimated(fmt::format("Gelbrich, {}", counted(c.samples, "sample")), c.lower.plug_in);
  estimated("\u2003its floor: the target against itself", c.gelbrich_floor);
  estimated("\u2003at least, by it", c.lower.lower, "\u2265 ");
  estimated(fmt::format("empirical, {} each", counted(c.empirical_samples, "sample")), c.empirical.distance);
  estimated("\u2003its floor: the target against itself", c.empirical.floor);
  return table;
}

Section comparison_section(const TuneContents& c) {
  const std::string text = fmt::format(
      "At {} that no step saw, all at once. Relative: divided by the target\u2019s root mean square, {}.",
      counted(c.held_out, "input"), number_text(c.comparison.target_scale));
  return {"How close it came", {Paragraph{text}, comparison_table(c.comparison)}};
}

FigureRow covariance_row(const PriorPicture& p) {
  double limit = 0.0;
  for (const auto* values : {&p.target_covariance, &p.network_covariance}) {
    for (const double value : *values) limit = std::max(limit, std::abs(value));
  }
  const std::string axis = p.x.empty() ? "input" : "input, in rising order";
  FigureRow row;
  const auto add = [&](const std::string& title, const std::vector<double>& values) {
    Figure figure;
    figure.title = title;
    figure.alternative = title + ", as a heat map over pairs of inputs.";
    figure.spec = heatmap_chart(values, p.side, limit, axis);
    row.figures.push_back(std::move(figure));
  };
  add("Covariance of the target", p.target_covariance);
  add(fmt::format("Covariance of the network, from {} samples", count_text(p.samples)), p.network_covariance);
  return row;
}

FigureRow function_row(const PriorPicture& p) {
  double limit = 0.0;
  for (const auto* all : {&p.target_functions, &p.network_functions}) {
    for (const auto& one : *all) {
      for (const double value : one) limit = std::max(limit, std::abs(value));
    }
  }
  FigureRow row;
  const auto add = [&](const std::string& title, const std::vector<std::vector<double>>& all) {
    Figure figure;
    figure.title = title;
    figure.alternative = fmt::format("{} functions as curves.", all.size());
    figure.spec = functions_chart(p.x, all, 1.05 * limit);
    row.figures.push_back(std::move(figure));
  };
  add("Functions of the target", p.target_functions);
  add("Functions of the network", p.network_functions);
  return row;
}

}  // namespace

Page tune_page(const TuneContents& c) {
  Page page{"Weight prior",
            file_name(c.prior_file),
            "The prior over weights whose network is closest to the target, and how close it is.",
            headlines(c.comparison),
            warnings(c),
            {},
            c.run.version};
  page.sections.push_back(subject_section(c));
  page.sections.push_back(comparison_section(c));
  page.sections.push_back(history_section(c));
  Section pictures{"Target and network side by side", {}};
  if (!c.picture.x.empty()) pictures.blocks.emplace_back(function_row(c.picture));
  if (c.picture.side > 1) pictures.blocks.emplace_back(covariance_row(c.picture));
  if (!pictures.blocks.empty()) page.sections.push_back(std::move(pictures));
  page.sections.push_back(settings_section(c.run));
  return page;
}

}  // namespace mixcert::page
