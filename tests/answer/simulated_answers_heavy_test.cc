// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two thousand answers from draws, over every kind of layer.
#include <gtest/gtest.h>

#include <cstdio>

#include "answer/simulated_questions.h"

namespace mixcert::testing {
namespace simulated_answers_heavy_test {

TEST(SimulatedAnswersHeavy, TwoThousandQuestions) {
  const QuestionCount often = ask_every_kind(18, 0.1, 2000, 50000);
  const QuestionCount surely = ask_every_kind(18, 1e-9, 2000, 50000);
  std::printf("%d of %d miss at failure probability 0.1 for each set, %d at 1e-9\n", often.missed,
              often.asked, surely.missed);
  EXPECT_GE(often.asked, 2000);
  EXPECT_LE(10 * often.missed, often.asked);
  EXPECT_EQ(surely.missed, 0);
}

}  // namespace simulated_answers_heavy_test
}  // namespace mixcert::testing
