// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Loading of networks, inputs and noise.
#include "model_flags.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <utility>
#include <variant>

#include "box_flag.h"
#include "io/files/byte_source.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/io/input_file.h"
#include "mixcert/io/model_file.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::cli {
namespace {

/// Of a law that is not deterministic.
Index features_of(const InputNoise& noise) {
  const BiasCovariance& law = noise.components.front().law;
  const auto* independent = std::get_if<IndependentBias>(&law);
  return independent != nullptr ? independent->variance.size()
                                : std::get<CorrelatedBias>(law).covariance.rows();
}

/// One file as an ensemble: a network for each choice of its mixtures and each component of the noise.
Ensemble load_model(const std::string& file, const InputNoise& noise, const ReadLimits& limits) {
  if (!noise.is_none()) {
    const Index inputs = input_shape(load_layers(file, limits)).size();
    require(features_of(noise) == inputs,
            fmt::format("{}: expected a network of {} inputs, as the noise has, got {}", file,
                        features_of(noise), inputs));
  }
  return load_ensemble(file, limits, noise);
}

/// Noise of one standard deviation on every feature.
InputNoise isotropic(double deviation, Index features) {
  InputNoise noise;
  if (deviation > 0.0) {
    noise.components.push_back({1.0, {}, IndependentBias{Vector::Constant(features, deviation * deviation)}});
  }
  return noise;
}

void check_features(const ModelFlags& flags, Index features, Index expected) {
  if (features == expected) return;
  throw FileError(fmt::format("{}: inputs: expected {} features, as the network takes, got {}", flags.inputs,
                              expected, features));
}

}  // namespace

void ModelFlags::add_to(CLI::App& command) {
  command.add_option("MODEL", models, "networks (.safetensors); several make an ensemble")
      ->required()
      ->type_name("");
  command.add_option("--inputs", inputs, "inputs, one per row (.npy, .csv; .npz: with noise)")
      ->required()
      ->type_name("FILE");
  command.add_option("--member-weights", member_weights, "probabilities of the networks [equal]")
      ->type_name("W,W,..");
  command
      .add_option_function<std::string>(
          "--input-std",
          [this](const std::string& text) {
            const auto value = parse_number<double>(text);
            if (!value || !(*value >= 0.0) || !std::isfinite(*value * *value)) {
              bad_option("input-std", "a finite number of at least 0", text);
            }
            input_std = *value;
          },
          "Gaussian noise of this deviation on every feature")
      ->type_name("X");
  command.add_option("--functional", functional, "a sum of outputs in their place, as 'y0 - y3'")
      ->type_name("TEXT");
}

void ModelFlags::add_box_to(CLI::App& command) {
  command.get_option("--inputs")->required(false);
  command.add_option("--box", box, "all inputs between LO and HI, or a file of both")->type_name("LO,HI");
}

std::vector<NamedFile> ModelFlags::files() const {
  std::vector<NamedFile> files;
  for (const std::string& model : models) files.push_back({"MODEL", model});
  if (!inputs.empty()) files.push_back({"--inputs", inputs});
  if (box && is_box_file(*box)) files.push_back({"--box", *box});
  return files;
}

Vector ModelFlags::weights() const {
  const auto count = static_cast<Index>(models.size());
  if (!member_weights) return Vector::Constant(count, 1.0 / static_cast<double>(count));
  const std::string expected =
      fmt::format("{} positive number{} that sum to 1, one per MODEL", count, count == 1 ? "" : "s");
  std::vector<double> values;
  std::istringstream stream(*member_weights + ",");
  for (std::string word; std::getline(stream, word, ',');) {
    const auto value = parse_number<double>(word);
    if (!value || !(*value > 0.0)) bad_option("member-weights", expected, *member_weights);
    values.push_back(*value);
  }
  Vector weights = Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
  if (weights.size() != count || !(std::abs(weights.sum() - 1.0) <= 1e-9)) {
    bad_option("member-weights", expected, *member_weights);
  }
  return weights;
}

std::vector<ModelRecord> ModelFlags::records() const {
  const Vector all = weights();
  std::vector<ModelRecord> records;
  for (std::size_t i = 0; i < models.size(); ++i) {
    records.push_back({sha256_of_file(models[i]), all(static_cast<Index>(i))});
  }
  return records;
}

void ModelFlags::record_in(nlohmann::ordered_json& report) const {
  const std::vector<ModelRecord> all = records();
  if (all.size() == 1) {
    report["model_sha256"] = all.front().sha256;
    return;
  }
  for (const ModelRecord& record : all) {
    report["members"].push_back({{"sha256", record.sha256}, {"weight", record.weight}});
  }
}

void Subject::refuse_joint_noise() const {
  require(noise.is_none(),
          "option --joint: expected inputs without noise, got random ones (it would be shared by all)");
}

Ensemble load_models(const std::vector<std::string>& files, const Vector& weights, const InputNoise& noise,
                     const ReadLimits& limits) {
  if (files.size() == 1) return load_model(files.front(), noise, limits);
  std::vector<Network> members;
  std::vector<double> all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Ensemble model = load_model(files[i], noise, limits);
    for (Index j = 0; j < model.size(); ++j) {
      members.push_back(model.member(j));
      all.push_back(weights(static_cast<Index>(i)) * model.weights()(j));
    }
    const Network& first = members.front();
    if (model.inputs() == first.inputs() && model.outputs() == first.outputs()) continue;
    throw FileError(fmt::format("{}: expected a network of {} inputs and {} outputs, as {} is, got {} and {}",
                                files[i], first.inputs(), first.outputs(), files.front(), model.inputs(),
                                model.outputs()));
  }
  return {std::move(members), Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()))};
}

Ensemble with_functional(Ensemble ensemble, const std::string& functional) {
  if (functional.empty()) return ensemble;
  return combined_output(ensemble, parse_functional(functional, ensemble.outputs()));
}

namespace {

Subject load_box_subject(const ModelFlags& flags, const ReadLimits& limits) {
  const Index features = input_shape(load_layers(flags.models.front(), limits)).size();
  InputNoise noise = isotropic(flags.input_std, features);
  Ensemble ensemble = load_models(flags.models, flags.weights(), noise, limits);
  return {with_functional(std::move(ensemble), flags.functional),
          {},
          std::move(noise),
          read_box(*flags.box, features, limits)};
}

}  // namespace

Subject load_subject(const ModelFlags& flags, const ReadLimits& limits) {
  require(flags.inputs.empty() == flags.box.has_value(),
          flags.box ? "options --inputs and --box: expected one of them, got both"
                    : "--inputs or --box is required");
  if (flags.box) return load_box_subject(flags, limits);
  const Vector weights = flags.weights();
  InputFile file = read_input_file(flags.inputs, limits);
  require(flags.input_std == 0.0 || file.noise.is_none(),
          "option --input-std: expected inputs without a law of their own, got one in " + flags.inputs);
  if (file.noise.is_none()) file.noise = isotropic(flags.input_std, file.inputs.rows());
  Subject subject{with_functional(load_models(flags.models, weights, file.noise, limits), flags.functional),
                  std::move(file.inputs),
                  std::move(file.noise),
                  {}};
  check_features(flags, subject.inputs.rows(), subject.ensemble.inputs());
  return subject;
}

}  // namespace mixcert::cli
