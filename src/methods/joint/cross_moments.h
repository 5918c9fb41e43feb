// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Means and covariances over inputs of each neuron's activation, (J.2), and bounds of fourth moments, (J.4).
#pragma once

#include <memory>
#include <vector>

#include "activation/gaussian_moments.h"
#include "mixcert/activation/activation.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// a_j = (f(z_j1), ..., f(z_jD)) of every neuron j.
struct CrossMoments {
  Matrix mean;        ///< D x neurons
  Vector mean_error;  ///< per neuron, Euclidean norm over inputs
  Matrix covariance;  ///< K_j stacked as (neurons * D) x D
  Vector error;       ///< Frobenius norm of what K_j may be off by
  Matrix fourth;      ///< with `fourth_error` I added no less than E|d|^2 dd', d = a_j - E a_j; stacked
  Vector fourth_error;
  std::vector<GaussianMoments> coordinates;  ///< of neuron * D + input

  [[nodiscard]] Index input_count() const { return mean.rows(); }
  [[nodiscard]] Index neuron_count() const { return mean.cols(); }
  [[nodiscard]] Eigen::Block<const Matrix> block(Index j) const {
    return covariance.middleRows(j * input_count(), input_count());
  }
};

class NeuronMoments;

/// `law` is neuron-major over `input_count` inputs. With `kept`, entry j is what neuron j's moments were made
/// from, one object for consecutive neurons that are alike.
CrossMoments cross_moments(const ActivationMap& activation, const Gaussian& law, Index input_count,
                           std::vector<std::shared_ptr<const NeuronMoments>>* kept = nullptr);

/// What `kept` says of neuron j, written again.
CrossMoments written_moments(const std::vector<std::shared_ptr<const NeuronMoments>>& kept,
                             Index input_count);

/// The D x D covariance of one neuron at all inputs.
Matrix neuron_block(const Covariance& covariance, Index neuron, Index input_count);

// How strongly functions of one neuron at all inputs may be correlated with functions of another, (J.5).

/// Entry (i, j): no less than the largest canonical correlation of the blocks of neurons i and j, and one on
/// the diagonal. Empty when neurons are independent.
Matrix neuron_correlation(const Covariance& covariance, Index input_count);

}  // namespace mixcert
