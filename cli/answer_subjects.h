// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What mixcert answer is asked, and the laws that it is asked about, from a result file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_flags.h"
#include "mixcert/answer/questions.h"
#include "mixcert/answer/statement.h"
#include "mixcert/io/result_file.h"
#include "mixcert/network/ensemble.h"

namespace mixcert::cli {

struct AnswerArguments {
  std::string result;
  std::optional<Index> input;
  std::vector<std::string> statements;
  bool covariances = false;
  bool simulate = false;            ///< answers by draws of the network beside those of the bound
  std::vector<std::string> models;  ///< where they moved
  std::optional<std::string> labels;
  std::optional<std::string> json;
  ReportFlags report;  ///< its --classes is a question here
  AnswerOptions options;
};

/// The laws of the file, and which of them are asked about.
struct Subjects {
  std::vector<StoredResult> results;
  std::optional<RunRecord> run;
  Matrix inputs;  ///< a column per result; none where the file does not have them
  OutputShape shape;
  bool joint = false;
  std::string holds_at;         ///< in words, where ranges hold at more than the inputs
  std::vector<InputBox> cells;  ///< of a box of inputs, one per result
  Index first = 0;              ///< number of the first law among the inputs
  /// To draw from, where that is asked for, and at which inputs: a column per result, or all of a joint law.
  std::optional<Ensemble> ensemble;
  Matrix drawn_inputs;

  [[nodiscard]] Index count() const { return static_cast<Index>(results.size()); }
  [[nodiscard]] CertifiedLaw law(Index place) const;
  /// Independent draws of the network's outputs there; `ensemble` must be set.
  [[nodiscard]] Matrix draws(Index place, const AnswerOptions& options) const;
};

/// Throws InvalidArgument where the input or a question does not fit the file.
Subjects read_subjects(const AnswerArguments& arguments);

/// Statements parsed for these laws.
Questions read_questions(const AnswerArguments& arguments, const Subjects& subjects);

/// One column per law; empty where none were given.
Matrix read_labels(const AnswerArguments& arguments, const Subjects& subjects);

}  // namespace mixcert::cli
