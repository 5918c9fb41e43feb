// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checkpoints of prior selection.
#include "tune/tune_checkpoint.h"

#include <cmath>
#include <limits>

#include "io/formats/safetensors.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr char kFormat[] = "mixcert-tuning";
constexpr Index kHistoryColumns = 4;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  throw FileError(path.string() + ": " + what + "; --restart begins anew");
}

Vector as_vector(const SafetensorsReader& reader, const std::string& name) {
  const Array array = reader.read(name);
  return Eigen::Map<const Vector>(array.values.data(), static_cast<Index>(array.values.size()));
}

/// A bound that does not exist is stored as -1: files hold finite numbers only.
double stored(double bound) { return std::isfinite(bound) ? bound : -1.0; }
double restored(double bound) { return bound < 0.0 ? std::numeric_limits<double>::infinity() : bound; }

}  // namespace

void write_tune_checkpoint(const std::filesystem::path& path,
                           const std::map<std::string, std::string>& identity, const TuneProgress& progress) {
  const auto steps = static_cast<Index>(progress.history.size());
  Matrix history(steps, kHistoryColumns);
  for (Index i = 0; i < steps; ++i) {
    const TuneStep& step = progress.history[static_cast<std::size_t>(i)];
    history.row(i) << stored(step.objective), stored(step.bound), step.distance, step.target_scale;
  }
  const TuneState& state = progress.state;
  std::map<std::string, Array> tensors;
  for (const auto& [name, values] : {std::pair<const char*, const Vector*>{"parameters", &state.parameters},
                                     {"momentum", &state.momentum},
                                     {"squares", &state.squares}}) {
    tensors[name] = vector_to_array(*values);
  }
  tensors["history"] = to_array(history);
  tensors["seconds"] = vector_to_array(Vector::Constant(1, progress.seconds));
  std::map<std::string, std::string> metadata = identity;
  metadata["format"] = kFormat;
  write_safetensors(path, tensors, metadata);
}

std::optional<TuneProgress> read_tune_checkpoint(const std::filesystem::path& path,
                                                 const std::map<std::string, std::string>& identity) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const SafetensorsReader reader(path);
  std::map<std::string, std::string> found = reader.metadata();
  if (found["format"] != kFormat) refuse(path, "is no checkpoint of mixcert tune");
  for (const auto& [name, wanted] : identity) {
    if (found[name] == wanted) continue;
    std::string difference = "belongs to a run with ";
    difference.append(name)
        .append(" '")
        .append(found[name])
        .append("', here it is '")
        .append(wanted)
        .append("'");
    refuse(path, difference);
  }
  TuneProgress progress;
  progress.state.parameters = as_vector(reader, "parameters");
  progress.state.momentum = as_vector(reader, "momentum");
  progress.state.squares = as_vector(reader, "squares");
  const Vector seconds = as_vector(reader, "seconds");
  const Vector history = as_vector(reader, "history");
  if (seconds.size() != 1 || history.size() % kHistoryColumns != 0) refuse(path, "is damaged");
  progress.seconds = seconds(0);
  progress.state.step = history.size() / kHistoryColumns;
  for (Index i = 0; i < progress.state.step; ++i) {
    const auto row = history.segment(i * kHistoryColumns, kHistoryColumns);
    progress.history.push_back({i + 1, restored(row(0)), restored(row(1)), row(2), row(3)});
  }
  return progress;
}

}  // namespace mixcert
