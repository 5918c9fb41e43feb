// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert sample: Monte Carlo samples of the network's outputs, [inputs, samples, outputs].
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "command.h"
#include "command_flags.h"
#include "io/formats/npy.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "model_flags.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

struct SampleArguments {
  ModelFlags models;
  std::string out;
  SamplingFlags sampling{.samples = 10000};
};

void append(NpyWriter& writer, const Matrix& samples) {
  writer.append(std::span(samples.data(), static_cast<std::size_t>(samples.size())));
}

/// Joint samples come input-major in each column; the file has one slab per input.
void write_joint(const Ensemble& ensemble, const Matrix& inputs, const SimulationOptions& options,
                 NpyWriter& writer) {
  const Matrix samples = simulate_joint(ensemble, inputs, options);
  const Index outputs = ensemble.outputs();
  for (Index i = 0; i < inputs.cols(); ++i) append(writer, samples.middleRows(i * outputs, outputs));
}

void run_sample(const SampleArguments& arguments) {
  check_outputs(arguments.models.files(), {{"--out", arguments.out}});
  const Subject subject = load_subject(arguments.models);
  if (arguments.sampling.joint) subject.refuse_joint_noise();
  const Ensemble& ensemble = subject.ensemble;
  const Matrix& inputs = subject.inputs;
  const SimulationOptions options = arguments.sampling.to_options();
  arguments.sampling.check_memory(ensemble.outputs() * (arguments.sampling.joint ? inputs.cols() : 1));
  NpyWriter writer(arguments.out, {inputs.cols(), options.samples, ensemble.outputs()});
  if (arguments.sampling.joint) {
    write_joint(ensemble, inputs, options, writer);
  } else {
    ProgressBar progress("sample", inputs.cols());
    for (Index i = 0; i < inputs.cols(); ++i) {
      append(writer, simulate(ensemble, inputs.col(i), i, options));
      progress.advance();
    }
  }
  writer.finish();
  std::printf("wrote %s [%lld, %lld, %lld]\n", arguments.out.c_str(), static_cast<long long>(inputs.cols()),
              static_cast<long long>(options.samples), static_cast<long long>(ensemble.outputs()));
}

}  // namespace

void add_sample_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("sample", "Monte Carlo samples of the network's outputs");
  auto arguments = std::make_shared<SampleArguments>();
  arguments->models.add_to(*command);
  command->add_option("--out", arguments->out, "write samples (.npy) [inputs, samples, outputs]")
      ->required()
      ->type_name("FILE");
  arguments->sampling.add_to(*command);
  command->footer("Example:\n  mixcert sample net.safetensors --inputs x.csv --samples 10000 --out s.npy");
  command->callback([arguments] { run_sample(*arguments); });
}

}  // namespace mixcert::cli
