// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Noise of each weight family, (N.1), with as few and as large matrix products as the
// family allows. A column a of a group of one has, given a,
//   mean field   (W-M)a ~ N(0, diag(V (a o a)))
//   Kronecker    (W-M)a = L_R e sqrt(a'Ca);  a group A of g columns: L_R E T', T T' = A'CA
//   eigenbasis   (W-M)a = U X (V'a): mean field between two products
//   low rank     mean field + sum_s F_s a f_s, f_s standard normal
//   full         (W-M)a ~ N(0, S), S_ik = sum_jl C_(ij)(kl) a_j a_l
// Larger groups of the mean-field and full families draw their weights, and so do independent weights that
// are not normal.
#include "statistics/simulate/layer_noise.h"

#include <utility>
#include <variant>

#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

using NoiseTerms = std::vector<std::unique_ptr<LayerNoise>>;

/// Independent weights, one column a group; the bias' variance rides along for free.
class MeanFieldNoise : public LayerNoise {
 public:
  MeanFieldNoise(Matrix variance, Vector bias_variance)
      : variance_(std::move(variance)), bias_variance_(std::move(bias_variance)) {}

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    const Matrix squares = activations.cwiseAbs2();
    Matrix variances = variance_ * squares;
    variances.colwise() += bias_variance_;
    Matrix normals(outputs.rows(), outputs.cols());
    fill_normal(generator, normals);
    outputs.array() += variances.array().sqrt() * normals.array();
  }

 private:
  Matrix variance_;
  Vector bias_variance_;
};

/// Independent weights shared by a group: draws them. The joint law of a group's outputs
/// would need one Cholesky factor per neuron and sample, which costs more from two or
/// three columns on; sums of weights that are not normal have no simple law at all.
class MeanFieldGroupNoise : public LayerNoise {
 public:
  MeanFieldGroupNoise(const Matrix& variance, Index group_size, const EntryLaw& law = {})
      : deviation_(variance.cwiseSqrt()), group_size_(group_size), law_(law) {}

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    Matrix weights(deviation_.rows(), deviation_.cols());
    for (Index column = 0; column < activations.cols(); column += group_size_) {
      fill_entries(law_, generator, weights);
      weights.array() *= deviation_.array();
      outputs.middleCols(column, group_size_).noalias() +=
          weights * activations.middleCols(column, group_size_);
    }
  }

 private:
  Matrix deviation_;
  Index group_size_;
  EntryLaw law_;
};

std::unique_ptr<LayerNoise> mean_field_noise(const Matrix& variance, const Vector& bias_variance,
                                             Index group_size) {
  if (group_size == 1) return std::make_unique<MeanFieldNoise>(variance, bias_variance);
  return std::make_unique<MeanFieldGroupNoise>(variance, group_size);
}

class KroneckerNoise : public LayerNoise {
 public:
  KroneckerNoise(const KroneckerWeights& law, Index group_size)
      : row_factor_(psd_factor(law.row_covariance)),
        column_factor_transposed_(psd_factor(law.column_covariance).transpose()),
        group_size_(group_size) {}

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    const Matrix whitened = column_factor_transposed_ * activations;
    Matrix normals(outputs.rows(), outputs.cols());
    fill_normal(generator, normals);
    for (Index column = 0; column < outputs.cols(); column += group_size_) {
      const auto group = whitened.middleCols(column, group_size_);
      const Matrix gram = group.transpose() * group;
      auto draw = normals.middleCols(column, group_size_);
      draw = draw * psd_factor(gram).transpose();
    }
    outputs.noalias() += row_factor_ * normals;
  }

 private:
  Matrix row_factor_;
  Matrix column_factor_transposed_;
  Index group_size_;
};

class EigenbasisNoise : public LayerNoise {
 public:
  EigenbasisNoise(const KroneckerEigenbasisWeights& law, Index group_size)
      : row_basis_(law.row_basis),
        column_basis_transposed_(law.column_basis.transpose()),
        inner_(mean_field_noise(law.variance, Vector::Zero(law.variance.rows()), group_size)) {}

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    const Matrix rotated = column_basis_transposed_ * activations;
    Matrix noise = Matrix::Zero(outputs.rows(), outputs.cols());
    inner_->add(rotated, generator, noise);
    outputs.noalias() += row_basis_ * noise;
  }

 private:
  Matrix row_basis_;
  Matrix column_basis_transposed_;
  std::unique_ptr<LayerNoise> inner_;
};

/// One standard normal per column of the factor and group.
class LowRankNoise : public LayerNoise {
 public:
  LowRankNoise(LowRankWeights law, Index group_size) : law_(std::move(law)), group_size_(group_size) {}

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    Matrix normals(static_cast<Index>(law_.factor.size()), activations.cols() / group_size_);
    fill_normal(generator, normals);
    add_common_noise(law_, activations, normals, group_size_, outputs);
  }

 private:
  LowRankWeights law_;
  Index group_size_;
};

/// One normal per parameter and group, added at every place of the parameter.
class SharedNoise : public LayerNoise {
 public:
  SharedNoise(SharedWeights law, Index group_size) : law_(std::move(law)), group_size_(group_size) {}

