// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// certify --proof FILE: the proof beside the other outputs, and what it costs that only checked theorems are
// taken.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "mixcert/certificate/options.h"
#include "mixcert/io/proof_file.h"
#include "mixcert/io/result_file.h"
#include "model_flags.h"

namespace mixcert::cli {

class ProofOutput {
 public:
  /// `wanted`: the options as the user gave them. Nothing is written where `path` is empty. Throws
  /// InvalidArgument for what mixcert-check does not cover, before any work. `subject` must outlive this.
  ProofOutput(const std::optional<std::string>& path, const Subject& subject, const std::string& functional,
              const RunRecord& record, const Options& wanted);
  void add(const Result& result);
  void finish();
  /// What mixcert-check says of the finished proof, in a line. Throws Error where it does not prove it.
  [[nodiscard]] std::string checked(const std::string& model) const;
  /// Lines about it for the terminal; empty where there is none. Certifies the first input once more, with
  /// all theorems.
  [[nodiscard]] std::string footer(const std::string& model) const;

 private:
  const Subject& subject_;
  Options wanted_;
  std::string path_;
  std::unique_ptr<ProofWriter> writer_;
  double first_bound_ = 0.0;  ///< at the first input
};

}  // namespace mixcert::cli
