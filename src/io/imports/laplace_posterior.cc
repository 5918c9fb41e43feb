// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Laplace approximations: the precision of all parameters, or of those of the last layer, is H / (noise^2 T)
// + prior, H diagonal, full or a Kronecker product per tensor.
#include <Eigen/Cholesky>

#include "io/files/file_error.h"
#include "io/imports/flat_layout.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert::io {
namespace {

class LaplaceSplitter {
 public:
  LaplaceSplitter(const ImportSource& source, const std::vector<LayerSlot>& slots,
                  std::vector<std::string>& assumptions)
      : source_(source),
        slots_(slots),
        assumptions_(assumptions),
        mean_(as_vector(source.one("mean"))),
        layout_(find_layout(source, "mean", mean_.size(), slots)) {
    const double noise = source.number("sigma_noise");
    factor_ = 1.0 / (noise * noise * source.number("temperature"));
    prior_ = prior_precision();
  }

  std::vector<ImportedLayer> split() {
    if (!source_.has("H")) return split_kronecker();
    const Array& hessian = source_.one("H");
    if (hessian.rank() == 2) return split_full(hessian);
    if (hessian.size() != mean_.size()) {
      source_.fail("'H'", std::to_string(mean_.size()) + " values", shape_text(hessian.shape));
    }
    const Vector precision = factor_ * as_vector(hessian) + prior_;
    return cut(slots_, layout_, mean_, deviations_of(source_, "H", precision));
  }

 private:
  /// One value for all parameters, one per tensor, or one per parameter.
  Vector prior_precision() const {
    Vector given = as_vector(source_.one("prior_precision"));
    const Index tensors = layout_.tensors(slots_.size());
    if (given.size() == mean_.size()) return given;
    if (given.size() == 1) return Vector::Constant(mean_.size(), given[0]);
    if (given.size() != tensors) {
      source_.fail("'prior_precision'",
                   "1, " + std::to_string(tensors) + " or " + std::to_string(mean_.size()) + " values",
                   std::to_string(given.size()));
    }
    Vector all(mean_.size());
    Index begin = 0;
    Index tensor = 0;
    for (const LayerSlot& slot : slots_) {
      all.segment(begin, slot.weights()).setConstant(given[tensor++]);
      begin += slot.weights();
      if (!layout_.has_bias) continue;
      all.segment(begin, slot.outputs()).setConstant(given[tensor++]);
      begin += slot.outputs();
    }
    return all;
  }

  /// The inverse of the whole precision: as a factor that layers have in common (N.7), or the block of each
  /// layer alone.
  std::vector<ImportedLayer> split_full(const Array& hessian) {
    const Index size = mean_.size();
    if (hessian.shape != std::vector<Index>{size, size}) {
      source_.fail("'H'", "shape " + shape_text({size, size}), shape_text(hessian.shape));
    }
    Matrix precision = factor_ * as_matrix(hessian);
    precision.diagonal() += prior_;
    const Eigen::LLT<Matrix> root(0.5 * (precision + precision.transpose()));
    if (root.info() != Eigen::Success) source_.fail("'H'", "a positive definite precision", "another");
    std::vector<ImportedLayer> layers = cut(slots_, layout_, mean_, {});
    if (slots_.size() > 1 && !source_.options.project_per_layer) {
      add_common_factor(root.matrixU().solve(Matrix::Identity(size, size)), layers);
      return layers;
    }
    const Matrix covariance = root.solve(Matrix::Identity(size, size));
    Index begin = 0;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      begin = add_block(covariance, begin, slots_[k], layers[k]);
    }
    if (slots_.size() > 1) {
      assumptions_.emplace_back(
          "imported from a full Laplace approximation, projected: correlations across layers are left out");
    }
    return layers;
  }

