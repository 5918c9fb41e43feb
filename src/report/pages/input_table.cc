// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs, worst bound first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

using Kind = Column::Kind;

/// Which columns the rows have.
struct Shape {
  bool images = false, nearest = false, simulated = false, statistics = false, upper = false, classes = false,
       cells = false;
  std::size_t features = 0, outputs = 0;
};

Shape shape_of(const CertifyContents& c) {
  Shape shape;
  for (const InputRow& row : c.rows) {
    shape.images |= !row.image.empty();
    shape.nearest |= !std::isnan(row.gaussian_lower);
    shape.simulated |= !std::isnan(row.simulated);
    shape.statistics |= !std::isnan(row.lower);
    shape.upper |= !std::isnan(row.upper);
    shape.classes |= row.classes.has_value();
    shape.cells |= !row.cell_from.empty();
    shape.features = std::max(shape.features, row.features.size());
    shape.outputs = std::max(shape.outputs, row.mean.size());
  }
  return shape;
}

std::vector<Column> columns_of(const CertifyContents& c, const Shape& shape) {
  std::vector<Column> columns{{"input"}};
  if (shape.images) columns.push_back({"picture", Kind::Image});
  for (std::size_t i = 0; i < shape.features; ++i) {
    const std::string feature = c.features == 1 ? "x" : fmt::format("x{}", i);
    if (!shape.cells) columns.push_back({feature});
    if (shape.cells) columns.insert(columns.end(), {{feature + " from"}, {feature + " to"}});
  }
  columns.push_back({"W2 \u2264", Kind::Number, Tone::Certified});
  columns.push_back({"relative \u2264", Kind::Number, Tone::Certified});
  if (shape.nearest) columns.push_back({"any Gaussian \u2265", Kind::Number, Tone::Certified});
  if (shape.simulated) columns.push_back({"W2 \u2264 sim.", Kind::Number, Tone::Simulated});
  if (shape.statistics) columns.push_back({"W2 \u2265 est.", Kind::Number, Tone::Estimate});
  if (shape.upper) columns.push_back({"W2 \u2264 est.", Kind::Number, Tone::Estimate});
  if (shape.classes) {
    columns.push_back({"class"});
    columns.push_back({"P \u2265", Kind::Number, Tone::Certified});
    columns.push_back({"P \u2264", Kind::Number, Tone::Certified});
    columns.push_back({"settled", Kind::Text});
  }
  if (c.outputs > kShownOutputs) columns.push_back({"largest output"});
  for (std::size_t i = 0; i < shape.outputs; ++i) {
    const std::string which = c.outputs == 1 || c.outputs > kShownOutputs ? "" : fmt::format(" {}", i);
    columns.push_back({"mean" + which});
    columns.push_back({"sd" + which});
  }
  columns.push_back({"components"});
  columns.push_back({"method", Kind::Text});
  return columns;
}

void add_classes(const InputRow& row, std::vector<Cell>& cells) {
  if (!row.classes) {
    cells.insert(cells.end(), {number_cell(NAN), number_cell(NAN), number_cell(NAN), word_cell("\u2013")});
    return;
  }
  const Interval& probability = row.classes->probabilities[static_cast<std::size_t>(row.classes->predicted)];
  cells.push_back(count_cell(row.classes->predicted));
  cells.push_back(lower_bound_cell(probability.lower));
  cells.push_back(bound_cell(probability.upper));
  cells.push_back(word_cell(row.classes->settled ? "yes" : "no"));
}

std::vector<Cell> cells_of(const InputRow& row, const Shape& shape, bool largest) {
  std::vector<Cell> cells{count_cell(row.input)};
  if (shape.images) cells.push_back({fmt::format("input {}", row.input), NAN, row.image});
  for (std::size_t i = 0; i < shape.features; ++i) {
    if (!shape.cells) cells.push_back(number_cell(i < row.features.size() ? row.features[i] : NAN));
    if (shape.cells) {
      cells.push_back(number_cell(i < row.cell_from.size() ? row.cell_from[i] : NAN));
      cells.push_back(number_cell(i < row.cell_to.size() ? row.cell_to[i] : NAN));
    }
  }
  cells.push_back(bound_cell(row.bound));
  cells.push_back({percent_bound_text(row.relative), row.relative});
  if (shape.nearest) cells.push_back(lower_bound_cell(row.gaussian_lower));
  if (shape.simulated) cells.push_back(bound_cell(row.simulated));
  if (shape.statistics) cells.push_back(number_cell(row.lower));
  if (shape.upper) cells.push_back(number_cell(row.upper));
  if (shape.classes) add_classes(row, cells);
  if (largest) cells.push_back(count_cell(row.largest_output));
  for (std::size_t i = 0; i < shape.outputs; ++i) {
    cells.push_back(number_cell(i < row.mean.size() ? row.mean[i] : NAN));
    cells.push_back(number_cell(i < row.deviation.size() ? row.deviation[i] : NAN));
  }
  cells.push_back(count_cell(row.components));
  cells.push_back(word_cell(row.method));
  return cells;
}

