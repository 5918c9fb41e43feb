// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text of `mixcert certify`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text_report.h"
#include "report/text_table.h"

namespace mixcert {
namespace {

constexpr Index kShownOutputs = 3;

const TextTable& input_table() {
  static const TextTable table({{"input", 6},
                                {"mean", 24},
                                {"std", 24},
                                {"certified W2", 13},
                                {"relative W2", 12},
                                {"components", 10},
                                {"time", 9}});
  return table;
}

/// The first few entries.
std::string short_vector(const Vector& values) {
  if (values.size() == 1) return short_number(values(0));
  std::string text;
  for (Index i = 0; i < std::min(values.size(), kShownOutputs); ++i) {
    text += fmt::format("{}{:.3g}", i == 0 ? "" : " ", values(i));
  }
  return text + (values.size() > kShownOutputs ? " .." : "");
}

}  // namespace

CertifyReport::CertifyReport(const Network& network, const Options& options, Index row_limit)
    : network_(network), options_(options), row_limit_(row_limit) {}

std::string CertifyReport::header() const { return input_table().header(); }

std::string CertifyReport::add(const Result& result) {
  if (layers_.empty()) layers_.resize(result.layers.size());
  for (std::size_t k = 0; k < result.layers.size(); ++k) {
    const LayerReport& layer = result.layers[k];
    LayerSum& sum = layers_[k];
    sum.compression += layer.compression;
    sum.local += layer.local;
    sum.gain = std::max(sum.gain, layer.gain);
    sum.components = std::max(sum.components, layer.components);
    sum.points = std::max(sum.points, layer.points);
    const bool known = std::find(sum.metrics.begin(), sum.metrics.end(), layer.metric) != sum.metrics.end();
    if (!known && !layer.metric.empty()) sum.metrics.push_back(layer.metric);
  }
  if (count_ == 0 || result.w2.value > bound_max_) {
    bound_max_ = result.w2.value;
    worst_ = result.input;
  }
  bound_sum_ += result.w2.value;
  relative_sum_ += result.relative_w2;
  seconds_ += result.seconds;
  if (result.termination == Termination::EpsilonReached) ++below_epsilon_;
  last_reason_ = result.reason;
  ++count_;
  if (count_ > row_limit_) return "";
  return input_table().row(
      {options_.joint ? "joint" : std::to_string(result.input), short_vector(result.mixture.mean()),
       short_vector(result.mixture.standard_deviation()), short_number(result.w2.value),
       short_number(result.relative_w2), std::to_string(result.mixture.size()), short_time(result.seconds)});
}

std::string CertifyReport::layer_table() const {
  const TextTable table({{"layer", 6},
                         {"neurons", 8},
                         {"components", 10},
                         {"points", 8},
                         {"compression", 12},
                         {"local", 12},
                         {"gain", 10},
                         {"share", 7},
                         {"metric", 18}});
  std::string text =
      "\nwhere the bound comes from (mean over inputs, carried to the output)\n" + table.header();
  const double n = static_cast<double>(count_);
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const LayerSum& sum = layers_[k];
    std::string metrics;
    for (const std::string& name : sum.metrics) metrics += (metrics.empty() ? "" : ", ") + name;
    text += table.row({std::to_string(k + 1), std::to_string(network_.layer(static_cast<Index>(k)).outputs()),
                       std::to_string(sum.components), std::to_string(sum.points),
                       short_number(sum.compression / n), short_number(sum.local / n), short_number(sum.gain),
                       fmt::format("{:.0f} %", 100.0 * (sum.compression + sum.local) / bound_sum_), metrics});
  }
  return text;
}

std::string CertifyReport::footer() const {
  std::string text;
  if (count_ > row_limit_) text += fmt::format("  .. and {} more inputs\n", count_ - row_limit_);
  if (count_ == 0) return text;
  const double n = static_cast<double>(count_);
  const bool bounded = !std::isnan(bound_sum_);
  if (bounded && !layers_.empty()) text += layer_table();
  if (!bounded) {
    text += "\nno bound: " + last_reason_ + "\n";
    return text;
  }
  text += fmt::format(
      "\nW2(network, mixture) <= {} on average, {} at worst (input {}); relative {} on average\n",
      short_number(bound_sum_ / n), short_number(bound_max_), worst_, short_number(relative_sum_ / n));
  if (options_.epsilon) {
    text += fmt::format("epsilon {} met at {} of {} inputs{}\n", short_number(*options_.epsilon),
                        below_epsilon_, count_, below_epsilon_ < count_ ? "; last: " + last_reason_ : "");
  }
  text += fmt::format("{} certified in {} of processor time\n",
                      count_ == 1 ? "1 law" : fmt::format("{} laws", count_), short_time(seconds_));
  return text;
}

}  // namespace mixcert
