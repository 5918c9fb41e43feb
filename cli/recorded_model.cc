// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "recorded_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/text_table.h"
#include "io/files/byte_source.h"
#include "mixcert/core/error.h"
#include "model_flags.h"

namespace mixcert::cli {
namespace {

/// One per model: those of `members`, or the one of a single model.
std::vector<ModelRecord> recorded_models(const RunRecord& run) {
  return run.members.empty() ? std::vector<ModelRecord>{{run.model_sha256, 1.0}} : run.members;
}

void check_models(const std::vector<std::string>& files, const std::vector<ModelRecord>& models,
                  const StoredRun& stored) {
  require(files.size() == models.size(),
          fmt::format("option --model: expected {}, as {} was made from, got {}",
                      counted(static_cast<Index>(models.size()), "file"), stored.file, files.size()));
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!std::filesystem::exists(files[i])) {
      throw FileError(files[i] + ": no such file; the model of " + stored.file +
                      " can be named with --model FILE");
    }
    const std::string sha256 = sha256_of_file(files[i]);
    if (sha256 == models[i].sha256) continue;
    throw FileError(
        fmt::format("{}: expected the model that {} was made from (SHA-256 {:.12}..), got {:.12}..", files[i],
                    stored.file, models[i].sha256, sha256));
  }
}

}  // namespace

Ensemble load_recorded(const StoredRun& stored, const std::vector<std::string>& given,
                       const std::string& purpose) {
  const RunRecord& run = stored.require_record(purpose);
  const std::vector<std::string>& files = given.empty() ? run.model_files : given;
  const std::vector<ModelRecord> models = recorded_models(run);
  check_models(files, models, stored);
  Vector weights(static_cast<Index>(models.size()));
  for (Index i = 0; i < weights.size(); ++i) weights(i) = models[static_cast<std::size_t>(i)].weight;
  return with_functional(load_models(files, weights, stored.noise, {}), run.functional);
}

}  // namespace mixcert::cli
