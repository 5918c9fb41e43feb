// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert sample: Monte Carlo samples of the network's outputs, [inputs, samples, outputs].
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "command.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/npy.h"
#include "mixcert/simulate/simulate.h"
#include "run_context.h"
#include "sampling_flags.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

struct SampleArguments {
  std::string model;
  std::string inputs;
  std::string out;
  SamplingFlags sampling{.samples = 10000};
};

void append(NpyWriter& writer, const Matrix& samples) {
  writer.append(std::span(samples.data(), static_cast<std::size_t>(samples.size())));
}

/// Joint samples come input-major in each column; the file has one slab per input.
void write_joint(const Network& network, const Matrix& inputs, const SimulationOptions& options,
                 NpyWriter& writer) {
  const Matrix samples = simulate_joint(network, inputs, options);
  const Index outputs = network.outputs();
  for (Index i = 0; i < inputs.cols(); ++i) append(writer, samples.middleRows(i * outputs, outputs));
}

void run_sample(const SampleArguments& arguments) {
  check_outputs({{"MODEL", arguments.model}, {"--inputs", arguments.inputs}}, {{"--out", arguments.out}});
  const Network network = load_network(arguments.model);
  const Matrix inputs = load_inputs(arguments.inputs, network);
  const SimulationOptions options = arguments.sampling.to_options();
  arguments.sampling.check_memory(network.outputs() * (arguments.sampling.joint ? inputs.cols() : 1));
  NpyWriter writer(arguments.out, {inputs.cols(), options.samples, network.outputs()});
  if (arguments.sampling.joint) {
    write_joint(network, inputs, options, writer);
  } else {
    ProgressBar progress("sample", inputs.cols());
    for (Index i = 0; i < inputs.cols(); ++i) {
      append(writer, simulate(network, inputs.col(i), i, options));
      progress.advance();
    }
  }
  writer.finish();
  std::printf("wrote %s [%lld, %lld, %lld]\n", arguments.out.c_str(), static_cast<long long>(inputs.cols()),
              static_cast<long long>(options.samples), static_cast<long long>(network.outputs()));
}

}  // namespace

void add_sample_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("sample", "Monte Carlo samples of the network's outputs");
  auto arguments = std::make_shared<SampleArguments>();
  add_model_option(*command, arguments->model);
  add_inputs_option(*command, arguments->inputs);
  command->add_option("--out", arguments->out, "write samples (.npy) [inputs, samples, outputs]")
      ->required()
      ->type_name("FILE");
  arguments->sampling.add_to(*command);
  command->footer("Example:\n  mixcert sample net.safetensors --inputs x.csv --samples 10000 --out s.npy");
  command->callback([arguments] { run_sample(*arguments); });
}

}  // namespace mixcert::cli
