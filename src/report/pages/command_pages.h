// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The HTML reports of commands: what is kept of a run for each, and the page that is made of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/simulated_answers.h"
#include "mixcert/certificate/result.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune.h"
#include "report/pages/charts.h"
#include "report/pages/page_parts.h"
#include "report/terminal/text_report.h"

namespace mixcert::page {

// `mixcert certify`: sums over all inputs, rows of the worst ones, a band and a density where inputs are
// numbers. Memory does not grow with the number of inputs.

/// Rows and points shown; of more inputs the worst ones.
inline constexpr Index kShownInputs = 1000;
/// Outputs with columns or charts of their own.
inline constexpr Index kShownOutputs = 4;

/// One row of the table of inputs.
struct InputRow {
  Index input = 0;
  double bound = 0.0;  ///< NaN: none
  double relative = 0.0;
  double gaussian_lower = 0.0;  ///< proven: no Gaussian is closer; NaN: not known
  double simulated = 0.0;       ///< certified by simulation; NaN: none
  double lower = 0.0;           ///< statistical; NaN: none
  double upper = 0.0;
  std::string method;
  Index components = 0;
  double seconds = 0.0;
  std::vector<double> features;            ///< the first few
  std::vector<double> cell_from, cell_to;  ///< of the same features; empty: there is no cell
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

/// The computed law of one output at one input, and the mixture that stands for it.
struct LawPicture {
  Index input = 0;
  double bound = 0.0;
  LineMixture mixture;
  std::shared_ptr<const OutputDistribution> distribution;
};

struct CertifyContents {
  RunFacts run;
  std::string inputs_file;
  Index points = 0;  ///< inputs of the run
  Index inputs = 0;  ///< results: the same, or one where all were treated jointly
  Index features = 0;
  Index outputs = 0;
  bool joint = false;
  bool simulate = false;  ///< was it asked for?
  double bound_sum = 0.0, bound_worst = 0.0, relative_sum = 0.0, relative_worst = 0.0;
  double change_sum = 0.0;  ///< of what bounds have for holding at more than the input
  Index worst_input = 0;
  Index with_lower = 0;               ///< inputs at which it is proven that no Gaussian is close (D.9)
  double gaussian_lower_sum = 0.0;    ///< of what it is not closer than
  Index settled = 0, classified = 0;  ///< inputs whose class was asked for, and those where it is proven
  Index without_bound = 0, above_scale = 0, epsilon_missed = 0;
  std::string missed_reason;
  Index simulated = 0;  ///< inputs with a bound certified by simulation
  double simulated_sum = 0.0, simulated_failure = 0.0;
  Index estimated = 0;  ///< inputs with statistics
  double lower_sum = 0.0, upper_sum = 0.0;
  std::optional<TwoSidedStatistics> statistics;  ///< settings of all; numbers of the last
  std::optional<double> epsilon;
  bool linearised = false;           ///< of the law of predictive glm
  std::string holds_at;              ///< in words, where bounds hold at more than the input
  std::vector<std::string> methods;  ///< that gave the bounds
  std::vector<LayerTerms> layers;    ///< means over inputs
  std::vector<LayerReport> layer_details;
  std::vector<InputRow> rows;                 ///< worst first
  std::vector<std::vector<BandPoint>> bands;  ///< per output; where inputs are numbers, or jointly
  std::string band_axis;
  std::vector<ScalarMixture> density;  ///< of the first output
  std::optional<LawPicture> law;       ///< at the input with the largest bound of those whose law is computed
  std::vector<double> correlation;     ///< of the first output over inputs, row-major; jointly only
  Index correlation_side = 0;
};

Page certify_page(const CertifyContents& contents);

// Sections of a certificate that are about single inputs: bounds by rank, class probabilities, the table.

std::vector<Section> input_sections(const CertifyContents& contents);

/// Densities and distribution functions side by side.
FigureRow law_figures(const LawPicture& law);

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
  void add_law(const Result& result);
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
  bool has_cells_ = false;                    ///< are results those of a box?
};

// `mixcert answer`: certified intervals, grouped by what was asked.

/// One answer at one input.
struct AnswerRow {
  Index input = 0;
  std::string name;  ///< of what is asked: "mean of output 0", "class 3"
  Interval interval;
  std::string verdict = {};  ///< in words, e.g. "settled"; empty in all rows: no such column
  std::string image = {};    ///< PNG of the input; empty: none
  /// Probabilities of all classes, drawn for the first rows of a group; empty: none.
  std::vector<Interval> classes = {};
};

/// The answers to one question, or to several of a kind.
struct AnswerGroup {
  std::string title;
  std::string explanation;  ///< what is proven, in a sentence or two
  std::vector<AnswerRow> rows;
  /// Ends of the axis, where values are known to lie between them (probabilities: 0 and 1); equal: unknown.
  double axis_low = 0.0, axis_high = 0.0;
  Tone tone = Tone::Certified;  ///< Simulated: ranges by draws of the network, in a table alone
};

struct AnswerContents {
  RunFacts run;
  std::string result_file;
  std::string inputs_file;  ///< empty where none was read
  std::string holds_at;     ///< in words, where ranges hold at more than the inputs
  Index inputs = 0;
  std::vector<Headline> headlines;
  std::vector<std::string> warnings;
  std::vector<AnswerGroup> groups;
};

/// Of a group with more than 1000 rows the widest intervals are shown.
Page answer_page(const AnswerContents& contents);

// The answers of a run as groups: one for each kind of question.

/// Answers of a run, in the order of the inputs. `images`: a PNG per input; empty: none.
struct AnsweredRun {
  AnswerTopic topic;
  Index first_input = 0;
  std::vector<LawAnswers> answers;
  std::vector<double> w2_bounds;  ///< infinity: none
  std::vector<std::string> images;
  std::vector<SimulatedAnswers> simulated = {};  ///< empty: not asked for
};

/// "output 2", or "input 1, output 2" of a joint law.
std::string output_name(const AnswerTopic& topic, std::size_t coordinate);

/// The answers by simulation; those without rows are left out.
std::vector<AnswerGroup> simulated_groups(const AnsweredRun& run);

/// Groups, headlines and warnings; the facts of the run are the caller's.
AnswerContents answer_contents(const AnsweredRun& run);

/// The same numbers as scores_text(), as headlines.
std::vector<Headline> score_headlines(const RegressionSummary& summary);
std::vector<Headline> score_headlines(const ClassSummary& summary);

// Certified numbers beside those of Monte Carlo (mixcert.compare in Python).

/// Numbers of one kind: means, deviations, class probabilities.
struct ComparedGroup {
  std::string title;
  std::vector<ComparedNumber> rows;
};
struct ComparisonContents {
  std::string title;
  std::string summary;
  std::vector<Headline> headlines;
  std::vector<ComparedGroup> groups;
  std::vector<std::string> notes;
  std::string version;
};

/// Charts of the first rows of each group, and tables of all.
Page comparison_page(const ComparisonContents& contents);

// `mixcert tune`.

/// Network and target at some of the inputs, the first output: covariances, and functions drawn where inputs
/// are numbers.
struct PriorPicture {
  int side = 0;
  std::vector<double> target_covariance, network_covariance;  ///< row-major; the network's from samples
  Index samples = 0;
  std::vector<double> x;  ///< rising; empty where inputs are no numbers
  std::vector<std::vector<double>> target_functions, network_functions;
};

/// `network` simulated with this seed on `threads` threads.
PriorPicture prior_picture(const Network& network, const TuneProblem& problem, std::uint64_t seed,
                           int threads);

struct TuneContents {
  RunFacts run;  ///< without models
  std::string target;
  std::string inputs_file;
  std::string prior_file;
  Index inputs = 0;
  Index held_out = 0;
  Index parameter_count = 0;
  double seconds = 0.0;  ///< of the steps
  bool resumed = false;
  std::vector<TuneStep> history;
  PriorComparison comparison;
  PriorPicture picture;
};

Page tune_page(const TuneContents& contents);

}  // namespace mixcert::page