  /// Rows of L, the covariance of all parameters being L L'.
  void add_common_factor(const Matrix& factor, std::vector<ImportedLayer>& layers) const {
    Index begin = 0;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const LayerSlot& slot = slots_[k];
      if (slot.weight_shape.size() != 2) {
        source_.fail("'H'", "dense layers beside a full Hessian", "a convolution");
      }
      const Index in = slot.weights() / slot.outputs();
      LowRankWeights law{Matrix::Zero(slot.outputs(), in), {}};
      for (Index s = 0; s < factor.cols(); ++s) {
        law.factor.emplace_back(
            factor.col(s).segment(begin, slot.weights()).reshaped(in, slot.outputs()).transpose());
      }
      begin += slot.weights();
      if (layout_.has_bias) {
        law.bias_factor = factor.middleRows(begin, slot.outputs());
        begin += slot.outputs();
      }
      law.is_common = true;
      layers[k].weights = std::move(law);
    }
  }

  /// Rows of [W, b] in the order of JointWeights.
  Index add_block(const Matrix& covariance, Index begin, const LayerSlot& slot, ImportedLayer& layer) const {
    const Index in = slot.weights() / slot.outputs();
    std::vector<Index> places;
    for (Index i = 0; i < slot.outputs(); ++i) {
      for (Index j = 0; j < in; ++j) places.push_back(begin + i * in + j);
      if (layout_.has_bias) places.push_back(begin + slot.weights() + i);
    }
    Matrix block = covariance(places, places);
    block = (0.5 * (block + block.transpose())).eval();
    if (layout_.has_bias) {
      layer.weights = JointWeights{std::move(block)};
      layer.bias = DeterministicBias{};
    } else {
      layer.weights = FullWeights{std::move(block)};
    }
    return begin + static_cast<Index>(places.size());
  }

  /// Per tensor the factors H.K.0 (rows) and H.K.1 (columns), of a bias H.K.0 alone. With H.K.0 = U diag(r)
  /// U' and H.K.1 = V diag(c) V' the variances in the eigenbasis are 1 / (f r_i c_j + prior).
  std::vector<ImportedLayer> split_kronecker() {
    std::vector<ImportedLayer> layers = cut(slots_, layout_, mean_, {});
    Index begin = 0;
    Index tensor = 0;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const Index out = slots_[k].outputs();
      const Index in = slots_[k].weights() / out;
      const auto rows = eigen("H." + std::to_string(tensor) + ".0", out);
      const auto columns = eigen("H." + std::to_string(tensor++) + ".1", in);
      const double prior = common_prior(begin, slots_[k].weights());
      const Matrix precision = (factor_ * rows.values * columns.values.transpose()).array() + prior;
      layers[k].weights = KroneckerEigenbasisWeights{rows.vectors, columns.vectors, precision.cwiseInverse()};
      begin += slots_[k].weights();
      if (!layout_.has_bias) continue;
      const auto bias = eigen("H." + std::to_string(tensor++) + ".0", out);
      const Vector variance = ((factor_ * bias.values).array() + common_prior(begin, out)).inverse().matrix();
      const Matrix scaled = bias.vectors * variance.cwiseSqrt().asDiagonal();
      layers[k].bias = CorrelatedBias{scaled * scaled.transpose()};
      begin += out;
    }
    return layers;
  }

  double common_prior(Index begin, Index count) const {
    const auto part = prior_.segment(begin, count);
    if (part.minCoeff() != part.maxCoeff() || part.minCoeff() <= 0.0) {
      source_.fail("'prior_precision'", "one value above 0 per tensor for Kronecker factors", "others");
    }
    return part[0];
  }

  SymmetricEigen eigen(const std::string& key, Index size) const {
    const Array& array = source_.one(key);
    if (array.shape != std::vector<Index>{size, size}) {
      source_.fail(in_quotes(key), "shape " + shape_text({size, size}), shape_text(array.shape));
    }
    const Matrix factor = as_matrix(array);
    SymmetricEigen eigen = symmetric_eigen(0.5 * (factor + factor.transpose()));
    // Written so that NaN is refused.
    if (!(eigen.values.minCoeff() >= -1e-4 * eigen.values.cwiseAbs().maxCoeff())) {
      source_.fail(in_quotes(key), "a positive semidefinite factor", "another");
    }
    return eigen;
  }

  const ImportSource& source_;
  const std::vector<LayerSlot>& slots_;
  std::vector<std::string>& assumptions_;
  Vector mean_;
  FlatLayout layout_;
  double factor_ = 1.0;
  Vector prior_;
};

/// A layer that is not random, by its own keys.
ImportedLayer fixed_layer(const ImportSource& source, const LayerSlot& slot) {
  ImportedLayer layer{slot.name, slot.name + ".weight", slot.name + ".bias", {}, {}, {}, {}};
  layer.weight_mean = source.one(layer.weight_key);
  if (source.has(layer.bias_key)) layer.bias_mean = source.one(layer.bias_key);
  return layer;
}

}  // namespace

std::vector<ImportedLayer> split_laplace(const ImportSource& source, const std::vector<LayerSlot>& slots,
                                         std::vector<std::string>& assumptions) {
  const std::vector<LayerSlot> last = {slots.back()};
  const Index given = source.one("mean").size();
  const bool is_of_last = given == last[0].weights() || given == last[0].weights() + last[0].outputs();
  if (slots.size() == 1 || !is_of_last) return LaplaceSplitter(source, slots, assumptions).split();
  // A posterior of the last layer alone; the features before it are what they are.
  std::vector<ImportedLayer> layers;
  for (std::size_t k = 0; k + 1 < slots.size(); ++k) layers.push_back(fixed_layer(source, slots[k]));
  layers.push_back(LaplaceSplitter(source, last, assumptions).split().front());
  return layers;
}

}  // namespace mixcert::io
