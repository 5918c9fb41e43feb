// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums, rows and points of charts. Of the true law p and the mixture q with W2(p, q) <= w, every output has
// |E_p - E_q| <= w and |sd_p - sd_q| <= w, so that mean +- 2 sd of p lies within mean +- (2 sd + 3 w) of q.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "certify/certifier.h"
#include "core/text_table.h"
#include "mixcert/certify/result_text.h"
#include "report/pages/command_pages.h"
#include "report/pages/page_parts.h"

namespace mixcert::page {
namespace {

constexpr Index kDensityColumns = 128;
constexpr Index kHeatmapSide = 64;
constexpr Index kShownFeatures = 3;
/// All pictures together: a page stays below 5 MB.
constexpr std::size_t kImageBytes = 2'000'000;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double> first_entries(const Vector& values, Index count) {
  return {values.data(), values.data() + std::min(values.size(), count)};
}

/// Every k-th of the numbers 0 .. size - 1, `count` at most.
std::vector<Index> spread(Index size, Index count) {
  std::vector<Index> chosen;
  const Index step = std::max<Index>(1, (size + count - 1) / count);
  for (Index i = 0; i < size; i += step) chosen.push_back(i);
  return chosen;
}

/// Larger, or missing: such rows come first.
bool is_worse(const InputRow& a, const InputRow& b) {
  const auto key = [](const InputRow& row) {
    return std::isnan(row.bound) ? std::numeric_limits<double>::infinity() : row.bound;
  };
  return key(a) != key(b) ? key(a) > key(b) : a.input < b.input;
}

BandPoint band_point(double x, double mean, double deviation, double bound) {
  return {x, mean, 2.0 * deviation, 2.0 * deviation + 3.0 * (std::isfinite(bound) ? bound : 0.0)};
}

/// Of cells, two points each: nothing is proven of what a line across missing ones would show.
bool has_gaps(const std::vector<BandPoint>& band) {
  for (std::size_t i = 1; i + 1 < band.size(); i += 2) {
    if (band[i].x != band[i + 1].x) return true;
  }
  return false;
}

}  // namespace

CertifyCollector::CertifyCollector(const Ensemble& ensemble, const Options& options, const Matrix& inputs,
                                   std::optional<LayerShape> image)
    : ensemble_(ensemble), options_(options), inputs_(inputs), image_(image) {
  contents_.points = inputs.cols();
  contents_.features = inputs.rows();
  contents_.outputs = ensemble.outputs();
  contents_.joint = options.joint;
  contents_.simulate = options.simulate;
  contents_.epsilon = options.epsilon;
  contents_.linearised = options.predictive == Predictive::Glm;
  if (options.radius) contents_.holds_at = inputs_in_words(options) + " of it";
  const bool on_a_line = inputs.rows() == 1;
  contents_.band_axis = on_a_line ? "input" : "number of the input";
  order_.resize(static_cast<std::size_t>(inputs.cols()));
  std::iota(order_.begin(), order_.end(), Index{0});
  if (on_a_line) {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Index a, Index b) { return inputs(0, a) < inputs(0, b); });
  }
  has_density_.resize(order_.size());
  has_band_.resize(order_.size());
  if (on_a_line) {
    for (const Index i : spread(inputs.cols(), kDensityColumns)) has_density_[place(i)] = 1;
    for (const Index i : spread(inputs.cols(), kShownInputs)) has_band_[place(i)] = 1;
  }
}

std::size_t CertifyCollector::place(Index from_left) const {
  return static_cast<std::size_t>(order_[static_cast<std::size_t>(from_left)]);
}

void CertifyCollector::add(const Result& result, std::optional<ClassAnswer> classes) {
  add_sums(result);
  add_layers(result);
  if (options_.joint) {
    add_joint_band(result);
    add_correlation(result);
  } else {
    add_row(result, std::move(classes));
    add_law(result);
    if (inputs_.rows() == 1) add_band(result);
  }
}

