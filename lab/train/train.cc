// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The stages of a training: backbone, dense layers, figures, files.
#include "train/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "io/formats/npy.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "train/adam_learner.h"
#include "train/checkpoint.h"
#include "train/divergence.h"
#include "train/feature_learner.h"
#include "train/model_output.h"
#include "train/train_metadata.h"
#include "train/vogn_learner.h"

namespace mixcert::lab {
namespace {

constexpr Index kFeatureRows = 1000;
constexpr Index kElboSamplesForLargeSets = 10;
constexpr Index kElboSamplesOfConvolutions = 1;
constexpr double kBackboneLearningRate = 1e-3;
constexpr Index kBackboneBatch = 64;
/// Where learning of the noise begins: half of a standardised target's deviation.
constexpr double kInitialNoiseStd = 0.5;

constexpr double kWarmUpLearningRate = 1e-2;

/// In their order; a checkpoint says by its number in which the training was.
enum class Stage { Backbone, WarmUp, Dense };

/// Training and watched examples of one stage; behind a finished backbone the inputs are its features.
struct StageData {
  Examples train, watched, test;
};

class TrainingRun {
 public:
  TrainingRun(const Dataset& data, const TrainOptions& options, std::filesystem::path out,
              const TrainServices& services)
      : data_(data),
        options_(options),
        out_(std::move(out)),
        services_(services),
        threads_(resolve_thread_count(options.threads)),
        checkpoint_path_(checkpoint_path(options, out_)),
        identity_(training_identity(data, options)) {}

  TrainSummary run();

 private:
  [[nodiscard]] StackNet make_net() const;
  [[nodiscard]] Likelihood initial_likelihood() const;
  [[nodiscard]] StageData split_examples() const;
  /// Parameters of the convolutions: from the checkpoint, from a file, or trained.
  void provide_backbone(const StackNet& net, const StageData& images);
  /// Everything but a finished backbone.
  void train_rest(const StackNet& net, const StageData& examples);
  [[nodiscard]] std::unique_ptr<VognLearner> make_vogn(const StackNet& net, Index examples) const;
  void warm_up(const StackNet& net, const StageData& examples, VognLearner& learner);
  /// The learner itself, or behind the backbone whose masks are drawn at each step.
  [[nodiscard]] Learner& with_masks(Learner& learner, std::optional<FeatureLearner>& behind) const;
  /// Options of a stage that serves a later one.
  [[nodiscard]] TrainOptions adam_options() const;
  /// True where the checkpoint is of a later stage.
  [[nodiscard]] bool is_over(Stage stage) const;
  void run_stage(const std::string& name, Trainer& trainer, Stage stage);
  void keep(const Trainer& trainer, Stage stage) const;
  void measure(const Learner& learner, const StageData& examples);
  void refuse_what_diverged() const;
  void write_files(const StageData& examples, const ParameterLaw& kernels, const ParameterLaw& dense);
  void write_backbone_files(const StackNet& whole, const StageData& examples, const ParameterLaw& dense,
                            const Metadata& metadata);
  [[nodiscard]] double seconds() const;

