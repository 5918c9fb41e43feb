// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The HTML report of mixcert certify, and what the command is asked.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "command_flags.h"
#include "mixcert/certificate/options.h"
#include "mixcert/io/result_file.h"
#include "model_flags.h"
#include "report/pages/command_pages.h"

namespace mixcert::cli {

struct CertifyArguments {
  ModelFlags models;
  std::optional<std::string> out;
  std::optional<std::string> json;
  std::optional<std::string> proof;
  bool check = false;
  bool resume = false;
  ReportFlags report;
  Options options;
};

/// Collects for the HTML report, if there is to be one.
class PageOfRun {
 public:
  using Clock = std::chrono::steady_clock;

  /// `start` of the run. Throws InvalidArgument where the report was asked for what it cannot show.
  PageOfRun(const CertifyArguments& arguments, const Subject& subject, Clock::time_point start);
  void add(Result&& result);
  /// `checked`: what mixcert-check says of the run's proof; empty where it was not asked.
  void write(const RunRecord& record, const std::string& checked);

 private:
  void add_waiting();

  const CertifyArguments& arguments_;
  const Subject& subject_;
  ReportFile file_;
  std::optional<page::CertifyCollector> collector_;
  std::vector<Result> waiting_;
  Clock::time_point start_;
};

}  // namespace mixcert::cli