void CertifyCollector::add_sums(const Result& result) {
  CertifyContents& c = contents_;
  if (result.cell) c.holds_at = "every input of its cell";
  has_cells_ = has_cells_ || result.cell.has_value();
  const double bound = result.w2.value;
  if (c.inputs == 0 || bound > c.bound_worst) {
    c.bound_worst = bound;
    c.worst_input = result.input;
  }
  c.relative_worst = c.inputs == 0 ? result.relative_w2 : std::max(c.relative_worst, result.relative_w2);
  c.bound_sum += bound;
  c.change_sum += result.input_change;
  c.relative_sum += result.relative_w2;
  if (!std::isfinite(bound)) ++c.without_bound;
  if (result.relative_w2 > 1.0) ++c.above_scale;
  if (result.w2_lower > 0.0) {
    ++c.with_lower;
    c.gaussian_lower_sum += result.w2_lower;
  }
  if (options_.epsilon && result.termination != Termination::EpsilonReached) {
    if (c.epsilon_missed++ == 0) c.missed_reason = result.reason;
  }
  if (result.simulated && result.simulated->exists()) {
    ++c.simulated;
    c.simulated_sum += result.simulated->w2;
    c.simulated_failure = result.simulated->failure_probability;
  }
  if (result.statistics) {
    ++c.estimated;
    c.lower_sum += result.statistics->w2_lower_statistical;
    c.upper_sum += result.statistics->w2_upper_statistical;
    c.statistics = result.statistics;
  }
  const std::string method(to_string(result.method));
  if (std::find(c.methods.begin(), c.methods.end(), method) == c.methods.end()) c.methods.push_back(method);
  ++c.inputs;
}

void CertifyCollector::add_layers(const Result& result) {
  auto& terms = contents_.layers;
  auto& details = contents_.layer_details;
  if (terms.size() < result.layers.size()) {
    terms.resize(result.layers.size());
    details.resize(result.layers.size());
  }
  for (std::size_t k = 0; k < result.layers.size(); ++k) {
    const LayerReport& layer = result.layers[k];
    terms[k].compression += layer.compression;
    terms[k].local += layer.local;
    details[k].layer = layer.layer;
    details[k].gain = std::max(details[k].gain, layer.gain);
    details[k].components = std::max(details[k].components, layer.components);
    details[k].points = std::max(details[k].points, layer.points);
    if (details[k].metric.empty()) details[k].metric = layer.metric;
    if (details[k].theorem.empty()) details[k].theorem = layer.theorem;
  }
}

void CertifyCollector::add_row(const Result& result, std::optional<ClassAnswer> classes) {
  InputRow row;
  row.input = result.input;
  row.bound = result.w2.value;
  row.relative = result.relative_w2;
  row.gaussian_lower = result.w2_lower;
  row.simulated = result.simulated ? result.simulated->w2 : kNone;
  row.lower = result.statistics ? result.statistics->w2_lower_statistical : kNone;
  row.upper = result.statistics ? result.statistics->w2_upper_statistical : kNone;
  row.method = to_string(result.method);
  row.components = result.mixture.size();
  row.seconds = result.seconds;
  if (!image_) row.features = first_entries(inputs_.col(result.input), kShownFeatures);
  if (!image_ && result.cell) {
    row.cell_from = first_entries(result.cell->lower, kShownFeatures);
    row.cell_to = first_entries(result.cell->upper, kShownFeatures);
  }
  const Vector mean = result.mixture.mean(), deviation = result.mixture.standard_deviation();
  mean.maxCoeff(&row.largest_output);
  if (mean.size() <= kShownOutputs) {
    row.mean = first_entries(mean, kShownOutputs);
    row.deviation = first_entries(deviation, kShownOutputs);
  } else {
    row.mean = {mean(row.largest_output)};
    row.deviation = {deviation(row.largest_output)};
  }
  if (classes) {
    ++contents_.classified;
    if (classes->settled) ++contents_.settled;
  }
  row.classes = std::move(classes);
  contents_.rows.push_back(std::move(row));
  if (static_cast<Index>(contents_.rows.size()) >= 2 * kShownInputs) keep_worst();
}

void CertifyCollector::keep_worst() {
  std::sort(contents_.rows.begin(), contents_.rows.end(), is_worse);
  if (static_cast<Index>(contents_.rows.size()) > kShownInputs) contents_.rows.resize(kShownInputs);
}

void CertifyCollector::add_band(const Result& result) {
  const Vector mean = result.mixture.mean(), deviation = result.mixture.standard_deviation();
  const double x = inputs_(0, result.input);
  auto& bands = contents_.bands;
  bands.resize(static_cast<std::size_t>(std::min(mean.size(), kShownOutputs)));
  if (has_band_[static_cast<std::size_t>(result.input)] != 0) {
    for (std::size_t output = 0; output < bands.size(); ++output) {
      const auto i = static_cast<Index>(output);
      // A cell is drawn from end to end: its band holds everywhere between.
      const double left = result.cell ? result.cell->lower(0) : x;
      bands[output].push_back(band_point(left, mean(i), deviation(i), result.w2.value));
      if (result.cell)
        bands[output].push_back(band_point(result.cell->upper(0), mean(i), deviation(i), result.w2.value));
    }
  }
  if (has_density_[static_cast<std::size_t>(result.input)] != 0) add_density(result.input, result.mixture, 0);
}

