// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Results as they come, in any order, into the journal; and on to the output in the order of the inputs.
#pragma once

#include <string_view>
#include <vector>

#include "io/results/result_journal.h"
#include "mixcert/certify/certify.h"

namespace mixcert::cli {

class JournaledRun {
 public:
  /// Hands on at once what the journal holds already. Both must outlive this.
  JournaledRun(ResultJournal& journal, const ResultSink& output);

  /// Inputs without a result.
  [[nodiscard]] std::vector<Index> missing() const;
  /// encode_result()'s bytes.
  void add(Index input, std::string_view encoded);

 private:
  void hand_on();

  ResultJournal& journal_;
  const ResultSink& output_;
  Index next_ = 0;
};

}  // namespace mixcert::cli