  const Dataset& data_;
  const TrainOptions& options_;
  const std::filesystem::path out_;
  const TrainServices& services_;
  const int threads_;
  const std::filesystem::path checkpoint_path_;
  const Metadata identity_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<State> resumed_;  ///< what the checkpoint had, until its stage has taken it
  double earlier_seconds_ = 0.0;
  std::optional<ConvNet> conv_;  ///< where there is a backbone
  FloatVector backbone_;         ///< parameters of trained convolutions that are not random
  TrainSummary summary_;
};

double TrainingRun::seconds() const {
  return earlier_seconds_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

StackNet TrainingRun::make_net() const {
  const Index inputs = conv_ ? conv_->features() : data_.features();
  std::vector<Index> sizes = options_.layer_sizes(inputs, data_.outputs());
  const auto layers = static_cast<Index>(sizes.size()) - 1;
  return {conv_, DenseNet(std::move(sizes), Activation(options_.activation), options_.dropout_rates(layers))};
}

Likelihood TrainingRun::initial_likelihood() const {
  const double noise = options_.noise_std.value_or(kInitialNoiseStd);
  return Likelihood(data_.task, data_.task == Task::Regression ? noise * noise : 1.0);
}

StageData TrainingRun::split_examples() const {
  const Index total = data_.train.size();
  const auto held = static_cast<Index>(options_.validation_fraction * static_cast<double>(total));
  if (held == 0) return {data_.train, data_.test, data_.test};
  const std::vector<Index> order = shuffled(options_.seed, TrainStream::Validation, 0, total);
  return {gather(data_.train, order.data() + held, total - held), gather(data_.train, order.data(), held),
          data_.test};
}

void TrainingRun::keep(const Trainer& trainer, Stage stage) const {
  State state = trainer.state();
  state["stage"] = number_array(static_cast<double>(stage));
  state["seconds"] = number_array(seconds());
  if (backbone_.size() > 0) state["backbone"] = float_array(backbone_);
  write_checkpoint(checkpoint_path_, {identity_, std::move(state)});
}

bool TrainingRun::is_over(Stage stage) const {
  return resumed_ && read_number(*resumed_, "stage") > static_cast<double>(stage);
}

TrainOptions TrainingRun::adam_options() const {
  TrainOptions options = options_;
  options.inference = Inference::Adam;
  options.patience = 0;
  return options;
}

void TrainingRun::run_stage(const std::string& name, Trainer& trainer, Stage stage) {
  if (resumed_) {
    trainer.restore(*resumed_);
    resumed_.reset();
    summary_.resumed = true;
  }
  if (services_.stage) services_.stage(name, trainer.total_steps(), trainer.steps_done());
  trainer.run({services_.epoch, services_.step, [&] { keep(trainer, stage); }, services_.cancel});
  keep(trainer, stage);
}

void TrainingRun::provide_backbone(const StackNet& net, const StageData& images) {
  const Index count = net.conv->parameter_count();
  if (is_over(Stage::Backbone)) {
    backbone_ = read_float_array(*resumed_, "backbone", count);
    return;
  }
  if (!options_.backbone_from.empty()) {
    backbone_ = read_backbone(options_.backbone_from, *net.conv);
    return;
  }
  TrainOptions options = adam_options();
  options.batch_size = kBackboneBatch;
  AdamLearner learner(net, options, initial_likelihood(), images.train.size());
  Trainer trainer(learner, {&images.train, &images.watched, false}, options,
                  {options_.backbone_epochs, kBackboneLearningRate});
  run_stage("backbone", trainer, Stage::Backbone);
  backbone_ = learner.weights().head(count);
}

std::unique_ptr<VognLearner> TrainingRun::make_vogn(const StackNet& net, Index examples) const {
  DiagonalPrior prior = options_.prior.empty()
                            ? zero_mean_prior(net, options_.prior_precision, options_.prior_scaling)
                            : prior_from_file(net.dense, options_.prior);
  return std::make_unique<VognLearner>(net, options_, std::move(prior), initial_likelihood(), examples);
}

void TrainingRun::warm_up(const StackNet& net, const StageData& examples, VognLearner& learner) {
  if (options_.warm_up_epochs == 0 || is_over(Stage::WarmUp)) return;
  const TrainOptions options = adam_options();
  // A prior from a file also guides the way there: its variances differ by orders of magnitude.
  std::optional<DiagonalPrior> prior;
  if (!options_.prior.empty()) prior = prior_from_file(net.dense, options_.prior);
  AdamLearner adam = prior ? AdamLearner(net, options, initial_likelihood(), examples.train.size(), *prior)
                           : AdamLearner(net, options, initial_likelihood(), examples.train.size());
  std::optional<FeatureLearner> behind;
  Trainer trainer(with_masks(adam, behind), {&examples.train, &examples.watched, false}, options,
                  {options_.warm_up_epochs, kWarmUpLearningRate});
  run_stage("warm-up", trainer, Stage::WarmUp);
  learner.start_from(adam.weights(), adam.likelihood().noise_variance());
}

Learner& TrainingRun::with_masks(Learner& learner, std::optional<FeatureLearner>& behind) const {
  if (!options_.has_masked_features()) return learner;
  return behind.emplace(learner, *conv_, backbone_, options_.seed, threads_);
}

void TrainingRun::train_rest(const StackNet& net, const StageData& examples) {
  std::unique_ptr<Learner> learner;
  if (options_.is_variational()) {
    auto vogn = make_vogn(net, examples.train.size());
    warm_up(net, examples, *vogn);
    learner = std::move(vogn);
  } else {
    learner = std::make_unique<AdamLearner>(net, options_, initial_likelihood(), examples.train.size());
  }
  const bool validated = options_.validation_fraction > 0.0;
  std::optional<FeatureLearner> behind;
  Learner& whole = with_masks(*learner, behind);
  Trainer trainer(whole, {&examples.train, &examples.watched, validated}, options_,
                  {options_.epochs, options_.learning_rate});
  run_stage("train", trainer, Stage::Dense);
  summary_.history = trainer.history();
  summary_.seconds = seconds();
  measure(whole, examples);
  refuse_what_diverged();
  ParameterLaw law;
  if (const auto* vogn = dynamic_cast<const VognLearner*>(learner.get())) {
    law = {vogn->mean(), vogn->variance()};
  } else {
    law.mean = dynamic_cast<const AdamLearner&>(*learner).weights();
  }
  const Index before = std::min(law.variance.size(), net.dense_offset());
  const Index dense = net.dense.parameter_count();
  ParameterLaw kernels{law.mean.head(net.dense_offset()), law.variance.head(before)};
  if (net.conv && before == 0) backbone_ = kernels.mean;
  write_files(examples, kernels, {law.mean.tail(dense), law.variance.tail(law.variance.size() - before)});
}

void TrainingRun::measure(const Learner& learner, const StageData& examples) {
  const bool convolutions = learner.has_convolutions();
  const Examples some = first_examples(examples.train, kFinalTrainExamples);
  const bool all = some.size() == examples.train.size();
  summary_.train_mean = evaluate_mean(learner, some);
  summary_.test_mean = evaluate_mean(learner, examples.test);
  if (learner.is_stochastic()) {
    const Index most = convolutions ? kFinalConvolutionExamples : std::max(some.size(), examples.test.size());
    summary_.sampled_examples = most;
    summary_.train_samples =
        evaluate_samples(learner, first_examples(some, most), 0, kFinalSamples, services_.cancel);
    summary_.test_samples =
        evaluate_samples(learner, first_examples(examples.test, most), 0, kFinalSamples, services_.cancel);
  }
  double expected = summary_.train_mean.expected_log_likelihood;
  if (options_.is_variational()) {
    const bool drawn = all && examples.train.size() <= summary_.sampled_examples;
    const Index samples = convolutions ? kElboSamplesOfConvolutions : kElboSamplesForLargeSets;
    expected = drawn ? summary_.train_samples->expected_log_likelihood
                     : expected_log_likelihood(learner, examples.train, 0, samples);
  } else if (!all) {
    expected = evaluate_mean(learner, examples.train).expected_log_likelihood;
  }
  summary_.objective = static_cast<double>(examples.train.size()) * expected + learner.regulariser();
  if (data_.task == Task::Regression) summary_.noise_std = std::sqrt(learner.likelihood().noise_variance());
}

void TrainingRun::refuse_what_diverged() const {
  const std::string what = divergence(data_, summary_);
  if (what.empty()) return;
  // From a checkpoint at its end the same training would come back here.
  remove_checkpoint(checkpoint_path_);
  throw Diverged("training: diverged: " + what +
                 "; nothing was written; try a smaller --learning-rate than " +
                 format_number(options_.learning_rate) +
                 (options_.is_variational() ? ", --warm-up-epochs or a smaller --initial-std" : ""));
}

void TrainingRun::write_files(const StageData& examples, const ParameterLaw& kernels,
                              const ParameterLaw& dense) {
  const Metadata metadata = model_metadata(data_, options_, summary_.noise_std);
  const StackNet whole = make_net();
  summary_.files.push_back(out_);
  if (kernels.variance.size() > 0) {
    // No part of it is deterministic: there are no features that a file could hold.
    write_full_network(out_, whole, kernels, dense, metadata);
    return;
  }
  write_dense_network(out_, whole.dense, dense, metadata);
  if (conv_) write_backbone_files(whole, examples, dense, metadata);
}

void TrainingRun::write_backbone_files(const StackNet& whole, const StageData& examples,
                                       const ParameterLaw& dense, const Metadata& metadata) {
  summary_.files.push_back(sibling(out_, "full.safetensors"));
  write_full_network(summary_.files.back(), whole, {backbone_, {}}, dense, metadata);
  summary_.files.push_back(sibling(out_, "backbone.safetensors"));
  write_backbone(summary_.files.back(), *conv_, backbone_.data(), metadata);
  const Examples first = first_examples(examples.test, kFeatureRows);
  const bool images = options_.trains_convolutions() || options_.has_masked_features();
  const FloatRows features =
      images ? conv_features(*conv_, backbone_.data(), first.inputs, threads_) : first.inputs;
  summary_.files.push_back(sibling(out_, "features.npy"));
  write_npy(summary_.files.back(), to_array(features.cast<double>()));
  if (options_.backbone_dropout > 0.0) {
    summary_.remarks.push_back(summary_.files.back().filename().string() +
                               " has the features with the backbone's dropout off");
  }
}

TrainSummary TrainingRun::run() {
  remove_abandoned_partials(checkpoint_path_);
  if (!options_.restart) resumed_ = read_checkpoint(checkpoint_path_, identity_);
  if (resumed_) earlier_seconds_ = read_number(*resumed_, "seconds");
  if (options_.backbone != Backbone::None) {
    conv_ = make_backbone(options_.backbone, options_.backbone_pooling, data_.image_shape,
                          {options_.backbone_dropout, options_.backbone_dropout_unit});
  }
  const StackNet net = make_net();
  StageData examples = split_examples();
  if (conv_ && !options_.trains_convolutions()) {
    provide_backbone(net, examples);
    if (!options_.has_masked_features()) {
      for (Examples* part : {&examples.train, &examples.watched, &examples.test}) {
        part->inputs = conv_features(*conv_, backbone_.data(), part->inputs, threads_);
      }
    }
    train_rest({std::nullopt, net.dense}, examples);
  } else {
    train_rest(net, examples);
  }
  remove_checkpoint(checkpoint_path_);
  return std::move(summary_);
}

}  // namespace

std::filesystem::path checkpoint_path(const TrainOptions& options, const std::filesystem::path& out) {
  return options.checkpoint.empty() ? std::filesystem::path(out.string() + ".checkpoint")
                                    : std::filesystem::path(options.checkpoint);
}

TrainSummary train(const Dataset& data, const TrainOptions& options, const std::filesystem::path& out,
                   const TrainServices& services) {
  options.validate();
  return TrainingRun(data, options, out, services).run();
}

}  // namespace mixcert::lab
