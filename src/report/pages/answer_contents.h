// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Groups the answers of a run for its HTML report: one group for each kind of question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/pages/answer_page.h"
#include "report/terminal/answer_report.h"

namespace mixcert::page {

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
