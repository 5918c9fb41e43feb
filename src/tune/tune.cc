// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Runs of prior selection and their checkpoints.
#include "mixcert/tune/tune.h"

#include <chrono>
#include <limits>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "tune/tune_checkpoint.h"

namespace mixcert {
namespace {

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
