// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The text of `mixcert answer`: a row per output and input, then what holds for the set. Every certified
// range stands behind the mixture's own value.
#pragma once

#include <string>
#include <vector>

#include "core/text_table.h"
#include "mixcert/answer/questions.h"
#include "mixcert/answer/scores.h"

namespace mixcert {

/// "0.412 [0.401, 0.423]", ends rounded outward.
std::string interval_text(const Interval& interval);

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
  TextTable outputs_table_, variances_table_, covariances_table_, classes_table_, probabilities_table_;
  Rows outputs_, variances_, covariances_, classes_, probabilities_;
  Index inputs_ = 0;
  Index without_bound_ = 0;
  Index settled_ = 0;
  bool sampled_ = false;  ///< some range holds but for the failure probability
};

/// Scores over the labelled set.
std::string scores_text(const RegressionSummary& summary);
std::string scores_text(const ClassSummary& summary);

}  // namespace mixcert
