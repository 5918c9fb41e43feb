// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Flags that several commands share: of samples, of a target law, and of reports.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/files/atomic_file.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/tune/tune.h"
#include "report/pages/page_document.h"
#include "run_context.h"

namespace mixcert::cli {

// The options of commands that draw samples, in one table.

struct SamplingFlags {
  Index samples = 1000;
  bool joint = false;
  std::uint64_t seed = 0;
  int threads = 0;

  /// The fields listed in `only` when given.
  void add_to(CLI::App& command, const std::vector<std::string>& only = {});
  [[nodiscard]] SimulationOptions to_options() const;
  /// Throws ResourceError when `rows` x samples would not fit.
  void check_memory(Index rows) const;
};

// Inputs and the target law at them, as flags of several commands.

struct TargetFlags {
  std::string inputs;
  std::optional<std::string> kernel;
  std::string mean = "zero";
  std::optional<std::string> target;

  void add_to(CLI::App& command);
  /// Throws InvalidArgument unless there is one of kernel and target.
  void check() const;
  [[nodiscard]] std::vector<NamedFile> files() const { return {{"--inputs", inputs}, {"--target", target}}; }
  /// For a network with this number of outputs.
  [[nodiscard]] TuneProblem load(Index outputs) const;
};

// --report FILE of the commands that can write an HTML report, and what it needs to know beside the run
// itself.

struct ReportFlags {
  std::optional<std::string> report;
  std::optional<LayerShape> image;  ///< as --image says
  bool classes = false;             ///< outputs are logits

  void add_to(CLI::App& command);
  /// --image and --classes, for commands whose networks may classify pictures.
  void add_subject_to(CLI::App& command);
  /// Shape of the inputs where they are pictures that can be shown: --image, or the shape that the first
  /// model begins with. Throws InvalidArgument where --image does not fit `features`.
  [[nodiscard]] std::optional<LayerShape> image_of(const std::string& model, Index features) const;
};

/// A report that is being made: the file is opened before the work, so that a directory that cannot be
/// written is found then.
class ReportFile {
 public:
  explicit ReportFile(const ReportFlags& flags);
  [[nodiscard]] bool wanted() const { return file_.has_value(); }
  void write(const page::Page& page);

 private:
  std::optional<AtomicFile> file_;
};

}  // namespace mixcert::cli
