// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of layers by their definitions: every random number of every layer, one draw at a time.
#pragma once

#include <map>
#include <vector>

#include "mixcert/core/rng.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::testing {

/// Where the random numbers of one draw come from; entries are asked in the order of the list, those of a
/// block skip first.
template <class Real>
class NaiveSource {
 public:
  NaiveSource() = default;
  NaiveSource(const NaiveSource&) = delete;
  NaiveSource& operator=(const NaiveSource&) = delete;
  virtual ~NaiveSource() = default;

  /// The next so many standard normals: of kernels and their biases, masks and noise.
  virtual Vector normals(Index count) = 0;
  /// W x + b of a layer whose weights or biases are random.
  virtual std::vector<Real> dense(const DenseLayer& layer, const std::vector<Real>& x) = 0;
  virtual const DenseLayer& alternative(const MixtureSpec& mixture) = 0;
};

/// One draw of a list. A value is dropped where its normal is below the quantile of the rate.
template <class Real>
std::vector<Real> naive_draw(const std::vector<LayerSpec>& layers, const LayerShape& shape,
                             const std::vector<Real>& x, NaiveSource<Real>& source);

/// All weights of a layer at once, whatever their law: from the covariance of all entries, or one by one
/// where they are not normal.
class NaiveSampler final : public NaiveSource<double> {
 public:
  explicit NaiveSampler(Generator& generator) : generator_(generator) {}

  Vector normals(Index count) override;
  std::vector<double> dense(const DenseLayer& layer, const std::vector<double>& x) override;
  const DenseLayer& alternative(const MixtureSpec& mixture) override;

 private:
  /// W - E W and b - E b, the bias in the last column.
  Matrix deviations(const DenseLayer& layer);
  double entry(const EntryLaw& law);

  Generator& generator_;
  std::map<const DenseLayer*, Matrix> roots_;  ///< of covariances
};

/// Outputs x samples of a list.
Matrix naive_samples(const std::vector<LayerSpec>& layers, const LayerShape& shape, const Vector& x,
                     Index samples, Generator& generator);

}  // namespace mixcert::testing
