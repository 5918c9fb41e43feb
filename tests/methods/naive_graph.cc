// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/naive_graph.h"

#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

namespace mixcert::testing {
namespace {

/// E f(z) and E f'(z), z ~ N(m, s^2), by Simpson's rule (trapezoids over kinks are good to 1e-7).
std::pair<double, double> moments(const Activation& f, double m, double s) {
  if (!(s > 0.0)) return {f(m), 0.0};
  const int cells = 40000;
  const double h = 20.0 / cells;
  double value = 0.0, slope = 0.0;
  for (int i = 0; i <= cells; ++i) {
    const double x = -10.0 + h * i, weight = (i == 0 || i == cells ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) * h / 3.0;
    const double density = weight * std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    value += density * f(m + s * x);
    slope += density * f(m + s * x) * x / s;  // Stein's lemma
  }
  return {value, slope};
}

/// mean + weights' (z - E z).
struct Line {
  double mean = 0.0;
  Vector weights;
};

/// Rounds of b + relu(a - b), each replaced by a line.
Line largest_line(const std::vector<Index>& window, const Vector& mean, const Matrix& tangents) {
  std::vector<Line> lines;
  for (const Index pixel : window) lines.push_back({mean(pixel), Vector::Unit(mean.size(), pixel)});
  while (lines.size() > 1) {
    std::vector<Line> next;
    for (std::size_t i = 0; i < lines.size(); i += 2) {
      if (i + 1 == lines.size()) {
        next.push_back(lines[i]);
        continue;
      }
      const Line &a = lines[i], &b = lines[i + 1];
      const double deviation = (tangents.transpose() * (a.weights - b.weights)).norm();
      const auto [value, slope] = moments(Activation(ActivationFunction::Relu), a.mean - b.mean, deviation);
      next.push_back({b.mean + value, b.weights + slope * (a.weights - b.weights)});
    }
    lines = next;
  }
  return lines.front();
}

Vector stacked(const Vector& a, const Vector& b) {
  Vector all(a.size() + b.size());
  all << a, b;
  return all;
}

Activation function_of(ActivationFunction function) {
  return std::get<ActivationSpec>(activation_spec(function).variant()).activation;
}

}  // namespace

void NaiveGraph::append(LayerSpec layer, NaiveStep step) {
  shape_ = shape_after(layer, shape_);
  layers_.push_back(std::move(layer));
  steps_.push_back(std::move(step));
}

Conv2dSpec NaiveGraph::random_kernel(Generator& generator, Index out, Index kernel, Index padding,
                                     Index stride, double noise) const {
  Conv2dSpec spec;
  spec.name = "c" + std::to_string(layers_.size());
  spec.in = shape_.channels;
  spec.out = out;
  spec.image = shape_.image;
  spec.window = {{kernel, kernel}, {stride, stride}, {padding, padding}, {1, 1}};
  const Index entries = out * spec.in * kernel * kernel;
  const double size = std::sqrt(2.0 / static_cast<double>(spec.in * kernel * kernel));
  spec.kernel_mean = size * random_vector(generator, entries);
  spec.kernel_variance = (noise * size * random_vector(generator, entries)).cwiseAbs2();
  spec.bias_mean = 0.1 * random_vector(generator, out);
  spec.bias_variance = (0.1 * noise * random_vector(generator, out)).cwiseAbs2();
  return spec;
}

NaiveAffine NaiveGraph::written_out(const Conv2dSpec& spec) const {
  const LayerShape after = shape_after(spec, shape_);
  const auto& [kernel, stride, padding, dilation] = spec.window;
  NaiveAffine affine{Matrix::Zero(after.size(), shape_.size()), Vector::Zero(after.size()), {}, {}};
  const Index positions = after.image.height * after.image.width;
  for (Index o = 0; o < spec.out; ++o) {
    for (Index d = 0; d < spec.in; ++d) {
      for (Index i = 0; i < kernel.height; ++i) {
        for (Index j = 0; j < kernel.width; ++j) {
          Matrix places = Matrix::Zero(after.size(), shape_.size());
          for (Index y = 0; y < after.image.height; ++y) {
            for (Index x = 0; x < after.image.width; ++x) {
              const Index r = y * stride.height + i - padding.height,
                          c = x * stride.width + j - padding.width;
              if (r < 0 || c < 0 || r >= shape_.image.height || c >= shape_.image.width) continue;
              places(o * positions + y * after.image.width + x,
                     (d * shape_.image.height + r) * shape_.image.width + c) = 1.0;
            }
          }
          const Index entry = ((o * spec.in + d) * kernel.height + i) * kernel.width + j;
          affine.mean += spec.kernel_mean(entry) * places;
          affine.directions.emplace_back(std::sqrt(spec.kernel_variance(entry)) * places);
          affine.shifts.emplace_back(Vector::Zero(after.size()));
        }
      }
    }
    affine.bias.segment(o * positions, positions).setConstant(spec.bias_mean(o));
    Vector shift = Vector::Zero(after.size());
    shift.segment(o * positions, positions).setConstant(std::sqrt(spec.bias_variance(o)));
    affine.directions.emplace_back(Matrix::Zero(after.size(), shape_.size()));
    affine.shifts.push_back(std::move(shift));
  }
  return affine;
}

void NaiveGraph::convolution(Generator& generator, Index out, Index kernel, Index padding, Index stride,
                             double noise) {
  const Conv2dSpec spec = random_kernel(generator, out, kernel, padding, stride, noise);
  append(spec, {NaiveStep::Kind::Affine, written_out(spec), Activation(), {}});
}

void NaiveGraph::dense(Generator& generator, Index outputs, double noise) {
  const Index inputs = shape_.size();
  const double size = std::sqrt(2.0 / static_cast<double>(inputs));
  NaiveAffine affine{
      size * random_matrix(generator, outputs, inputs), random_vector(generator, outputs), {}, {}};
  const Matrix deviations = noise * size * random_matrix(generator, outputs, inputs).cwiseAbs();
  for (Index l = 0; l < outputs; ++l) {
    for (Index j = 0; j < inputs; ++j) {
      Matrix place = Matrix::Zero(outputs, inputs);
      place(l, j) = deviations(l, j);
      affine.directions.push_back(std::move(place));
      affine.shifts.emplace_back(Vector::Zero(outputs));
    }
  }
  if (shape_.is_image) {
    shape_ = shape_after(FlattenSpec{}, shape_);
    layers_.emplace_back(FlattenSpec{});
  }
  append(DenseSpec{DenseLayer("d" + std::to_string(layers_.size()), affine.mean, affine.bias,
                              MeanFieldWeights{deviations.cwiseAbs2()}, DeterministicBias{})},
         {NaiveStep::Kind::Affine, affine, Activation(), {}});
}

void NaiveGraph::activation(ActivationFunction function) {
  append(activation_spec(function), {NaiveStep::Kind::Activation, {}, function_of(function), {}});
}

std::vector<std::vector<Index>> NaiveGraph::windows(Index size, Index stride) const {
  std::vector<std::vector<Index>> all;
  const auto [height, width] = shape_.image;
  for (Index c = 0; c < shape_.channels; ++c) {
    for (Index y = 0; y + size <= height; y += stride) {
      for (Index x = 0; x + size <= width; x += stride) {
        std::vector<Index>& window = all.emplace_back();
        for (Index i = 0; i < size * size; ++i)
          window.push_back((c * height + y + i / size) * width + x + i % size);
      }
    }
  }
  return all;
}

void NaiveGraph::average_pool(Index size, Index stride) {
  const auto all = windows(size, stride);
  NaiveAffine affine;
  affine.mean = Matrix::Zero(static_cast<Index>(all.size()), shape_.size());
  affine.bias = Vector::Zero(affine.mean.rows());
  for (std::size_t u = 0; u < all.size(); ++u) {
    for (const Index pixel : all[u])
      affine.mean(static_cast<Index>(u), pixel) = 1.0 / static_cast<double>(size * size);
  }
  append(AvgPool2dSpec{{{size, size}, {stride, stride}, {0, 0}, {1, 1}}},
         {NaiveStep::Kind::Affine, affine, Activation(), {}});
}

void NaiveGraph::max_pool(Index size, Index stride) {
  const auto all = windows(size, stride);
  append(MaxPool2dSpec{{{size, size}, {stride, stride}, {0, 0}, {1, 1}}},
         {NaiveStep::Kind::Maximum, {}, Activation(), all});
}

void NaiveGraph::batch_norm(Generator& generator) {
  const BatchNormSpec spec = random_batch_norm(generator, shape_.channels);
  const Index pixels = shape_.size() / shape_.channels;
  NaiveAffine affine{Matrix::Zero(shape_.size(), shape_.size()), Vector::Zero(shape_.size()), {}, {}};
  for (Index i = 0; i < shape_.size(); ++i) {
    const Index c = i / pixels;
    const double scale = spec.weight(c) / std::sqrt(spec.running_variance(c) + spec.epsilon);
    affine.mean(i, i) = scale;
    affine.bias(i) = spec.bias(c) - scale * spec.running_mean(c);
  }
  append(spec, {NaiveStep::Kind::Affine, affine, Activation(), {}});
}

void NaiveGraph::residual(Generator& generator, ActivationFunction function, double noise) {
  const Conv2dSpec spec = random_kernel(generator, shape_.channels, 3, 1, 1, noise);
  steps_.push_back({NaiveStep::Kind::Keep, {}, Activation(), {}});
  steps_.push_back({NaiveStep::Kind::Affine, written_out(spec), Activation(), {}});
  steps_.push_back({NaiveStep::Kind::Activation, {}, function_of(function), {}});
  steps_.push_back({NaiveStep::Kind::AddKept, {}, Activation(), {}});
  layers_.emplace_back(ResidualSpec{{spec, activation_spec(function)}});
}

void NaiveGraph::dense_block(Generator& generator, ActivationFunction function, double noise) {
  const Conv2dSpec spec = random_kernel(generator, 2, 3, 1, 1, noise);
  const std::string place = std::to_string(layers_.size());
  layers_.back().node = "kept" + place;
  steps_.push_back({NaiveStep::Kind::Keep, {}, Activation(), {}});
  steps_.push_back({NaiveStep::Kind::Affine, written_out(spec), Activation(), {}});
  steps_.push_back({NaiveStep::Kind::Activation, {}, function_of(function), {}});
  steps_.push_back({NaiveStep::Kind::AppendKept, {}, Activation(), {}});
  layers_.emplace_back(spec);
  layers_.push_back(seeing(activation_spec(function), "made" + place, {}));
  layers_.push_back(seeing(ConcatSpec{}, "", {"made" + place, "kept" + place}));
  shape_.channels += 2;
}

NaiveGraph::Gaussian NaiveGraph::surrogate(const Vector& input) {
  Vector mean = input, kept_mean;
  Matrix tangents(input.size(), 0), kept_tangents;
  means_.clear();
  maps_.clear();
  for (const NaiveStep& step : steps_) {
    if (step.kind == NaiveStep::Kind::Affine) {
      Matrix next(step.affine.mean.rows(), tangents.cols() + static_cast<Index>(step.affine.shifts.size()));
      next.leftCols(tangents.cols()) = step.affine.mean * tangents;
      for (std::size_t w = 0; w < step.affine.shifts.size(); ++w)
        next.col(tangents.cols() + static_cast<Index>(w)) =
            step.affine.directions[w] * mean + step.affine.shifts[w];
      tangents = next;
      mean = step.affine.mean * mean + step.affine.bias;
    } else if (step.kind == NaiveStep::Kind::Activation) {
      Vector values(mean.size()), slopes(mean.size());
      for (Index j = 0; j < mean.size(); ++j)
        std::tie(values(j), slopes(j)) = moments(step.activation, mean(j), tangents.row(j).norm());
      mean = values;
      means_.push_back(values);
      maps_.emplace_back(slopes.asDiagonal());
      tangents = maps_.back() * tangents;
    } else if (step.kind == NaiveStep::Kind::Maximum) {
      Vector values(static_cast<Index>(step.windows.size()));
      Matrix map(values.size(), mean.size());
      for (Index u = 0; u < values.size(); ++u) {
        const Line line = largest_line(step.windows[static_cast<std::size_t>(u)], mean, tangents);
        values(u) = line.mean;
        map.row(u) = line.weights.transpose();
      }
      mean = values;
      means_.push_back(values);
      maps_.push_back(map);
      tangents = map * tangents;
    } else if (step.kind == NaiveStep::Kind::Keep) {
      kept_mean = mean;
      kept_tangents = tangents;
    } else if (step.kind == NaiveStep::Kind::AddKept) {
      mean += kept_mean;
      tangents.leftCols(kept_tangents.cols()) += kept_tangents;
    } else {
      mean = stacked(mean, kept_mean);
      Matrix all = Matrix::Zero(mean.size(), tangents.cols());
      all.topRows(tangents.rows()) = tangents;
      all.bottomLeftCorner(kept_tangents.rows(), kept_tangents.cols()) = kept_tangents;
      tangents = all;
    }
  }
  return {mean, tangents * tangents.transpose()};
}

NaiveGraph::Cost NaiveGraph::coupled_cost(const Vector& input, Generator& generator, int draws) const {
  Vector costs(draws);
  for (double& cost : costs) {
    Vector z = input, mean = input, centred = Vector::Zero(input.size()), kept, kept_mean, kept_centred;
    std::size_t nonlinear = 0;
    for (const NaiveStep& step : steps_) {
      if (step.kind == NaiveStep::Kind::Affine) {
        Vector noise = Vector::Zero(step.affine.bias.size()), at_mean = noise;
        const Vector n = random_vector(generator, static_cast<Index>(step.affine.shifts.size()));
        for (std::size_t w = 0; w < step.affine.shifts.size(); ++w) {
          noise += n(static_cast<Index>(w)) * (step.affine.directions[w] * z + step.affine.shifts[w]);
          at_mean += n(static_cast<Index>(w)) * (step.affine.directions[w] * mean + step.affine.shifts[w]);
        }
        z = step.affine.mean * z + step.affine.bias + noise;
        centred = step.affine.mean * centred + at_mean;
        mean = step.affine.mean * mean + step.affine.bias;
      } else if (step.kind == NaiveStep::Kind::Activation) {
        z = z.unaryExpr([&](double x) { return step.activation(x); });
        mean = means_[nonlinear];
        centred = maps_[nonlinear] * centred;
        ++nonlinear;
      } else if (step.kind == NaiveStep::Kind::Maximum) {
        Vector largest(means_[nonlinear].size());
        for (Index u = 0; u < largest.size(); ++u)
          largest(u) = z(step.windows[static_cast<std::size_t>(u)]).maxCoeff();
        z = largest;
        mean = means_[nonlinear];
        centred = maps_[nonlinear] * centred;
        ++nonlinear;
      } else if (step.kind == NaiveStep::Kind::Keep) {
        kept = z;
        kept_mean = mean;
        kept_centred = centred;
      } else if (step.kind == NaiveStep::Kind::AddKept) {
        z += kept;
        mean += kept_mean;
        centred += kept_centred;
      } else {
        z = stacked(z, kept);
        mean = stacked(mean, kept_mean);
        centred = stacked(centred, kept_centred);
      }
    }
    cost = (z - mean - centred).squaredNorm();
  }
  const double mean = costs.mean();
  const double variance = (costs.array() - mean).square().mean();
  return {mean, std::sqrt(variance / static_cast<double>(draws))};
}

}  // namespace mixcert::testing
