// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The index page: a section for every experiment, with its tables, drawings and where each row comes from.
#include "reproduce/index_page.h"

#include <fmt/format.h>

#include <utility>

#include "mixcert/core/version.h"
#include "report/pages/page_parts.h"

namespace mixcert::lab {
namespace {

page::Tone tone_of(ColumnKind kind) {
  if (kind == ColumnKind::Certified) return page::Tone::Certified;
  return kind == ColumnKind::Estimate || kind == ColumnKind::Floor ? page::Tone::Estimate : page::Tone::Plain;
}

bool is_words(ColumnKind kind) { return kind == ColumnKind::Label || kind == ColumnKind::Remark; }

page::Table shown_table(const ResultTable& table) {
  page::Table shown;
  shown.caption = table.title;
  shown.sortable = table.rows.size() > 3;
  for (const ResultColumn& column : table.columns) {
    const std::string kind = column.kind == ColumnKind::Paper || column.kind == ColumnKind::Floor
                                 ? " (" + kind_text(column.kind) + ")"
                                 : "";
    shown.columns.push_back({column.name + kind,
                             is_words(column.kind) ? page::Column::Kind::Text : page::Column::Kind::Number,
                             tone_of(column.kind)});
  }
  for (const ResultRow& row : table.rows) {
    std::vector<page::Cell> cells;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      page::Cell cell{value_text(row.values[i], table.columns[i].kind)};
      if (const auto* number = std::get_if<double>(&row.values[i])) cell.key = *number;
      cells.push_back(std::move(cell));
    }
    shown.rows.push_back(std::move(cells));
  }
  return shown;
}

page::Table origin_table(const ResultTable& table) {
  page::Table shown;
  shown.caption = "Where the rows of \"" + table.title + "\" come from";
  for (const char* title : {"row", "network", "seed", "commands"})
    shown.columns.push_back({title, page::Column::Kind::Text});
  for (const ResultRow& row : table.rows) {
    std::string label;
    std::string commands;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (table.columns[i].kind == ColumnKind::Label)
        label += (label.empty() ? "" : " ") + value_text(row.values[i], ColumnKind::Label);
    }
    for (const std::string& command : row.origin.commands)
      commands += (commands.empty() ? "" : "; ") + command;
    const std::string network = row.origin.network.empty() ? ""
                                                           : page::file_name(row.origin.network) + " " +
                                                                 row.origin.sha256.substr(0, 12);
    shown.rows.push_back({{label}, {network}, {std::to_string(row.origin.seed)}, {commands}});
  }
  return shown;
}

/// Wide drawings have a row of their own; others stand two beside each other.
void add_drawings(const std::vector<Drawing>& drawings, page::Section& section) {
  page::FigureRow row{{}, true};
  const auto finish = [&] {
    if (!row.figures.empty()) section.blocks.emplace_back(std::exchange(row, {{}, true}));
  };
  for (const Drawing& drawing : drawings) {
    if (drawing.wide) finish();
    page::Figure figure;
    figure.title = drawing.title;
    figure.caption = drawing.caption;
    figure.alternative = drawing.title + ". " + drawing.caption;
    figure.spec = drawing.chart;
    row.figures.push_back(std::move(figure));
    if (drawing.wide) finish();
  }
  finish();
}

page::Section section_of(const Context& context, const Experiment& experiment, const Outcome* outcome) {
  page::Section section{fmt::format("{}: {}", experiment.name, experiment.title), {}};
  const std::string command = context.command(experiment.name);
  if (outcome == nullptr) {
    section.blocks.emplace_back(page::Paragraph{"Not run yet: " + command});
    return section;
  }
  for (const std::string& remark : outcome->remarks) section.blocks.emplace_back(page::Paragraph{remark});
  page::FileLinks links{{{std::string(experiment.name) + ".json", "JSON"}}};
  page::Folded origins{"Where each row comes from", {}};
  for (const ResultTable& table : outcome->tables) {
    section.blocks.emplace_back(page::Paragraph{table.title});
    section.blocks.emplace_back(shown_table(table));
    for (const std::string& note : table.notes) section.blocks.emplace_back(page::Paragraph{note});
    origins.tables.push_back(origin_table(table));
    links.files.push_back({table.name + ".csv", table.name + ".csv"});
  }
  for (const Drawing& drawing : outcome->drawings)
    links.files.push_back({drawing.name + ".vega.json", drawing.name + ".vega.json"});
  add_drawings(outcome->drawings, section);
  if (!origins.tables.empty()) section.blocks.emplace_back(std::move(origins));
  section.blocks.emplace_back(page::FactList{{{"Command", command, true},
                                              {"In the paper", std::string(experiment.source)},
                                              {"Wall time", fmt::format("{:.1f} s", outcome->seconds)}}});
  section.blocks.emplace_back(std::move(links));
  return section;
}

}  // namespace

page::Page index_page(const Context& context, const std::vector<const Outcome*>& outcomes) {
  page::Page shown;
  shown.kind = "Reproduction";
  shown.title = "The paper's results and ours, side by side";
  shown.summary =
      "Tables and figures of \"Finite Neural Networks as Mixtures of Gaussian Processes\" (Adams, Patanè, "
      "Lahijanian, Laurenti), made again by command. Distances are W2 relative to the root mean square of "
      "the "
      "mixture unless a title says otherwise. Proven numbers are blue, estimates orange; the paper's printed "
      "figures have columns of their own, and every empirical figure has its floor beside it: what the same "
      "estimator says of two samples of one law.";
  double seconds = 0.0;
  long long there = 0;
  for (const Outcome* outcome : outcomes) {
    if (outcome == nullptr) continue;
    seconds += outcome->seconds;
    ++there;
    if (!outcome->complete) shown.warnings = {"Some rows could not be made; they say why."};
  }
  if (context.quick())
    shown.warnings.insert(shown.warnings.begin(),
                          "The quick form: small networks, few points and samples. It shows that everything "
                          "runs; its numbers stand for nothing.");
  shown.headlines = {
      {"experiments", fmt::format("{} of {}", there, outcomes.size()), "", page::Tone::Plain},
      {"wall time of all", fmt::format("{:.0f} s", seconds), "sum over the experiments", page::Tone::Plain},
      {"seed", std::to_string(context.options.seed), "", page::Tone::Plain}};
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    shown.sections.push_back(section_of(context, experiments()[i], outcomes[i]));
  shown.version = version();
  return shown;
}

}  // namespace mixcert::lab
