// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The HTML report of `mixcert certify`, and what is kept of a run for it: sums over all inputs, rows of the
// worst ones, a band and a density where inputs are numbers. Memory does not grow with the number of inputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mixcert/answer/answers.h"
#include "mixcert/certificate/result.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/layer_spec.h"
#include "report/pages/charts.h"
#include "report/pages/page_parts.h"

namespace mixcert::page {

/// Rows and points shown; of more inputs the worst ones.
inline constexpr Index kShownInputs = 1000;
/// Outputs with columns or charts of their own.
inline constexpr Index kShownOutputs = 4;

/// One row of the table of inputs.
struct InputRow {
  Index input = 0;
  double bound = 0.0;  ///< NaN: none
  double relative = 0.0;
  double lower = 0.0;  ///< statistical; NaN: none
  double upper = 0.0;
  std::string method;
  Index components = 0;
  double seconds = 0.0;
  std::vector<double> features;  ///< the first few
  /// Of the outputs, where there are at most kShownOutputs of them; of the one with the largest mean where
  /// there are more.
  std::vector<double> mean, deviation;
  Index largest_output = 0;            ///< by its mean
  std::string image;                   ///< PNG; empty: none
  std::optional<ClassAnswer> classes;  ///< where they were asked for
};

/// Law of one output at one input: weights, means, standard deviations.
struct ScalarMixture {
  double x = 0.0;
  std::vector<double> weights, means, deviations;
};

struct CertifyContents {
  RunFacts run;
  std::string inputs_file;
  Index points = 0;  ///< inputs of the run
  Index inputs = 0;  ///< results: the same, or one where all were treated jointly
  Index features = 0;
  Index outputs = 0;
  bool joint = false;
  double bound_sum = 0.0, bound_worst = 0.0, relative_sum = 0.0, relative_worst = 0.0;
  Index worst_input = 0;
  Index settled = 0, classified = 0;  ///< inputs whose class was asked for, and those where it is proven
  Index without_bound = 0, above_scale = 0, epsilon_missed = 0;
  std::string missed_reason;
  double lower_sum = 0.0, upper_sum = 0.0;
  std::optional<TwoSidedStatistics> statistics;  ///< settings of all; numbers of the last
  std::optional<double> epsilon;
  std::vector<std::string> methods;  ///< that gave the bounds
  std::vector<LayerTerms> layers;    ///< means over inputs
  std::vector<LayerReport> layer_details;
  std::vector<InputRow> rows;                 ///< worst first
  std::vector<std::vector<BandPoint>> bands;  ///< per output; where inputs are numbers, or jointly
  std::string band_axis;
  std::vector<ScalarMixture> density;  ///< of the first output
  std::vector<double> correlation;     ///< of the first output over inputs, row-major; jointly only
  Index correlation_side = 0;
};

Page certify_page(const CertifyContents& contents);

// Sections of a certificate that are about single inputs: bounds by rank, class probabilities, the table.

std::vector<Section> input_sections(const CertifyContents& contents);

/// What the outputs look like; adds nothing where there is nothing to draw.
void add_prediction_section(const CertifyContents& contents, Page& page);

// What the report shows, collected while results pass by.

class CertifyCollector {
 public:
  /// All must outlive the collector. `image`: shape of the inputs where they are pictures.
  CertifyCollector(const Ensemble& ensemble, const Options& options, const Matrix& inputs,
                   std::optional<LayerShape> image);

  /// `classes`: where they were asked for.
  void add(const Result& result, std::optional<ClassAnswer> classes = {});
  /// All but the facts of the run, which the caller knows.
  [[nodiscard]] CertifyContents finish();

 private:
  void add_sums(const Result& result);
  void add_layers(const Result& result);
  void add_row(const Result& result, std::optional<ClassAnswer> classes);
  void add_band(const Result& result);
  void add_joint_band(const Result& result);
  void add_correlation(const Result& result);
  void add_density(Index input, const GaussianMixture& mixture, Index coordinate);
  [[nodiscard]] std::size_t place(Index from_left) const;  ///< the input there
  void keep_worst();
  void add_images();

  const Ensemble& ensemble_;
  const Options& options_;
  const Matrix& inputs_;
  std::optional<LayerShape> image_;
  CertifyContents contents_;
  std::vector<Index> order_;                  ///< inputs as charts have them from left to right
  std::vector<char> has_density_, has_band_;  ///< per input
};

}  // namespace mixcert::page
