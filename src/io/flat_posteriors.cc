// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Posteriors of all parameters in one vector, cut into layers: for every layer its weights row by row, then
// its bias, the order of torch's parameters_to_vector. Laplace approximations have the precision
// H / (noise^2 T) + prior, H diagonal, full or a Kronecker product per tensor.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "io/file_error.h"
#include "io/imported_layers.h"

namespace mixcert::io {
namespace {

/// Where the parameters of the slots lie. Biases are there for all layers or for none.
struct Layout {
  Index total = 0;
  bool has_bias = true;

  [[nodiscard]] Index tensors(std::size_t slots) const {
    return static_cast<Index>(slots) * (has_bias ? 2 : 1);
  }
};

Layout find_layout(const ImportSource& source, const std::string& key, Index size,
                   const std::vector<LayerSlot>& slots) {
  Index weights = 0;
  Index biases = 0;
  for (const LayerSlot& slot : slots) {
    weights += slot.weights();
    biases += slot.outputs();
  }
  if (size != weights && size != weights + biases) {
    source.fail(in_quotes(key),
                std::to_string(weights + biases) + " values (" + std::to_string(weights) + " without biases)",
                std::to_string(size));
  }
  return {size, size != weights};
}

Array part_of(const Vector& values, Index begin, std::vector<Index> shape, Index count) {
  const double* first = values.data() + begin;
  return {std::move(shape), {first, first + count}};
}

/// Means into layers; deviations where there are any.
std::vector<ImportedLayer> cut(const std::vector<LayerSlot>& slots, const Layout& layout, const Vector& mean,
                               const Vector& deviation) {
  std::vector<ImportedLayer> layers;
  Index begin = 0;
  for (const LayerSlot& slot : slots) {
    ImportedLayer layer{slot.name, "mean", "mean", {}, {}, {}, {}};
    const Index count = slot.weights();
    layer.weight_mean = part_of(mean, begin, slot.weight_shape, count);
    if (deviation.size() > 0) layer.weight_deviation = part_of(deviation, begin, slot.weight_shape, count);
    begin += count;
    if (layout.has_bias) {
      layer.bias_mean = part_of(mean, begin, {slot.outputs()}, slot.outputs());
      if (deviation.size() > 0) {
        layer.bias_deviation = part_of(deviation, begin, {slot.outputs()}, slot.outputs());
      }
      begin += slot.outputs();
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

Vector as_vector(const Array& array) { return Eigen::Map<const Vector>(array.values.data(), array.size()); }

/// 1 / precision^(1/2), precisions above zero.
Vector deviations_of(const ImportSource& source, const std::string& key, const Vector& precision) {
  for (Index i = 0; i < precision.size(); ++i) {
    if (precision[i] > 0.0 && std::isfinite(precision[i])) continue;
    source.fail(in_quotes(key), "precisions above 0",
                std::to_string(precision[i]) + " at index " + std::to_string(i));
  }
  return precision.cwiseSqrt().cwiseInverse();
}

std::vector<ImportedLayer> split_pyro_diagonal(const ImportSource& source,
                                               const std::vector<LayerSlot>& slots) {
  const Array& mean = source.one("loc");
  const bool suffixed = source.has("scale_unconstrained");
  const std::string key = suffixed ? "scale_unconstrained" : "scale";
  const std::optional<bool>& constrained = source.options.constrained_scales;
  if (!suffixed && !constrained) {
    source.fail(in_quotes(key), "a key that ends in _unconstrained, or --scales", "neither");
  }
  Vector scale = as_vector(source.one(key));
  if (scale.size() != mean.size()) {
    source.fail(in_quotes(key), std::to_string(mean.size()) + " values", std::to_string(scale.size()));
  }
  if (constrained ? !*constrained : suffixed) scale = scale.unaryExpr([](double x) { return softplus(x); });
  if (scale.size() > 0 && scale.minCoeff() < 0.0) {
    source.fail(in_quotes(key), "standard deviations", std::to_string(scale.minCoeff()));
  }
  return cut(slots, find_layout(source, "loc", mean.size(), slots), as_vector(mean), scale);
}

std::vector<ImportedLayer> split_vogn(const ImportSource& source, const std::vector<LayerSlot>& slots) {
  const std::string key = source.has("Precision") ? "Precision" : "precision";
  const Array& mean = source.one("mu");
  const Vector precision = as_vector(source.one(key));
  if (precision.size() != mean.size()) {
    source.fail(in_quotes(key), std::to_string(mean.size()) + " values", std::to_string(precision.size()));
  }
  return cut(slots, find_layout(source, "mu", mean.size(), slots), as_vector(mean),
             deviations_of(source, key, precision));
}

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
    const Vector given = as_vector(source_.one("prior_precision"));
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

  /// The covariance of a layer alone is the block of the inverse of the whole precision.
  std::vector<ImportedLayer> split_full(const Array& hessian) {
    const Index size = mean_.size();
    if (hessian.shape != std::vector<Index>{size, size}) {
      source_.fail("'H'", "shape " + shape_text({size, size}), shape_text(hessian.shape));
    }
    if (slots_.size() > 1 && !source_.options.project_per_layer) {
      source_.fail("'H'", "a posterior without correlations across layers, or --project per-layer",
                   "a full Hessian");
    }
    Matrix precision = factor_ * as_matrix(hessian);
    precision.diagonal() += prior_;
    const Eigen::LLT<Matrix> root(0.5 * (precision + precision.transpose()));
    if (root.info() != Eigen::Success) source_.fail("'H'", "a positive definite precision", "another");
    const Matrix covariance = root.solve(Matrix::Identity(size, size));
    std::vector<ImportedLayer> layers = cut(slots_, layout_, mean_, {});
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
      const Matrix precision =
          (factor_ * rows.eigenvalues() * columns.eigenvalues().transpose()).array() + prior;
      layers[k].weights =
          KroneckerEigenbasisWeights{rows.eigenvectors(), columns.eigenvectors(), precision.cwiseInverse()};
      begin += slots_[k].weights();
      if (!layout_.has_bias) continue;
      const auto bias = eigen("H." + std::to_string(tensor++) + ".0", out);
      const Vector variance =
          ((factor_ * bias.eigenvalues()).array() + common_prior(begin, out)).inverse().matrix();
      const Matrix scaled = bias.eigenvectors() * variance.cwiseSqrt().asDiagonal();
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

  Eigen::SelfAdjointEigenSolver<Matrix> eigen(const std::string& key, Index size) const {
    const Array& array = source_.one(key);
    if (array.shape != std::vector<Index>{size, size}) {
      source_.fail(in_quotes(key), "shape " + shape_text({size, size}), shape_text(array.shape));
    }
    const Matrix factor = as_matrix(array);
    Eigen::SelfAdjointEigenSolver<Matrix> solver(0.5 * (factor + factor.transpose()));
    const double largest = solver.eigenvalues().cwiseAbs().maxCoeff();
    if (solver.info() != Eigen::Success || solver.eigenvalues().minCoeff() < -1e-4 * largest) {
      source_.fail(in_quotes(key), "a positive semidefinite factor", "another");
    }
    return solver;
  }

  const ImportSource& source_;
  const std::vector<LayerSlot>& slots_;
  std::vector<std::string>& assumptions_;
  Vector mean_;
  Layout layout_;
  double factor_ = 1.0;
  Vector prior_;
};

}  // namespace

bool is_flat(const std::string& library) {
  return library == "pyro-diagonal" || library == "vogn" || library == "laplace";
}

std::vector<ImportedLayer> split_flat(const ImportSource& source, const std::vector<LayerSlot>& slots,
                                      std::vector<std::string>& assumptions) {
  if (source.options.library == "pyro-diagonal") return split_pyro_diagonal(source, slots);
  if (source.options.library == "vogn") return split_vogn(source, slots);
  return LaplaceSplitter(source, slots, assumptions).split();
}

void add_ivon_deviations(const ImportSource& source, std::vector<ImportedLayer>& layers) {
  if (source.has("param_groups.1.hess")) {
    source.fail("'param_groups.1.hess'", "one group of parameters", "several");
  }
  const std::string key = "param_groups.0.hess";
  const Array& hessian = source.one(key);
  const double samples = source.number("param_groups.0.ess");
  const double decay = source.number("param_groups.0.weight_decay");
  Index total = 0;
  for (const ImportedLayer& layer : layers) total += layer.weight_mean.size() + layer.bias_mean.size();
  if (hessian.size() != total) {
    source.fail(in_quotes(key), std::to_string(total) + " values (all weights and biases)",
                std::to_string(hessian.size()));
  }
  const Vector precision = samples * (as_vector(hessian).array() + decay).matrix();
  const Vector deviation = deviations_of(source, key, precision);
  Index begin = 0;
  for (ImportedLayer& layer : layers) {
    for (auto [mean, out] : {std::pair{&layer.weight_mean, &layer.weight_deviation},
                             std::pair{&layer.bias_mean, &layer.bias_deviation}}) {
      *out = part_of(deviation, begin, mean->shape, mean->size());
      begin += mean->size();
    }
  }
}

}  // namespace mixcert::io
