// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The HTML report of `mixcert answer`: certified intervals, grouped by what was asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mixcert/answer/certified_law.h"
#include "report/pages/page_parts.h"
#include "report/terminal/text_report.h"

namespace mixcert::page {

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
};

struct AnswerContents {
  RunFacts run;
  std::string result_file;
  std::string inputs_file;  ///< empty where none was read
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
};

/// Groups, headlines and warnings; the facts of the run are the caller's.
AnswerContents answer_contents(const AnsweredRun& run);

/// The same numbers as scores_text(), as headlines.
std::vector<Headline> score_headlines(const RegressionSummary& summary);
std::vector<Headline> score_headlines(const ClassSummary& summary);

}  // namespace mixcert::page
