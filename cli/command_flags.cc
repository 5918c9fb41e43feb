// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Flags of samples, of a target law (a Gaussian process written as text, or a mixture from a file) and of
// reports.
#include "command_flags.h"

#include <fmt/format.h>

#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/io/input_file.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

constexpr double kMaxGib = 8.0;

const OptionTable<SamplingFlags>& sampling_table() {
  static const OptionTable<SamplingFlags> table = {
      integer_option<SamplingFlags, Index>("samples", &SamplingFlags::samples, 2, 1000000000,
                                           "samples of the network at each input"),
      flag_option("joint", &SamplingFlags::joint, "one weight draw shared by all inputs"),
      integer_option<SamplingFlags, std::uint64_t>(
          "seed", &SamplingFlags::seed, 0, std::numeric_limits<std::uint64_t>::max(), "seed of the samples"),
      integer_option<SamplingFlags, int>("threads", &SamplingFlags::threads, 0, 4096,
                                         "threads; 0: one per processor"),
  };
  return table;
}

}  // namespace

void SamplingFlags::add_to(CLI::App& command, const std::vector<std::string>& only) {
  add_table_options(command, sampling_table(), *this, only);
}

SimulationOptions SamplingFlags::to_options() const {
  SimulationOptions options;
  options.samples = samples;
  options.seed = seed;
  options.threads = threads;
  options.cancel = &cancel_flag();
  return options;
}

void SamplingFlags::check_memory(Index rows) const {
  const double gib =
      2.0 * sizeof(double) * static_cast<double>(rows) * static_cast<double>(samples) / 0x1.0p30;
  if (gib <= kMaxGib) return;
  throw ResourceError(fmt::format("--samples {}: would need {:.1f} GiB, more than the limit of {} GiB",
                                  samples, gib, kMaxGib));
}

void TargetFlags::add_to(CLI::App& command) {
  command.add_option("--inputs", inputs, "inputs, one row each (.csv, .npy, .npz)")
      ->required()
      ->type_name("FILE");
  command.add_option("--kernel", kernel, "of the target, \"rbf(lengthscale=0.5, variance=1)\"")
      ->type_name("KERNEL");
  command.add_option("--mean", mean, "of the target, \"constant(value=1)\"")
      ->type_name("MEAN")
      ->capture_default_str();
  command.add_option("--target", target, "mixture at all inputs (.npz of certify --joint)")
      ->type_name("FILE");
}

void TargetFlags::check() const {
  require(kernel.has_value() != target.has_value(),
          "expected one of --kernel and --target, got " + std::string(kernel ? "both" : "neither"));
  require(kernel.has_value() || mean == "zero",
          "--mean: expected --kernel beside it, a mixture has a mean of its own");
}

TuneProblem TargetFlags::load(Index outputs) const {
  Matrix points = read_inputs(inputs);
  if (kernel) {
    const GaussianProcess process{MeanFunction::parse(mean), Kernel::parse(*kernel)};
    return process_problem(process, std::move(points), outputs);
  }
  std::vector<StoredResult> results = read_results(*target);
  require(results.size() == 1, "--target " + *target +
                                   ": expected one mixture over all inputs (certify --joint " +
                                   "writes one), got " + std::to_string(results.size()));
  return mixture_problem(std::move(results.front().mixture), std::move(points), outputs);
}

namespace {

constexpr Index kMaxSide = 4096;

LayerShape parse_image(const std::string& text) {
  std::vector<Index> sides;
  std::istringstream stream(text + "x");
  for (std::string word; std::getline(stream, word, 'x');) {
    const auto side = parse_number<Index>(word);
    sides.push_back(side && *side >= 1 && *side <= kMaxSide ? *side : 0);
  }
  const bool good = (sides.size() == 2 || (sides.size() == 3 && (sides[2] == 1 || sides[2] == 3))) &&
                    sides[0] > 0 && sides[1] > 0;
  if (!good) bad_option("image", "height x width, or height x width x channels (1 or 3), as in 28x28", text);
  return {sides.size() == 3 ? sides[2] : 1, {sides[0], sides[1]}, true};
}

bool can_be_shown(const LayerShape& shape) {
  return shape.is_image && (shape.channels == 1 || shape.channels == 3);
}

}  // namespace

void ReportFlags::add_to(CLI::App& command) {
  command.add_option("--report", report, "write a report to read in a browser (.html)")->type_name("FILE");
}

void ReportFlags::add_subject_to(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--image", [this](const std::string& text) { image = parse_image(text); },
          "the report shows inputs as pictures of this size")
      ->type_name("HxW[xC]");
  command.add_flag("--classes", classes, "outputs are logits: ranges of class probabilities")
      ->disable_flag_override();
}

std::optional<LayerShape> ReportFlags::image_of(const std::string& model, Index features) const {
  if (image) {
    require(image->size() == features,
            fmt::format("option --image: expected {} values as the inputs have, got {}", features,
                        to_string(*image)));
    return image;
  }
  const LayerShape shape = input_shape(load_layers(model));
  return can_be_shown(shape) && shape.size() == features ? std::optional(shape) : std::nullopt;
}

ReportFile::ReportFile(const ReportFlags& flags) {
  if (flags.report) file_.emplace(*flags.report);
}

void ReportFile::write(const page::Page& page) {
  if (!file_) return;
  file_->write(page::write_page(page));
  file_->commit();
}

}  // namespace mixcert::cli
