// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Random small networks of every family, and the same networks with layers, neurons or factors of their laws
// multiplied by powers of two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/network/network.h"
#include "support/random_laws.h"

namespace mixcert::testing {

struct ScaleCase {
  Network network;
  Matrix inputs;  ///< one column, or two for a joint law
  Options options;
};

/// Up to 3 hidden layers of 1 to 6 neurons, 1 to 3 outputs, every weight family, masks; all methods and
/// modes. `homogeneous`: activations are identity, relu or leaky_relu.
ScaleCase scale_case(std::uint64_t index, bool homogeneous);

/// An integer in [low, high].
int random_between(Generator& generator, int low, int high);

/// Entries times 2^exponent.
Matrix shifted(const Matrix& matrix, int exponent);

/// W times 2^weight_exponent, b times 2^bias_exponent.
DenseLayer scaled_layer(const DenseLayer& layer, int weight_exponent, int bias_exponent,
                        Generator& generator);

std::string describe(const ScaleCase& tested);

/// How large the exponents of a case are. Squares of variances underflow between 2^-260 and 2^-280.
enum class ScaleRange { Moderate, Squares, Wide };

/// exponents[k]: of everything in front of layer k + 1, so that layer k's weights have the factor
/// 2^(exponents[k] - exponents[k - 1]) and its bias 2^exponents[k]. All lie in the range, and so do
/// differences.
std::vector<int> random_exponents(Generator& generator, Index layers, ScaleRange range);

/// The network whose output is 2^exponents.back() times that of `network` where activations are positively
/// homogeneous. Kronecker factors share their layer's scale unevenly.
Network scaled_network(const Network& network, const std::vector<int>& exponents, Generator& generator);

/// A network that no rescaling of layers mends: some neurons, columns, inputs or factors multiplied,
/// activations of every kind at odd scales.
ScaleCase odd_case(std::uint64_t index);

}  // namespace mixcert::testing
