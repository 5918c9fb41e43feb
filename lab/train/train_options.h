// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a training may choose, and the one table of its fields. Defaults depend on the data set and
// on the inference; docs/training.md lists them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "mixcert/activation/activation.h"
#include "mixcert/core/option_table.h"

namespace mixcert::lab {

enum class Inference {
  Vogn,     ///< variational online Gauss-Newton, Khan et al. 2018
  Ivon,     ///< improved variational online Newton, Shen et al. 2024
  Adam,     ///< one network, maximum a posteriori
  Dropout,  ///< Adam with dropout, which stays on when the network is used
};

/// What VOGN takes for the second derivative of the loss.
enum class Curvature {
  GaussNewton,  ///< squared derivatives of a random root of the output Hessian; exact in linear models
  Empirical,    ///< squared gradients of the loss, as published
};

/// What the prior precision is multiplied by.
enum class PriorScaling {
  None,   ///< the same for all weights and biases
  FanIn,  ///< the inputs of the layer, for weights: activations then have a prior that does not grow with it
};

enum class Schedule { Cosine, Constant };

/// Convolutions in front of the dense layers (conv_net.h).
enum class Backbone { None, Vgg2, Lenet5 };

enum class BackbonePooling {
  Usual,  ///< max in vgg2, average in lenet5
  Max,
  Average,
};

/// What one factor of the backbone's dropout multiplies.
enum class DropoutUnit { Value, Channel };

/// What the kernels and biases of the convolutions are in a variational training.
enum class BackboneKernels {
  Fixed,   ///< trained by Adam before the dense layers, one number each
  Random,  ///< with a law of their own, trained together with the dense layers
};

/// On what a variational head learns behind fixed convolutions with dropout.
enum class HeadFeatures {
  Masked,  ///< masks drawn anew at each step: the law of the whole network, its dropout on
  Mean,    ///< dropout off: the head alone is stochastic
};

struct TrainOptions {
  /// Sizes of the layers, "784-128-10"; empty: features-128-outputs, behind lenet5
  /// features-120-84-outputs. Behind a backbone the first is the number of its features.
  std::string arch;
  ActivationFunction activation = ActivationFunction::Relu;
  Inference inference = Inference::Vogn;
  Index epochs = 20;
  /// Epochs of Adam that find the mean at which the variational steps begin; 0: random weights. Without
  /// them deep narrow networks end in poor local optima, where the noise hides what is to be learned.
  Index warm_up_epochs = 0;
  Index batch_size = 256;
  /// Of the preconditioned step; 1 would be a Newton step.
  double learning_rate = 0.01;
  Schedule schedule = Schedule::Cosine;
  /// Prior N(0, 1/precision) on every weight and bias.
  double prior_precision = 1.0;
  PriorScaling prior_scaling = PriorScaling::None;
  /// A model file with mean and variance of every weight and bias, in place of the precision.
  std::string prior;
  /// Posterior standard deviation at the start.
  double initial_std = 0.03;
  Curvature curvature = Curvature::GaussNewton;
  /// Weight samples per step; from two on they come in antithetic pairs.
  Index weight_samples = 1;
  double momentum = 0.9;
  /// Share of the old curvature that a step keeps.
  double curvature_decay = 0.999;
  /// Added to the preconditioner of the mean, not to the posterior.
  double damping = 0.0;
  /// Weight of the KL term; 1: the Bayesian posterior.
  double temper = 1.0;
  /// Observation noise of regression, in units of the standardised target. Not given: learned.
  std::optional<double> noise_std;
  /// Learn the noise from `noise_std` on.
  bool learn_noise = false;
  /// One rate for the inputs of every dense layer but the first, or one per dense layer, "0.2,0.5".
  std::string dropout_rate = "0.2";
  /// Epochs without improvement before the end; the best state is kept. 0: off.
  Index patience = 0;
  /// Share of the training examples held out to judge improvement; 0: judge by the ELBO.
  double validation_fraction = 0.0;
  /// Weight samples for the ELBO after each epoch.
  Index elbo_samples = 1;
  Backbone backbone = Backbone::None;
  /// Convolutions of an earlier training, NET.backbone.safetensors; empty: train them.
  std::string backbone_from;
  Index backbone_epochs = 8;
  double backbone_dropout = 0.0;
  DropoutUnit backbone_dropout_unit = DropoutUnit::Value;
  BackbonePooling backbone_pooling = BackbonePooling::Usual;
  BackboneKernels backbone_kernels = BackboneKernels::Fixed;
  HeadFeatures head_features = HeadFeatures::Masked;
  std::uint64_t seed = 0;
  /// 0: one per processor. Results do not depend on it.
  int threads = 0;
  /// Empty: the output's name with ".checkpoint" behind it.
  std::string checkpoint;
  double checkpoint_seconds = 30.0;
  /// Begin anew where a checkpoint exists.
  bool restart = false;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
  /// Sizes from input to output; throws where they do not fit the ends.
  [[nodiscard]] std::vector<Index> layer_sizes(Index inputs, Index outputs) const;
  /// Dropout rate on the input of each of `layers` dense layers; zeros unless inference is dropout.
  [[nodiscard]] std::vector<double> dropout_rates(Index layers) const;
  [[nodiscard]] bool is_variational() const {
    return inference == Inference::Vogn || inference == Inference::Ivon;
  }
  /// Are all layers trained together on images, convolutions included?
  [[nodiscard]] bool trains_convolutions() const {
    return backbone != Backbone::None && (!is_variational() || backbone_kernels == BackboneKernels::Random);
  }
  /// Does a head learn behind fixed convolutions whose dropout is on?
  [[nodiscard]] bool has_masked_features() const {
    return backbone != Backbone::None && !trains_convolutions() && backbone_dropout > 0.0 &&
           head_features == HeadFeatures::Masked;
  }
};

const OptionTable<TrainOptions>& train_option_table();
/// Fields that do not change the trained network: threads and where checkpoints go.
bool is_bookkeeping(const std::string& field);

/// The table's defaults, with what suits the data set and the inference.
TrainOptions default_train_options(const std::string& data, Inference inference);

/// The same with the fields given as texts by their names; throws InvalidArgument for texts that make no
/// sense, and for names that the table has not.
TrainOptions resolve_train_options(const std::map<std::string, std::string>& given, const std::string& data);

}  // namespace mixcert::lab
