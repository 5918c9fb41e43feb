// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "proof_output.h"

#include <fmt/format.h>

#include "checker_program.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "shared_certify.h"

namespace mixcert::cli {

ProofOutput::ProofOutput(const std::optional<std::string>& path, const Subject& subject,
                         const std::string& functional, const RunRecord& record, const Options& wanted)
    : subject_(subject), wanted_(wanted) {
  if (!path) return;
  require(!record.model_sha256.empty() && subject.ensemble.size() == 1 && functional.empty() &&
              subject.noise.is_none(),
          "option --proof: expected one model, all of its outputs and inputs without noise");
  path_ = *path;
  writer_ = std::make_unique<ProofWriter>(path_, subject.ensemble.member(0), record.model_sha256, wanted);
}

void ProofOutput::add(const Result& result) {
  if (!writer_) return;
  if (result.input == 0) first_bound_ = result.w2.value;
  writer_->add(result, subject_.inputs.col(result.input));
}

void ProofOutput::finish() {
  if (writer_) writer_->finish();
}

std::string ProofOutput::checked(const std::string& model) const { return checked_by_program(model, path_); }

std::string ProofOutput::footer(const std::string& model) const {
  if (!writer_) return "";
  Options formal = wanted_;
  formal.simulate = false;
  formal.statistics = 0;
  const Result all =
      certify(subject_.ensemble, subject_.inputs.leftCols(1), formal, certify_services()).front();
  return fmt::format(
      "proof: with theorems that mixcert-check covers, W2 <= {:.3g} at input 0; with all theorems {:.3g}\n"
      "       mixcert-check {} {}\n",
      first_bound_, all.w2.value, model, path_);
}

}  // namespace mixcert::cli