Section table_section(const CertifyContents& c, const Shape& shape) {
  Table table{"Inputs, largest bound first", columns_of(c, shape), {}, true};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].title == "W2 \u2264") table.sorted_by = static_cast<int>(i);
  }
  for (const InputRow& row : c.rows) table.rows.push_back(cells_of(row, shape, c.outputs > kShownOutputs));
  Section section{"Every input", {}};
  if (static_cast<Index>(c.rows.size()) < c.inputs) section.title = "The worst inputs";
  std::string text = "Columns in blue are proven";
  if (shape.simulated)
    text += ", that in green is certified by simulation and fails with a stated probability";
  if (shape.statistics) text += ", those in orange are estimated from samples";
  text += ". A click on a title sorts.";
  section.blocks.emplace_back(Paragraph{text});
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section rank_section(const CertifyContents& c, const Shape& shape) {
  std::vector<RankedBound> bounds;
  for (const InputRow& row : c.rows) bounds.push_back({row.input, row.bound, row.lower, row.upper});
  Figure figure;
  figure.title = "Bounds of the inputs";
  figure.alternative =
      "Certified bounds from the largest to the smallest; the table of inputs has the numbers.";
  const LegendEntry certified{LegendEntry::Mark::Bound, "certified: W2 is at most this"};
  const LegendEntry estimated{LegendEntry::Mark::Estimate, "estimated: W2 lies in this range"};
  figure.legend.push_back(certified);
  if (shape.upper) figure.legend.push_back(estimated);
  figure.spec = bounds_chart(bounds);
  return {"How the bound varies", {FigureRow{{figure}}}};
}

Figure class_figure(const InputRow& row) {
  const ClassAnswer& answer = *row.classes;
  const auto best = static_cast<std::size_t>(answer.predicted);
  std::vector<NamedInterval> answers;
  for (std::size_t i = 0; i < answer.probabilities.size(); ++i) {
    answers.push_back({std::to_string(i), answer.probabilities[i], i == best});
  }
  Figure figure;
  figure.title =
      fmt::format("Input {}: class {}, {}", row.input, best, answer.settled ? "settled" : "not settled");
  figure.image = row.image;
  figure.alternative = fmt::format(
      "Intervals of the probabilities of {} classes; class {} between {} and {}.", answers.size(), best,
      lower_bound_text(answer.probabilities[best].lower), bound_text(answer.probabilities[best].upper));
  figure.spec = intervals_chart(answers, 0.0, 1.0, "expected probability");
  return figure;
}

/// The lower end of the predicted class's probability.
double certainty(const InputRow& row) {
  return row.classes->probabilities[static_cast<std::size_t>(row.classes->predicted)].lower;
}

Section class_section(const CertifyContents& c) {
  std::vector<const InputRow*> rows;
  for (const InputRow& row : c.rows) {
    if (row.classes) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const InputRow* a, const InputRow* b) { return certainty(*a) < certainty(*b); });
  FigureRow charts;
  for (std::size_t i = 0; i < std::min(rows.size(), kClassCharts); ++i)
    charts.figures.push_back(class_figure(*rows[i]));
  const std::string text = fmt::format(
      "Bars: where the network\u2019s expected softmax probability of each class is proven to lie; lines: "
      "the "
      "mixture\u2019s value. Settled: no law within the bound has another class with the largest one. The "
      "certificate settles {} of {} inputs; shown are the {} least certain ones. Integrals of the "
      "mixture are "
      "by samples: the ranges of an input hold but for a probability of {}.",
      count_text(c.settled), count_text(c.classified), charts.figures.size(),
      number_text(IntegrationOptions().failure_probability));
  return {"Class probabilities", {Paragraph{text}, charts}};
}

}  // namespace

std::vector<Section> input_sections(const CertifyContents& c) {
  std::vector<Section> sections;
  if (c.rows.empty()) return sections;
  const Shape shape = shape_of(c);
  if (shape.classes) sections.push_back(class_section(c));
  if (c.rows.size() > 2 && std::isfinite(c.rows.front().bound)) sections.push_back(rank_section(c, shape));
  sections.push_back(table_section(c, shape));
  return sections;
}

}  // namespace mixcert::page
