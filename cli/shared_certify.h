// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of single inputs by the team of processes, kept in a journal where arrays are written.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/results/result_journal.h"
#include "mixcert/certify/certify.h"
#include "model_flags.h"
#include "team.h"

namespace mixcert::cli {

/// Everything that certify() takes from outside.
Services certify_services();

class SharedCertify {
 public:
  /// `out` is the file of arrays. References must outlive this.
  SharedCertify(const Subject& subject, const Options& options, const std::optional<std::string>& out,
                bool resume)
      : subject_(subject), options_(options), out_(out), resume_(resume) {}

  /// As one of those who do not lead.
  void help();
  /// Hands results to `output` in order, and tells `kept` first how many of them an earlier run left in the
  /// journal. Interrupted says what was kept.
  void run(const RunRecord& record, const ResultSink& output, const std::function<void(Index)>& kept);
  /// The output is in place.
  void forget_journal();

 private:
  TeamWork basic_work() const;
  void run_journaled(const RunRecord& record, const ResultSink& output,
                     const std::function<void(Index)>& kept);

  const Subject& subject_;
  const Options& options_;
  const std::optional<std::string>& out_;
  bool resume_;
  std::optional<ResultJournal> journal_;
};

}  // namespace mixcert::cli