  void add(const Matrix& activations, Generator& generator, Matrix& outputs) const override {
    Matrix parameters(law_.variance.size(), activations.cols() / group_size_);
    fill_normal(generator, parameters);
    parameters.array().colwise() *= law_.variance.array().sqrt();
    for (const auto& place : law_.places) {
      for (Index column = 0; column < outputs.cols(); ++column) {
        // The column behind the last is the bias.
        const double input = place.column < activations.rows() ? activations(place.column, column) : 1.0;
        outputs(place.row, column) += parameters(place.parameter, column / group_size_) * input;
      }
    }
  }

 private:
  SharedWeights law_;
  Index group_size_;
};

/// A bias independent of the weights: b - E b = factor * e, shared by a group. A diagonal
/// factor is stored as one column.
class BiasNoise : public LayerNoise {
 public:
  BiasNoise(Matrix factor, Index group_size, const EntryLaw& law = {})
      : factor_(std::move(factor)), group_size_(group_size), law_(law) {}

  void add(const Matrix&, Generator& generator, Matrix& outputs) const override {
    Matrix draws(outputs.rows(), outputs.cols() / group_size_);
    fill_entries(law_, generator, draws);
    if (factor_.cols() == 1) {
      draws.array().colwise() *= factor_.col(0).array();
    } else {
      draws = factor_ * draws;
    }
    for (Index column = 0; column < outputs.cols(); ++column) {
      outputs.col(column) += draws.col(column / group_size_);
    }
  }

 private:
  Matrix factor_;
  Index group_size_;
  EntryLaw law_;
};

/// One overload per family; the list grows by what the family needs.
class NoiseBuilder {
 public:
  NoiseBuilder(const DenseLayer& layer, Index group_size, bool with_common)
      : layer_(layer), group_size_(group_size), with_common_(with_common) {}

  NoiseTerms build() {
    std::visit(*this, layer_.weights());
    std::visit(*this, layer_.bias());
    return std::move(terms_);
  }

  void operator()(const DeterministicWeights&) {}
  void operator()(const MeanFieldWeights& law) {
    if (law.law.is_normal()) return add_mean_field(law.variance);
    add<MeanFieldGroupNoise>(law.variance, group_size_, law.law);
  }
  void operator()(const KroneckerWeights& law) { add<KroneckerNoise>(law, group_size_); }
  void operator()(const KroneckerEigenbasisWeights& law) { add<EigenbasisNoise>(law, group_size_); }
  void operator()(const LowRankWeights& law) {
    add_mean_field(law.variance);
    const bool is_elsewhere = law.is_common && !with_common_;
    if (!law.factor.empty() && !is_elsewhere) add<LowRankNoise>(law, group_size_);
  }
  void operator()(const FullWeights& law) { add_full(law.covariance, false); }
  void operator()(const JointWeights& law) { add_full(law.covariance, true); }
  void operator()(const SharedWeights& law) { add<SharedNoise>(law, group_size_); }

  void operator()(const DeterministicBias&) {}
  void operator()(const IndependentBias& law) {
    if (!bias_is_absorbed_) add<BiasNoise>(law.variance.cwiseSqrt(), group_size_, law.law);
  }
  void operator()(const CorrelatedBias& law) { add<BiasNoise>(psd_factor(law.covariance), group_size_); }

 private:
  template <class Noise, class... Arguments>
  void add(Arguments&&... arguments) {
    terms_.push_back(std::make_unique<Noise>(std::forward<Arguments>(arguments)...));
  }
  void add_mean_field(const Matrix& variance) {
    const Vector* bias = independent_variances(layer_.bias());
    bias_is_absorbed_ = group_size_ == 1 && bias != nullptr && entry_law(layer_.bias()).is_normal();
    const Vector absorbed = bias_is_absorbed_ ? *bias : Vector(Vector::Zero(layer_.outputs()));
    terms_.push_back(mean_field_noise(variance, absorbed, group_size_));
  }
  void add_full(const Matrix& covariance, bool includes_bias) {
    terms_.push_back(full_weight_noise(covariance, layer_.outputs(), includes_bias, group_size_));
  }

  const DenseLayer& layer_;
  Index group_size_;
  bool with_common_;
  bool bias_is_absorbed_ = false;
  NoiseTerms terms_;
};

}  // namespace

void add_common_noise(const LowRankWeights& law, const Matrix& activations, const Matrix& normals,
                      Index group_size, Matrix& outputs) {
  Matrix scaled(activations.rows(), activations.cols());
  for (std::size_t s = 0; s < law.factor.size(); ++s) {
    for (Index group = 0; group < normals.cols(); ++group) {
      scaled.middleCols(group * group_size, group_size) =
          normals(static_cast<Index>(s), group) * activations.middleCols(group * group_size, group_size);
    }
    outputs.noalias() += law.factor[s] * scaled;
  }
  if (law.bias_factor.size() == 0) return;
  const Matrix biases = law.bias_factor * normals;
  for (Index column = 0; column < outputs.cols(); ++column)
    outputs.col(column) += biases.col(column / group_size);
}

std::vector<std::unique_ptr<LayerNoise>> make_layer_noise(const DenseLayer& layer, Index group_size,
                                                          bool with_common) {
  return NoiseBuilder(layer, group_size, with_common).build();
}

}  // namespace mixcert
