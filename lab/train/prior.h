// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A prior with independent Gaussian weights and biases.
#pragma once

#include <filesystem>

#include "train/stack_net.h"
#include "train/train_options.h"

namespace mixcert::lab {

struct DiagonalPrior {
  FloatVector mean;
  FloatVector precision;
};

/// Of all parameters, convolutions first; the inputs of a convolution are the taps of its kernel.
DiagonalPrior zero_mean_prior(const StackNet& net, double precision, PriorScaling scaling);

/// Of a model file with the layers of `net`, all of them mean-field with positive variances. Throws
/// FileError naming what does not fit.
DiagonalPrior prior_from_file(const DenseNet& net, const std::filesystem::path& path);

}  // namespace mixcert::lab
