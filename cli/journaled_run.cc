// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Order out of any order.
#include "journaled_run.h"

#include "io/results/result_journal.h"

namespace mixcert::cli {

JournaledRun::JournaledRun(ResultJournal& journal, const ResultSink& output)
    : journal_(journal), output_(output) {
  hand_on();
}

std::vector<Index> JournaledRun::missing() const {
  std::vector<Index> inputs;
  for (Index i = next_; i < journal_.inputs(); ++i) {
    if (!journal_.has(i)) inputs.push_back(i);
  }
  return inputs;
}

void JournaledRun::add(Index input, std::string_view encoded) {
  journal_.append(input, encoded);
  if (input == next_) {
    ++next_;
    output_(io::decode_result(encoded, journal_.path().string()));
  }
  hand_on();
}

void JournaledRun::hand_on() {
  for (; next_ < journal_.inputs() && journal_.has(next_); ++next_) output_(journal_.read(next_));
}

}  // namespace mixcert::cli
