// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Runs of prior selection, and their state on disk: a safetensors file whose metadata say which run it
// belongs to.
#include "mixcert/tune/tune.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/formats/safetensors.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"

namespace mixcert {
namespace {

struct TuneProgress {
  TuneState state;
  std::vector<TuneStep> history;
  double seconds = 0.0;
};

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

/// Written beside and renamed.
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

/// Nothing where there is no file. Throws FileError where it is none of ours or belongs to another run.
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

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Steps until the end; `save` is called now and then, and before Interrupted is thrown.
class Run {
 public:
  Run(const TuneProblem& problem, const TuneOptions& options, const TuneServices& services)
      : tuner_(problem, options), services_(services) {}

  void resume(TuneProgress progress) {
    tuner_.restore(std::move(progress.state));
    history_ = std::move(progress.history);
    seconds_before_ = progress.seconds;
    resumed_ = true;
  }

  void steps(double save_seconds, const std::function<void(const TuneProgress&)>& save) {
    auto last_saved = Clock::now();
    while (!tuner_.is_done()) {
      if (services_.cancel != nullptr && services_.cancel->load()) {
        save(progress());
        throw Interrupted("interrupted");
      }
      history_.push_back(tuner_.step());
      if (services_.step) services_.step(history_.back());
      if (seconds_since(last_saved) < save_seconds) continue;
      save(progress());
      last_saved = Clock::now();
    }
  }

  [[nodiscard]] TuneRun result() {
    return {tuner_.network(),         std::move(history_), tuner_.held_out(),
            tuner_.parameter_count(), seconds(),           resumed_};
  }

 private:
  [[nodiscard]] double seconds() const { return seconds_before_ + seconds_since(start_); }
  [[nodiscard]] TuneProgress progress() const { return {tuner_.state(), history_, seconds()}; }

  Tuner tuner_;
  const TuneServices& services_;
  std::vector<TuneStep> history_;
  Clock::time_point start_ = Clock::now();
  double seconds_before_ = 0.0;
  bool resumed_ = false;
};

/// What a checkpoint must agree with.
std::map<std::string, std::string> identity_of(const TuneProblem& problem, const TuneOptions& options) {
  std::map<std::string, std::string> identity{{"target", problem.description},
                                              {"inputs", fingerprint(problem.inputs)}};
  for (const auto& field : tune_option_table()) identity[field.name] = field.get(options);
  return identity;
}

}  // namespace

TuneRun tune(const TuneProblem& problem, const TuneOptions& options, const TuneServices& services) {
  Run run(problem, options, services);
  run.steps(std::numeric_limits<double>::infinity(), [](const TuneProgress&) {});
  return run.result();
}

TuneRun tune(const TuneProblem& problem, const TuneOptions& options, const TuneFiles& files,
             const TuneServices& services) {
  Run run(problem, options, services);
  std::filesystem::path path = files.checkpoint;
  if (path.empty()) path = files.out.string() + ".checkpoint";
  const auto identity = identity_of(problem, options);
  if (!files.restart) {
    if (auto progress = read_tune_checkpoint(path, identity)) run.resume(std::move(*progress));
  }
  run.steps(files.checkpoint_seconds,
            [&](const TuneProgress& progress) { write_tune_checkpoint(path, identity, progress); });
  TuneRun result = run.result();
  std::map<std::string, std::string> metadata = files.metadata;
  metadata["target"] = problem.description;
  for (const auto& field : tune_option_table()) metadata["tune." + field.name] = field.get(options);
  save_network(files.out, result.network, metadata);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return result;
}

}  // namespace mixcert
