// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sections of the report of `mixcert answer`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text_table.h"
#include "report/pages/charts.h"
#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

using Kind = Column::Kind;

constexpr std::size_t kShownRows = 1000;
constexpr std::size_t kDrawnRows = 24;
/// Widest first; rows without a finite interval before all.
std::vector<AnswerRow> widest_first(std::vector<AnswerRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const AnswerRow& a, const AnswerRow& b) {
    return a.interval.width() > b.interval.width();
  });
  if (rows.size() > kShownRows) rows.resize(kShownRows);
  return rows;
}

std::string row_name(const AnswerRow& row, bool several_inputs) {
  return several_inputs ? fmt::format("{}, input {}", row.name, row.input) : row.name;
}

Figure interval_figure(const AnswerGroup& group, const std::vector<AnswerRow>& rows, bool several_inputs) {
  double low = group.axis_low, high = group.axis_high;
  const bool known = low < high;
  std::vector<NamedInterval> answers;
  for (const AnswerRow& row : rows) {
    if (answers.size() == kDrawnRows) break;
    answers.push_back({row_name(row, several_inputs), row.interval, true});
    if (known) continue;
    for (const double end : {row.interval.lower, row.interval.upper}) {
      if (!std::isfinite(end)) continue;
      low = low == high ? std::min(end, row.interval.estimate) : std::min(low, end);
      high = std::max(high, end);
    }
  }
  if (!(low < high)) high = low + 1.0;
  if (!known) {
    const double margin = 0.03 * (high - low);
    low -= margin;
    high += margin;
  }
  Figure figure;
  figure.title =
      rows.size() > answers.size() ? fmt::format("The {} widest intervals", answers.size()) : "Intervals";
  figure.caption = "Bar: where the network\u2019s value is proven to lie. Line: the mixture\u2019s value.";
  figure.alternative = "Intervals as bars; the table below has the numbers.";
  figure.spec = intervals_chart(answers, low, high, "");
  return figure;
}

Figure class_figure(const AnswerRow& row) {
  const auto smaller = [](const Interval& a, const Interval& b) { return a.estimate < b.estimate; };
  const auto best = std::max_element(row.classes.begin(), row.classes.end(), smaller) - row.classes.begin();
  std::vector<NamedInterval> answers;
  for (std::size_t i = 0; i < row.classes.size(); ++i) {
    answers.push_back({std::to_string(i), row.classes[i], static_cast<std::ptrdiff_t>(i) == best});
  }
  Figure figure;
  figure.title =
      fmt::format("Input {}: {}{}{}", row.input, row.name, row.verdict.empty() ? "" : ", ", row.verdict);
  figure.image = row.image;
  figure.alternative = fmt::format("Intervals of the probabilities of {} classes.", row.classes.size());
  figure.spec = intervals_chart(answers, 0.0, 1.0, "expected probability");
  return figure;
}

Table answer_table(const AnswerGroup& group, const std::vector<AnswerRow>& rows) {
  bool verdicts = false, images = false;
  for (const AnswerRow& row : rows) {
    verdicts |= !row.verdict.empty();
    images |= !row.image.empty();
  }
  Table table{group.title, {{"input"}}, {}, true};
  if (images) table.columns.push_back({"picture", Kind::Image});
  table.columns.push_back({"what", Kind::Text});
  const bool drawn = group.tone == Tone::Simulated;
  table.columns.push_back({drawn ? "of the draws" : "of the mixture"});
  for (const char* title : {"at least", "at most", "width"})
    table.columns.push_back({title, Kind::Number, group.tone});
  table.sorted_by = static_cast<int>(table.columns.size()) - 1;
  if (verdicts) table.columns.push_back({"verdict", Kind::Text});
  for (const AnswerRow& row : rows) {
    std::vector<Cell> cells{count_cell(row.input)};
    if (images) cells.push_back({fmt::format("input {}", row.input), NAN, row.image});
    cells.push_back(word_cell(row.name));
    cells.push_back(number_cell(row.interval.estimate));
    cells.push_back(lower_bound_cell(row.interval.lower));
    cells.push_back(bound_cell(row.interval.upper));
    cells.push_back(bound_cell(row.interval.width()));
    if (verdicts) cells.push_back(word_cell(row.verdict));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Section group_section(const AnswerGroup& group, bool several_inputs) {
  const std::vector<AnswerRow> rows = widest_first(group.rows);
  Section section{group.title, {}};
  if (!group.explanation.empty()) section.blocks.emplace_back(Paragraph{group.explanation});
  FigureRow charts;
  for (const AnswerRow& row : rows) {
    if (!row.classes.empty() && charts.figures.size() < kClassCharts)
      charts.figures.push_back(class_figure(row));
  }
  if (charts.figures.empty() && !rows.empty() && group.tone == Tone::Certified)
    charts.figures.push_back(interval_figure(group, rows, several_inputs));
  if (!charts.figures.empty()) section.blocks.emplace_back(std::move(charts));
  if (rows.size() < group.rows.size()) {
    section.blocks.emplace_back(Paragraph{fmt::format(
        "The table has the {} widest of {} intervals.", count_text(static_cast<long long>(rows.size())),
        count_text(static_cast<long long>(group.rows.size())))});
  }
  section.blocks.emplace_back(answer_table(group, rows));
  return section;
}

}  // namespace

Page answer_page(const AnswerContents& c) {
  Page page{"Certified answers",
            file_name(c.result_file),
            fmt::format("What the certificate proves about the network\u2019s outputs at {}{}: each interval "
                        "holds the true value.",
                        counted(c.inputs, "input"), c.holds_at.empty() ? "" : ", and at " + c.holds_at),
            c.headlines,
            c.warnings,
            {},
            c.run.version};
  FactList facts{{{"Result", c.result_file}}};
  for (const ModelFact& model : c.run.models)
    facts.facts.push_back({"Model", model.file.empty() ? model.sha256 : model.file, model.file.empty()});
  if (!c.inputs_file.empty()) facts.facts.push_back({"Inputs", c.inputs_file});
  if (!c.run.architecture.empty()) facts.facts.push_back({"Architecture", c.run.architecture});
  page.sections.push_back({"What was asked about", {facts}});
  for (const AnswerGroup& group : c.groups) page.sections.push_back(group_section(group, c.inputs > 1));
  for (Section& section : assumption_sections(c.run)) page.sections.push_back(std::move(section));
  page.sections.push_back(settings_section(c.run));
  return page;
}

}  // namespace mixcert::page
