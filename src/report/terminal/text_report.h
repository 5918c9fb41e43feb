// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a person sees in the terminal, command by command. Bounds and estimates never share a column.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/text_table.h"
#include "mixcert/answer/extremes.h"
#include "mixcert/answer/questions.h"
#include "mixcert/answer/scores.h"
#include "mixcert/answer/simulated_answers.h"
#include "mixcert/certificate/result.h"
#include "mixcert/certify/explain.h"
#include "mixcert/certify/trial.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune.h"

namespace mixcert {

// `mixcert certify`: a row per input as results come, then where the error comes from, layer by layer; and
// `mixcert inspect`.

/// Builds the text of `mixcert certify`. Holds sums only, whatever the number of results.
class CertifyReport {
 public:
  /// `row_limit`: rows printed before the rest is only counted. `functional`: of the outputs, where it is the
  /// law of a sum of them.
  CertifyReport(const Ensemble& ensemble, const Options& options, Index row_limit = 20,
                std::string functional = {});

  /// The row of this result, under the table's header if it is the first; "" once row_limit
  /// rows were made.
  std::string add(const Result& result);
  /// Everything after the rows: what was left out, the layers, how it ended.
  [[nodiscard]] std::string footer() const;

 private:
  struct LayerSum {
    double compression = 0.0, local = 0.0, gain = 0.0;
    Index components = 0, points = 0;
    std::vector<std::string> metrics, theorems;
  };
  void add_simulated(const SimulatedBound& simulated);
  [[nodiscard]] std::string row(const Result& result) const;
  [[nodiscard]] std::string mean_terms() const;
  [[nodiscard]] std::string neurons(std::size_t layer) const;
  [[nodiscard]] std::string bound_line() const;
  [[nodiscard]] std::string lower_lines() const;
  [[nodiscard]] std::string statistics_lines() const;
  [[nodiscard]] std::string simulation_lines() const;

  const Ensemble& ensemble_;
  const Options& options_;
  Index row_limit_;
  std::string functional_;
  bool has_lower_;  ///< may results say what no Gaussian is closer than (D.9)?
  TextTable inputs_;
  Index count_ = 0;
  Index below_epsilon_ = 0;
  double seconds_ = 0.0;
  double bound_sum_ = 0.0, bound_max_ = 0.0, relative_sum_ = 0.0, change_sum_ = 0.0;
  bool has_cells_ = false;  ///< of a box of inputs
  Index worst_ = 0;
  // Proven from below: of those that are not zero.
  Index with_lower_ = 0, with_lower_mixture_ = 0;
  double lower_gaussian_sum_ = 0.0, lower_mixture_sum_ = 0.0;
  Index estimated_ = 0;  ///< inputs with statistics
  double lower_sum_ = 0.0, upper_sum_ = 0.0;
  std::optional<TwoSidedStatistics> statistics_;  ///< the last one; its settings are those of all
  std::vector<LayerSum> layers_;
  // Bounds certified by simulation: of those that exist.
  Index simulated_ = 0, most_draws_ = 0;
  double simulated_sum_ = 0.0, simulated_max_ = 0.0;
  double marginal_sum_ = 0.0, marginal_max_ = 0.0;
  double stein_sum_ = 0.0, stein_error_sum_ = 0.0;
  Index marginals_ = 0;
  std::string simulation_gap_;  ///< of the first input without one
  std::string last_reason_;
  std::string missed_reason_;  ///< of the first input that missed epsilon
};

/// The text of `mixcert inspect`: the layers as the file lists them, then the canonical network of the first
/// member.
std::string inspect_text(const std::vector<LayerSpec>& layers, const Ensemble& ensemble);
/// The canonical network alone: layers, masks, constants and gains.
std::string inspect_text(const Network& network);
/// One row per layer of the list, also of those inside residual blocks and mixtures.
std::string layers_text(const std::vector<LayerSpec>& layers);

// `mixcert tune`: some of the steps as they come, then how far network and target are apart.

class TuneReport {
 public:
  explicit TuneReport(const TuneOptions& options);

  /// The row of this step, under the table's header if it is the first; "" for most steps.
  std::string add(const TuneStep& step);
  /// What came of the steps.
  [[nodiscard]] static std::string steps_text(const TuneRun& run);

