// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A Gaussian process written as text, or a mixture from a file.
#include "target_flags.h"

#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/io/input_file.h"
#include "mixcert/io/result_file.h"

namespace mixcert::cli {

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

}  // namespace mixcert::cli
