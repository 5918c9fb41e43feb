// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Records of a training.
#include "train/train_metadata.h"

#include <nlohmann/json.hpp>

#include "io/files/byte_source.h"
#include "train/checkpoint.h"

namespace mixcert::lab {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Vector& values) {
  return std::vector<double>(values.data(), values.data() + values.size());
}

}  // namespace

Metadata training_identity(const Dataset& data, const TrainOptions& options) {
  Metadata identity{{"data", data.name}, {"data fingerprint", fingerprint(data)}};
  for (const auto& field : train_option_table()) {
    if (!is_bookkeeping(field.name)) identity["--" + field.name] = field.get(options);
  }
  if (!options.prior.empty()) identity["sum of --prior"] = sha256_of_file(options.prior);
  if (!options.backbone_from.empty()) {
    identity["sum of --backbone-from"] = sha256_of_file(options.backbone_from);
  }
  return identity;
}

Metadata model_metadata(const Dataset& data, const TrainOptions& options, std::optional<double> noise_std) {
  ordered_json training{{"data", data.name}};
  for (const auto& field : train_option_table()) {
    const std::string value = field.get(options);
    if (!is_bookkeeping(field.name) && !value.empty()) training[field.name] = value;
  }
  Metadata metadata{{"training", training.dump()}};
  if (noise_std) metadata["noise_std"] = format_number(*noise_std);
  const Standardisation& s = data.standardisation;
  if (s.input_mean.size() > 0 || s.target_mean.size() > 0) {
    const ordered_json values{{"input_mean", to_json(s.input_mean)},
                              {"input_scale", to_json(s.input_scale)},
                              {"target_mean", to_json(s.target_mean)},
                              {"target_scale", to_json(s.target_scale)}};
    metadata["standardisation"] = values.dump();
  }
  return metadata;
}

}  // namespace mixcert::lab