 private:
  Index steps_;
  Index every_;
  TextTable table_;
  bool begun_ = false;
};

/// Distances between network and target at `input_count` inputs, absolute and relative.
std::string comparison_text(const PriorComparison& comparison, Index input_count);

// `mixcert explain`: which layer, source and neurons make the bound, and what other options gave.

/// Neurons by what they add, largest first, `top` at most; and how many of them make half of the whole.
struct LargestNeurons {
  std::vector<Index> neurons;
  Index half = 0;
};
LargestNeurons largest_neurons(ConstVectorRef amounts, Index top);

/// A table of layers and sources with the largest neurons of each, then the main points in words.
std::string contributions_text(const Explanation& explanation, Index top);

/// What no Gaussian can be closer than (D.9), and where more components are the only way; "" where nothing is
/// known.
std::string nearest_gaussian_text(const Result& result);

/// The output whose mixture is farthest from the Gaussian with its mean and deviation.
struct LeastNormal {
  Index output = 0;
  double deviation = 0.0;
  Normality shape;
};
LeastNormal least_normal(const Result& result);

/// How normal the outputs are, in a line; "" where that cannot be said.
std::string normality_text(const Result& result);

/// A table of trials, smallest bound first, then the advice in words. The first trial is the present one.
std::string trials_text(const std::vector<Trial>& trials);
/// What simulation can be expected to give, where it is worth saying; empty otherwise.
std::string forecast_text(const Explanation& explanation);

// `mixcert answer`: a row per output and input, then what holds for the set. Every certified range stands
// behind the mixture's own value.

/// "0.412 [0.401, 0.423]", ends rounded outward.
std::string interval_text(const Interval& interval);

/// The least and the largest values over a box of inputs; `common` is common_class() where `classes` were
/// asked for. `failure`: the probability with which sampled ranges of a cell may fail; 0: none was sampled.
std::string box_text(const std::vector<Extremes>& all, bool classes, Index common, double failure,
                     const std::vector<InputBox>& cells);

/// What the rows are about.
struct AnswerTopic {
  Index outputs = 0;   ///< at one input
  bool joint = false;  ///< one law over all inputs
  AnswerOptions options;
  std::vector<std::string> statements;  ///< as they were asked
  bool covariances = false;
  bool classes = false;
};

class AnswerReport {
 public:
  /// `row_limit`: rows printed of each table before the rest is only counted.
  explicit AnswerReport(AnswerTopic topic, Index row_limit = 20);

  void add(Index input, const CertifiedLaw& law, const LawAnswers& answers);
  /// Behind add() of the same input.
  void add_simulated(Index input, const SimulatedAnswers& answers);
  /// The tables and what they leave out.
  [[nodiscard]] std::string text() const;

 private:
  /// Rows of one table, and how many came after the limit.
  struct Rows {
    std::vector<std::string> lines;
    Index left_out = 0;
  };
  void add_line(Rows& rows, const std::string& line) const;
  [[nodiscard]] std::string output_name(Index coordinate) const;
  void add_outputs(Index input, const CertifiedLaw& law, const LawAnswers& answers);
  void add_variances(Index input, const LawAnswers& answers);
  void add_covariances(Index input, const LawAnswers& answers);
  void add_classes(Index input, const LawAnswers& answers);
  void add_probabilities(Index input, const LawAnswers& answers);
  [[nodiscard]] std::string remarks() const;
  [[nodiscard]] static std::string section(const std::string& title, const TextTable& table,
                                           const Rows& rows);

  AnswerTopic topic_;
  Index row_limit_;
  TextTable outputs_table_, variances_table_, covariances_table_, classes_table_, probabilities_table_,
      simulated_table_;
  Rows outputs_, variances_, covariances_, classes_, probabilities_, simulated_, simulated_intervals_;
  Index inputs_ = 0;
  Index without_bound_ = 0;
  Index settled_ = 0;
  bool sampled_ = false;   ///< some range holds but for the failure probability
  bool computed_ = false;  ///< some probability is that of a computed law
};

/// Scores over the labelled set.
std::string scores_text(const RegressionSummary& summary);
std::string scores_text(const ClassSummary& summary);

}  // namespace mixcert
