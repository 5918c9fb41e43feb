// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network as it is trained: convolutions where there is a backbone, then dense layers. Batches are
// cut into chunks of a fixed size that threads share; sums over chunks are taken in their order, so
// that results do not depend on the number of threads.
#pragma once

#include <optional>
#include <span>

#include "train/conv_net.h"
#include "train/dense_net.h"
#include "train/likelihood.h"

namespace mixcert::lab {

struct StackNet {
  std::optional<ConvNet> conv;
  DenseNet dense;

  /// Convolutions first, then dense layers.
  [[nodiscard]] Index parameter_count() const { return dense_offset() + dense.parameter_count(); }
  [[nodiscard]] Index dense_offset() const { return conv ? conv->parameter_count() : 0; }
  [[nodiscard]] Index chunk_size() const { return conv ? 16 : 64; }
  [[nodiscard]] bool has_dropout() const {
    return dense.has_dropout() || (conv && conv->dropout().rate > 0.0);
  }
  [[nodiscard]] double flops_per_example() const;
  [[nodiscard]] FloatVector initial_weights(std::uint64_t seed) const;
};

/// Names the randomness of one pass over a batch.
struct PassKey {
  std::uint64_t seed = 0;
  std::uint64_t index = 0;  ///< step, or number of the sample
};

/// Means over the examples of a batch.
struct BatchMeans {
  double log_likelihood = 0.0;
  double square_residual = 0.0;  ///< per output; regression only
  FloatVector gradient;          ///< of -log p
  FloatVector curvature;         ///< diagonal; only where asked for
};

/// What to compute beside the gradient.
enum class CurvatureWanted { None, GaussNewton, Empirical };

class BatchDerivatives {
 public:
  /// Both must outlive this object.
  BatchDerivatives(const StackNet& net, int threads) : net_(net), threads_(threads) {}

  void compute(const FloatVector& parameters, const Likelihood& likelihood, const Examples& examples,
               std::span<const Index> rows, CurvatureWanted wanted, const PassKey& key, BatchMeans& means);

 private:
  struct Chunk {
    double log_likelihood = 0.0;
    double square_residual = 0.0;
    FloatVector gradient;
    FloatVector curvature;
    DenseNet::Pass dense_pass;
    std::vector<ConvNet::Pass> conv_passes;
  };
  void compute_chunk(const FloatVector& parameters, const Likelihood& likelihood, const Examples& batch,
                     CurvatureWanted wanted, const PassKey& key, Index number, Chunk& chunk) const;
  void backward(const FloatVector& parameters, const Likelihood& likelihood, const Examples& batch,
                CurvatureWanted wanted, Generator& root_generator, Chunk& chunk) const;
  /// Sums over the images of the chunk; nothing without convolutions.
  void backward_images(const FloatVector& parameters, const FloatRows& feature_gradient,
                       const ConvNet::Sinks& sinks, const Chunk& chunk) const;

  const StackNet& net_;
  int threads_;
  std::vector<Chunk> chunks_;
};

/// Masks of a training step, or of an evaluation.
struct MaskKey {
  PassKey pass;
  TrainStream stream = TrainStream::Dropout;
};
/// Features of images; with a key, the dropout of the convolutions is on.
FloatRows conv_features(const ConvNet& conv, const float* parameters, const FloatRows& images, int threads,
                        const MaskKey* dropout = nullptr);

/// Outputs at many inputs; with a key, dropout is on.
FloatRows predict(const StackNet& net, const FloatVector& parameters, const FloatRows& inputs, int threads,
                  const PassKey* dropout = nullptr);

}  // namespace mixcert::lab
