// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certified numbers and Monte Carlo's side by side: a chart and a table for each kind of number. What is
// proven, what the mixture says and what was drawn have columns and colours of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/pages/command_pages.h"
#include "report/pages/page_parts.h"

namespace mixcert::page {
namespace {

using Kind = Column::Kind;

constexpr std::size_t kComparedRows = 24;

/// Mixtures and estimates lie in it, and proven ranges as far as they are not many times as wide.
std::pair<double, double> comparison_axis(const std::vector<ComparedNumber>& rows) {
  double low = INFINITY, high = -INFINITY;
  for (const ComparedNumber& row : rows) {
    for (const double end : {row.certified.estimate, row.drawn - 2.0 * row.error, row.drawn + 2.0 * row.error,
                             row.certified.lower, row.certified.upper}) {
      if (!std::isfinite(end)) continue;
      low = std::min(low, end);
      high = std::max(high, end);
    }
  }
  if (!(low < high)) return {low - 1.0, low + 1.0};
  const double margin = 0.03 * (high - low);
  return {low - margin, high + margin};
}

Figure comparison_figure(const ComparedGroup& group) {
  const std::vector<ComparedNumber> shown(
      group.rows.begin(),
      group.rows.begin() + static_cast<std::ptrdiff_t>(std::min(group.rows.size(), kComparedRows)));
  const auto [low, high] = comparison_axis(shown);
  Figure figure;
  figure.title = group.title;
  figure.caption = shown.size() < group.rows.size()
                       ? fmt::format("The first {} of {}.", shown.size(), group.rows.size())
                       : "";
  figure.alternative = "Proven ranges as bars, Monte Carlo as points; the table below has the numbers.";
  figure.legend = {{LegendEntry::Mark::Bound, "proven range"},
                   {LegendEntry::Mark::Mixture, "mixture"},
                   {LegendEntry::Mark::Estimate, "Monte Carlo, two standard errors"}};
  figure.spec = comparison_chart(shown, low, high, "");
  return figure;
}

Table comparison_table(const ComparedGroup& group) {
  Table table{group.title,
              {{"what", Kind::Text},
               {"of the mixture"},
               {"at least", Kind::Number, Tone::Certified},
               {"at most", Kind::Number, Tone::Certified},
               {"Monte Carlo", Kind::Number, Tone::Estimate},
               {"standard error", Kind::Number, Tone::Estimate}},
              {},
              true};
  for (const ComparedNumber& row : group.rows) {
    table.rows.push_back({word_cell(row.name), number_cell(row.certified.estimate),
                          lower_bound_cell(row.certified.lower), bound_cell(row.certified.upper),
                          number_cell(row.drawn), number_cell(row.error)});
  }
  return table;
}

}  // namespace

Page comparison_page(const ComparisonContents& contents) {
  Page page{"Comparison", contents.title, contents.summary, contents.headlines, {}, {}, contents.version};
  for (const ComparedGroup& group : contents.groups) {
    Section section{group.title, {}};
    if (!group.rows.empty()) section.blocks.emplace_back(FigureRow{{comparison_figure(group)}, true});
    section.blocks.emplace_back(comparison_table(group));
    page.sections.push_back(std::move(section));
  }
  Section notes{"How to read this", {}};
  for (const std::string& note : contents.notes) notes.blocks.emplace_back(Paragraph{note});
  if (!notes.blocks.empty()) page.sections.push_back(std::move(notes));
  return page;
}

}  // namespace mixcert::page
