// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Making priors.
#include "reproduce/prior_cases.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "io/files/byte_source.h"
#include "mixcert/io/model_file.h"
#include "mixcert/tune/tune.h"
#include "prior/critic_prior.h"
#include "reproduce/subject.h"

namespace mixcert::lab {
namespace {

TuneOptions tune_options(const Context& context, const PriorCase& prior) {
  TuneOptions options;
  options.arch = prior.arch;
  options.steps = context.size(4, 300);
  options.batch = context.size(5, 20);
  options.seed = context.options.seed;
  return options;
}

CriticPriorOptions critic_options(const Context& context, const PriorCase& prior) {
  CriticPriorOptions options;
  options.arch = prior.arch;
  options.kernel = prior.kernel();
  options.steps = context.size(2, 60);
  options.critic_steps = context.size(2, 10);
  options.samples = context.size(16, 128);
  options.points = context.size(20, 100);
  options.seed = context.options.seed;
  options.threads = context.options.threads;
  return options;
}

template <class Owner>
std::string given_words(const OptionTable<Owner>& table, const Owner& owner) {
  const Owner usual;
  std::string words;
  for (const auto& field : table) {
    const std::string value = field.get(owner);
    if (value == field.get(usual) || field.name == "threads") continue;
    words += " --" + field.name + " '" + value + "'";
  }
  return words;
}

Network isotropic_network(const PriorCase& prior) {
  const PriorParameters parameters(parse_architecture(prior.arch), Activation(ActivationFunction::Tanh),
                                   PriorForm::PerLayer, TunedMeans::None);
  return parameters.network(parameters.isotropic(1.0, prior.kind == PriorKind::FanIn));
}

std::string command_of(const Context& context, const PriorCase& prior, const std::string& file) {
  switch (prior.kind) {
    case PriorKind::Tuned:
      return fmt::format("mixcert tune --kernel '{}' --inputs {}{} --out {}", prior.kernel(),
                         (context.options.out / "inputs" / "prior-tuning.npy").string(),
                         given_words(tune_option_table(), tune_options(context, prior)), file);
    case PriorKind::Critic:
      return "mixcert critic-prior" + given_words(critic_prior_table(), critic_options(context, prior)) +
             " --out " + file;
    default:
      return fmt::format("mixcert isotropic-prior --arch {}{} --out {}", prior.arch,
                         prior.kind == PriorKind::FanIn ? " --fan-in" : "", file);
  }
}

void write_prior(const Context& context, const PriorCase& prior, const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path());
  if (prior.kind == PriorKind::Tuned) {
    const TuneProblem problem = process_problem(process_of(prior), tuning_points(), 1);
    TuneFiles files;
    files.out = file;
    tune(problem, tune_options(context, prior), files, {[](const TuneStep&) {}, context.cancel});
  } else if (prior.kind == PriorKind::Critic) {
    const CriticPriorResult result = fit_critic_prior(
        critic_options(context, prior), [](const CriticPriorStep&) {}, context.cancel);
    save_network(file, result.network);
  } else {
    save_network(file, isotropic_network(prior));
  }
}

}  // namespace

std::string_view to_string(PriorKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"isotropic", "fan-in", "tuned", "critic"};
  return kNames[static_cast<std::size_t>(kind)];
}

GaussianProcess process_of(const PriorCase& prior) { return {MeanFunction(), Kernel::parse(prior.kernel())}; }

Matrix tuning_points() {
  constexpr Index kCount = 220;
  constexpr double kGolden = 0.6180339887498949;
  Matrix points(1, kCount);
  for (Index i = 0; i < kCount; ++i) {
    const double x = static_cast<double>(i + 1) * kGolden;
    points(0, i) = 2.0 * (x - std::floor(x)) - 1.0;
  }
  return points;
}

Matrix judged_points() { return Vector::LinSpaced(20, -0.95, 0.95).transpose(); }

MadePrior make_prior(const Context& context, const PriorCase& prior) {
  const std::filesystem::path file =
      context.options.out / "priors" /
      fmt::format("{}-{}-{}.safetensors", prior.arch, prior.lengthscale, to_string(prior.kind));
  write_points(context.options.out / "inputs" / "prior-tuning.npy", tuning_points());
  if (!std::filesystem::exists(file)) {
    context.say("prior " + file.stem().string());
    write_prior(context, prior, file);
  }
  return {file, sha256_of_file(file), command_of(context, prior, file.string()), load_network(file)};
}

}  // namespace mixcert::lab
