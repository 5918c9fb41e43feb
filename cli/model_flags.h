// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What certify, sample and compare are about: one network or an ensemble of files, the inputs, and noise on
// them.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mixcert/certificate/result.h"
#include "mixcert/io/array.h"
#include "mixcert/io/result_file.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/input_noise.h"
#include "run_context.h"

namespace mixcert::cli {

struct ModelFlags {
  std::vector<std::string> models;
  std::string inputs;
  std::optional<std::string> box;             ///< in place of inputs, where the command knows it
  std::optional<std::string> member_weights;  ///< as typed
  double input_std = 0.0;
  std::string functional;  ///< of the outputs, as typed; empty: all outputs

  void add_to(CLI::App& command);
  /// --box too, behind add_to(); --inputs is then asked for where it is not given.
  void add_box_to(CLI::App& command);
  /// The files that are read, for check_outputs().
  [[nodiscard]] std::vector<NamedFile> files() const;
  /// One per model, summing to one; equal where none are given. Throws InvalidArgument.
  [[nodiscard]] Vector weights() const;
  /// SHA-256 and weight of every model.
  [[nodiscard]] std::vector<ModelRecord> records() const;
  /// The same as result files have it: `model_sha256` of one, `members` of several.
  void record_in(nlohmann::ordered_json& report) const;
};

struct Subject {
  Ensemble ensemble;
  Matrix inputs;  ///< one per column; none yet where there is a box
  InputNoise noise;
  std::optional<InputBox> box;

  /// Throws InvalidArgument where inputs are random: as a layer's bias their noise would be shared by all
  /// inputs.
  void refuse_joint_noise() const;
};

/// Networks from several files, each behind the noise, as one ensemble. Throws FileError naming the file.
Ensemble load_models(const std::vector<std::string>& files, const Vector& weights, const InputNoise& noise,
                     const ReadLimits& limits);

/// The sum of outputs that `functional` names in place of all of them (N.8); empty: as it is. Throws
/// InvalidArgument.
Ensemble with_functional(Ensemble ensemble, const std::string& functional);

/// All that the flags name. Throws FileError where the number of features is not the networks'.
Subject load_subject(const ModelFlags& flags, const ReadLimits& limits = {});

}  // namespace mixcert::cli