void CertifyCollector::add_joint_band(const Result& result) {
  const Vector mean = result.mixture.mean(), deviation = result.mixture.standard_deviation();
  const Index outputs = contents_.outputs;
  auto& bands = contents_.bands;
  bands.resize(static_cast<std::size_t>(std::min(outputs, kShownOutputs)));
  for (const Index from_left : spread(inputs_.cols(), kShownInputs)) {
    const auto input = static_cast<Index>(place(from_left));
    const double x = inputs_.rows() == 1 ? inputs_(0, input) : static_cast<double>(input);
    for (std::size_t output = 0; output < bands.size(); ++output) {
      const Index i = input * outputs + static_cast<Index>(output);
      bands[output].push_back(band_point(x, mean(i), deviation(i), result.w2.value));
    }
    if (has_density_[static_cast<std::size_t>(input)] != 0)
      add_density(input, result.mixture, input * outputs);
  }
}

void CertifyCollector::add_correlation(const Result& result) {
  std::vector<Index> coordinates;
  for (const Index from_left : spread(inputs_.cols(), kHeatmapSide)) {
    coordinates.push_back(static_cast<Index>(place(from_left)) * contents_.outputs);
  }
  const Matrix covariance = result.mixture.marginal(coordinates).covariance();
  const Vector deviation = covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
  contents_.correlation_side = covariance.rows();
  for (Index i = 0; i < covariance.rows(); ++i) {
    for (Index j = 0; j < covariance.cols(); ++j) {
      const double scale = deviation(i) * deviation(j);
      contents_.correlation.push_back(scale > 0.0 ? covariance(i, j) / scale : 0.0);
    }
  }
}

void CertifyCollector::add_density(Index input, const GaussianMixture& mixture, Index coordinate) {
  ScalarMixture scalar;
  scalar.x = inputs_(0, input);
  for (Index k = 0; k < mixture.size(); ++k) {
    scalar.weights.push_back(mixture.weights()(k));
    scalar.means.push_back(mixture.component(k).mean(coordinate));
    scalar.deviations.push_back(
        std::sqrt(std::max(0.0, mixture.component(k).covariance.variances()(coordinate))));
  }
  contents_.density.push_back(std::move(scalar));
}

void CertifyCollector::add_law(const Result& result) {
  if (result.distribution == nullptr) return;
  if (contents_.law && !(result.w2.value > contents_.law->bound)) return;
  contents_.law = {result.input, result.w2.value, coordinate(CertifiedLaw(result), 0).mixture(),
                   result.distribution};
}

void CertifyCollector::add_images() {
  if (!image_) return;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const InputRow& row : contents_.rows) {
    low = std::min(low, inputs_.col(row.input).minCoeff());
    high = std::max(high, inputs_.col(row.input).maxCoeff());
  }
  std::size_t bytes = 0;
  for (InputRow& row : contents_.rows) {
    row.image = png_image(inputs_.col(row.input), *image_, low, high);
    bytes += row.image.size();
    if (bytes > kImageBytes) break;
  }
}

CertifyContents CertifyCollector::finish() {
  keep_worst();
  add_images();
  const double count = static_cast<double>(std::max<Index>(1, contents_.inputs));
  for (std::size_t k = 0; k < contents_.layers.size(); ++k) {
    LayerTerms& terms = contents_.layers[k];
    terms.compression /= count;
    terms.local /= count;
    const Network& first = ensemble_.member(0);
    const auto index = static_cast<Index>(k);
    // Terms of graphs are of activations: nothing is written out to count neurons.
    const bool has_layers = first.is_written_out();
    terms.layer = (has_layers ? "layer " : "activation ") + std::to_string(k + 1);
    if (has_layers && index < first.hidden_count())
      terms.layer += ", " + counted(first.layer(index).outputs(), "neuron");
  }
  for (auto& band : contents_.bands) {
    std::stable_sort(band.begin(), band.end(),
                     [](const BandPoint& a, const BandPoint& b) { return a.x < b.x; });
    if (has_cells_ && has_gaps(band)) band.clear();
  }
  std::stable_sort(contents_.density.begin(), contents_.density.end(),
                   [](const ScalarMixture& a, const ScalarMixture& b) { return a.x < b.x; });
  return std::move(contents_);
}

}  // namespace mixcert::page
