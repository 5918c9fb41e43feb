// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Scores over a labelled set, each with the range that the true network's score is proven to lie in (U.16 -
// U.19). One point is scored from its law alone, on any thread; the sums are added in the order of the
// points.
#pragma once

#include <array>
#include <vector>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/questions.h"

namespace mixcert {

/// A mean of intervals, rounded outward; NaN estimates and infinite ends stay what they are.
class IntervalMean {
 public:
  void add(const Interval& interval);
  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] Interval mean() const;

 private:
  Index count_ = 0;
  Interval sum_{0.0, 0.0, 0.0};
  double size_ = 0.0;  ///< sum of the finite absolute values, for the rounding
};

/// One target of one labelled input. PIT: the observation's distribution function at the label.
struct TargetScore {
  Interval nll;
  Interval crps;
  Interval pit;
};

struct RegressionPoint {
  Interval square_error;  ///< |label - E mean|^2 over all targets
  std::vector<TargetScore> targets;
};

/// `label`: one number per target.
RegressionPoint score_regression(const CertifiedLaw& law, ConstVectorRef label, const AnswerOptions& options,
                                 std::uint64_t index = 0);

struct Coverage {
  double level = 0.0;
  Interval share;  ///< of labels within the central predictive interval of this level
};

struct RegressionSummary {
  Index points = 0;
  Interval rmse;  ///< of the mean, per target: sqrt(sum of squares / (points * targets))
  Interval nll;   ///< mean over points and targets
  Interval crps;
  std::vector<Coverage> coverage;  ///< increasing levels: the calibration curve
};

class RegressionScores {
 public:
  /// Levels in (0, 1); 0.1, 0.2, ..., 0.9, 0.95, 0.99 and `level` where none are given.
  explicit RegressionScores(double level = 0.95, std::vector<double> levels = {});
  void add(const RegressionPoint& point);
  [[nodiscard]] RegressionSummary summary() const;

 private:
  std::vector<double> levels_;
  std::vector<IntervalMean> covered_;
  IntervalMean square_error_;
  IntervalMean nll_;
  IntervalMean crps_;
  Index targets_ = 0;
};

struct ClassPoint {
  bool correct = false;            ///< the mixture's class is the label
  bool certainly_correct = false;  ///< the true law's class is proven to be the label
  bool certainly_wrong = false;    ///< it is proven not to be
  bool settled = false;
  double confidence = 0.0;  ///< E_q softmax of the predicted class
  Interval nll;             ///< -log E softmax_label
  Interval brier;           ///< sum over classes of (E softmax_c - 1{c = label})^2
};

ClassPoint score_class(const CertifiedLaw& law, const ClassAnswer& answer, Index label);

struct ClassSummary {
  Index points = 0;
  Index settled = 0;
  Index correct_and_settled = 0;
  Interval accuracy;
  Interval nll;
  Interval brier;
  double calibration_error = 0.0;  ///< of the mixture, 15 bins of confidence: an estimate
};

class ClassScores {
 public:
  void add(const ClassPoint& point);
  [[nodiscard]] ClassSummary summary() const;

 private:
  static constexpr std::size_t kBins = 15;
  IntervalMean accuracy_;
  IntervalMean nll_;
  IntervalMean brier_;
  Index settled_ = 0;
  Index correct_and_settled_ = 0;
  std::array<double, kBins> confidence_{};
  std::array<double, kBins> correct_{};
};

}  // namespace mixcert
