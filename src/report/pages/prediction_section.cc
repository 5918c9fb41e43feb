// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the outputs look like, a section of the report of `mixcert certify`: bands, the density of the first
// output on a grid, and correlations between inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/normal.h"
#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

using Mark = LegendEntry::Mark;

Table band_table(const CertifyContents& c, const std::vector<BandPoint>& band) {
  Table table{"Band",
              {{c.band_axis},
               {"mean"},
               {"mean \u2212 2 sd"},
               {"mean + 2 sd"},
               {"guaranteed from", Column::Kind::Number, Tone::Certified},
               {"to", Column::Kind::Number, Tone::Certified}},
              {}};
  for (const BandPoint& p : band) {
    table.rows.push_back({number_cell(p.x), number_cell(p.mean), number_cell(p.mean - p.inner),
                          number_cell(p.mean + p.inner), lower_bound_cell(p.mean - p.outer),
                          bound_cell(p.mean + p.outer)});
  }
  return table;
}

Figure band_figure(const CertifyContents& c, std::size_t output) {
  const std::vector<BandPoint>& band = c.bands[output];
  const std::string name = c.outputs == 1 ? "output" : fmt::format("output {}", output);
  Figure figure;
  figure.title = c.outputs == 1 ? "Mean and two standard deviations"
                                : fmt::format("Output {}: mean and two standard deviations", output);
  figure.caption =
      "The network\u2019s own mean \u00B1 2 sd is proven to lie within the outer band: mean and sd are each "
      "off by at most the W2 bound.";
  figure.alternative =
      fmt::format("Curve of the mean of the {} over {} points with its bands; numbers in the table below.",
                  name, band.size());
  figure.legend = {{Mark::Mixture, "mean"},
                   {Mark::MixtureSoft, "mean \u00B1 2 sd of the mixture"},
                   {Mark::BoundSoft, "guaranteed band"}};
  figure.spec = bands_chart(band, c.band_axis, name);
  figure.numbers = band_table(c, band);
  return figure;
}

struct DensityGrid {
  std::vector<DensityColumn> columns;
  double low = 0.0, high = 0.0;
};

constexpr int kCellRows = 72;

double below(const ScalarMixture& law, double y) {
  double probability = 0.0;
  for (std::size_t k = 0; k < law.weights.size(); ++k) {
    const double sd = law.deviations[k];
    const double share = sd > 0.0 ? normal_cdf((y - law.means[k]) / sd) : (law.means[k] < y ? 1.0 : 0.0);
    probability += law.weights[k] * share;
  }
  return probability;
}

/// Mean and standard deviation of the whole mixture.
std::pair<double, double> moments(const ScalarMixture& law) {
  double mean = 0.0, square = 0.0;
  for (std::size_t k = 0; k < law.weights.size(); ++k) mean += law.weights[k] * law.means[k];
  for (std::size_t k = 0; k < law.weights.size(); ++k) {
    const double offset = law.means[k] - mean;
    square += law.weights[k] * (law.deviations[k] * law.deviations[k] + offset * offset);
  }
  return {mean, std::sqrt(square)};
}

std::vector<double> cell_values(const ScalarMixture& law, double low, double high) {
  std::vector<double> values;
  double before = below(law, low), largest = 0.0;
  for (int i = 1; i <= kCellRows; ++i) {
    const double now = below(law, low + (high - low) * i / kCellRows);
    values.push_back(std::max(0.0, now - before));
    largest = std::max(largest, values.back());
    before = now;
  }
  for (double& value : values) value = largest > 0.0 ? value / largest : 0.0;
  return values;
}

/// Has any of them a density, and are there two places at least?
bool has_density(const std::vector<ScalarMixture>& sorted) {
  double largest = 0.0;
  for (const ScalarMixture& law : sorted) largest = std::max(largest, moments(law).second);
  return largest > 0.0 && std::isfinite(largest) && sorted.front().x < sorted.back().x;
}

/// Means of the density over cells, by the normal distribution function, so that narrow laws are not missed
/// between two points; each column divided by its largest cell. Edges are half-way between inputs.
DensityGrid density_grid(const std::vector<ScalarMixture>& sorted) {
  DensityGrid grid;
  grid.low = std::numeric_limits<double>::infinity();
  grid.high = -grid.low;
  for (const ScalarMixture& law : sorted) {
    const auto [mean, sd] = moments(law);
    grid.low = std::min(grid.low, mean - 3.0 * sd);
    grid.high = std::max(grid.high, mean + 3.0 * sd);
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double x = sorted[i].x;
    const double before = i > 0 ? sorted[i - 1].x : 2.0 * x - sorted[i + 1].x;
    const double after = i + 1 < sorted.size() ? sorted[i + 1].x : 2.0 * x - sorted[i - 1].x;
    grid.columns.push_back(
        {0.5 * (before + x), 0.5 * (x + after), cell_values(sorted[i], grid.low, grid.high)});
  }
  return grid;
}

Figure density_figure(const CertifyContents& c) {
  const DensityGrid grid = density_grid(c.density);
  Figure figure;
  figure.title = "Density of the mixture";
  figure.caption =
      "Each column is one input, scaled to its own largest density: darker (in dark colours: lighter) is "
      "more likely.";
  figure.alternative = "Heat map of the density of the first output over the inputs.";
  figure.spec =
      density_chart(grid.columns, grid.low, grid.high, c.band_axis, c.outputs == 1 ? "output" : "output 0");
  return figure;
}

Figure correlation_figure(const CertifyContents& c) {
  Figure figure;
  figure.title = "Correlation between inputs";
  figure.caption =
      fmt::format("Of the mixture\u2019s {}output, {}.", c.outputs == 1 ? "" : "first ",
                  c.features == 1 ? "inputs in rising order" : "inputs in the file\u2019s order");
  figure.alternative = "Heat map of the correlation of the output between inputs.";
  figure.spec = heatmap_chart(c.correlation, static_cast<int>(c.correlation_side), 1.0,
                              c.features == 1 ? "input, in rising order" : "input");
  return figure;
}

}  // namespace

void add_prediction_section(const CertifyContents& c, Page& page) {
  Section section{"What the outputs look like", {}};
  for (std::size_t output = 0; output < c.bands.size(); ++output) {
    if (c.bands[output].size() > 1) section.blocks.emplace_back(FigureRow{{band_figure(c, output)}});
  }
  FigureRow row;
  if (c.density.size() > 1 && has_density(c.density)) row.figures.push_back(density_figure(c));
  if (c.correlation_side > 1) row.figures.push_back(correlation_figure(c));
  if (!row.figures.empty()) section.blocks.emplace_back(std::move(row));
  if (c.law) section.blocks.emplace_back(law_figures(*c.law));
  if (c.outputs > kShownOutputs && !section.blocks.empty()) {
    section.blocks.emplace_back(
        Paragraph{fmt::format("The first {} of {} outputs are shown.", kShownOutputs, c.outputs)});
  }
  if (!section.blocks.empty()) page.sections.push_back(std::move(section));
}

}  // namespace mixcert::page
