// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates with derivatives, for mixcert.torch: bound, mean and covariance of the mixture at each input
// (or of all inputs jointly), and the derivatives of any function of the three in every weight's mean and
// variance, by the library's reverse mode (docs/theory/gradients.md).
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "arrays.h"
#include "bindings.h"
#include "gradient/joint/joint_gradient.h"
#include "gradient/moment/moment_gradient.h"
#include "gradient/signature/signature_gradient.h"
#include "interruptible.h"
#include "keywords.h"
#include "mixcert/core/error.h"
#include "mixcert/core/parallel.h"

namespace mixcert::python {
namespace {

/// Derivatives of a loss in bound, mean and covariance of one pass.
struct PassCotangent {
  double bound = 0.0;
  Vector mean;
  Matrix covariance;  ///< symmetric
};

GaussianMixture mixture_of(const MomentBound& pass) { return GaussianMixture(pass.law()); }
GaussianMixture mixture_of(const auto& pass) { return pass.mixture(); }

NetworkGradient backward(const MomentBound& pass, const PassCotangent& bar) {
  return pass.gradient(bar.bound, bar.mean, bar.covariance);
}

/// Mean m = sum_c w_c m_c and covariance sum_c w_c (C_c + (m_c - m)(m_c - m)') in the components' terms; the
/// weights are constants.
NetworkGradient backward(const auto& pass, const PassCotangent& bar) {
  const GaussianMixture& mixture = pass.mixture();
  const Vector mean = mixture.mean();
  MixtureCotangent cotangent;
  for (Index c = 0; c < mixture.size(); ++c) {
    const double weight = mixture.weights()[c];
    const Vector offset = mixture.component(c).mean - mean;
    cotangent.means.emplace_back(weight * (bar.mean + 2.0 * bar.covariance * offset));
    cotangent.covariances.emplace_back(weight * bar.covariance);
  }
  return pass.backward(bar.bound, cotangent);
}

using AnyPass = std::variant<MomentBound, JointMomentPass, SignaturePass>;

/// Options that derivatives exist for; the others must keep their defaults.
void require_supported(const Options& options) {
  static constexpr std::array<const char*, 9> kept = {"method",         "theorems",   "joint",
                                                      "signature-size", "components", "certificate",
                                                      "grid",           "seed",       "threads"};
  const Options defaults;
  for (const auto& field : option_table()) {
    const bool known = std::find(kept.begin(), kept.end(), field.name) != kept.end();
    require(
        known || field.get(options) == field.get(defaults),
        keyword_name(field.name) + ": expected its default, the certificate with derivatives has no other");
  }
  require(options.method == Method::Moment || options.method == Method::Signature,
          "method: expected moment or signature, got " + std::string(to_string(options.method)) +
              ", which has no derivatives");
  require(options.method != Method::Moment || options.theorems == TheoremSet::Coupling,
          "theorems: expected coupling, got all, which have no derivatives");
}

class DifferentiableRun {
 public:
  DifferentiableRun(std::shared_ptr<const Model> model, const py::object& given, const py::dict& keywords)
      : model_(std::move(model)), options_(options_from("certify", option_table(), keywords)) {
    require_supported(options_);
    require(model_->ensemble.size() == 1, "network: expected a single network, got several");
    Inputs inputs = to_inputs(given, network().inputs());
    inputs_ = std::move(inputs.columns);
    single_ = inputs.single || options_.joint;
    passes_.resize(options_.joint ? 1 : static_cast<std::size_t>(inputs_.cols()));
    run_interruptibly([&](const CancelFlag& cancel) {
      parallel_for(
          static_cast<Index>(passes_.size()), options_.threads, [&](Index i) { start(i); }, &cancel);
    });
  }

  [[nodiscard]] bool single() const { return single_; }

  /// Bounds [passes], means [passes, d], covariances [passes, d, d].
  [[nodiscard]] py::tuple values() const {
    const Index count = static_cast<Index>(passes_.size());
    const Index size = network().outputs() * (options_.joint ? inputs_.cols() : 1);
    py::array_t<double> bounds(count), means({count, size}), covariances({count, size, size});
    for (Index i = 0; i < count; ++i) {
      std::visit(
          [&](const auto& pass) {
            const GaussianMixture mixture = mixture_of(pass);
            bounds.mutable_at(i) = pass.bound();
            Eigen::Map<Vector>(means.mutable_data(i, 0), size) = mixture.mean();
            Eigen::Map<Matrix>(covariances.mutable_data(i, 0, 0), size, size) = mixture.covariance();
          },
          *passes_[static_cast<std::size_t>(i)]);
    }
    return py::make_tuple(bounds, means, covariances);
  }

  /// Per layer the derivatives in weight mean, weight variance, bias mean and bias variance.
  [[nodiscard]] py::list gradient(const Numbers& bounds, const Numbers& means,
                                  const Numbers& covariances) const {
    const std::vector<PassCotangent> bars = cotangents(bounds, means, covariances);
    std::vector<NetworkGradient> parts(passes_.size());
    run_interruptibly([&](const CancelFlag& cancel) {
      parallel_for(
          static_cast<Index>(parts.size()), options_.threads,
          [&](Index i) {
            const auto place = static_cast<std::size_t>(i);
            parts[place] =
                std::visit([&](const auto& pass) { return backward(pass, bars[place]); }, *passes_[place]);
          },
          &cancel);
    });
    return as_arrays(sum(parts));
  }

 private:
  [[nodiscard]] const Network& network() const { return model_->ensemble.member(0); }

  void start(Index i) {
    std::optional<AnyPass>& pass = passes_[static_cast<std::size_t>(i)];
    if (options_.method == Method::Signature) {
      const Matrix inputs = options_.joint ? inputs_ : Matrix(inputs_.col(i));
      pass.emplace(std::in_place_type<SignaturePass>, network(), inputs, options_);
    } else if (options_.joint) {
      pass.emplace(std::in_place_type<JointMomentPass>, network(), inputs_, RidgeRule::LeastBound, options_);
    } else {
      pass.emplace(std::in_place_type<MomentBound>, network(), inputs_.col(i));
    }
  }

  [[nodiscard]] static std::vector<PassCotangent> cotangents(const Numbers& bounds, const Numbers& means,
                                                             const Numbers& covariances) {
    const Index size = means.shape(1);
    std::vector<PassCotangent> bars;
    for (Index i = 0; i < bounds.shape(0); ++i) {
      const Eigen::Map<const Matrix> covariance(covariances.data(i, 0, 0), size, size);
      bars.push_back({bounds.at(i), Eigen::Map<const Vector>(means.data(i, 0), size),
                      0.5 * (covariance + covariance.transpose())});
    }
    return bars;
  }

  /// In the order of the inputs, so that threads change nothing.
  [[nodiscard]] NetworkGradient sum(const std::vector<NetworkGradient>& parts) const {
    NetworkGradient total = zero_gradient(network());
    for (const NetworkGradient& part : parts) {
      for (std::size_t k = 0; k < total.size(); ++k) {
        total[k].weight_mean += part[k].weight_mean;
        total[k].weight_variance += part[k].weight_variance;
        total[k].bias_mean += part[k].bias_mean;
        total[k].bias_variance += part[k].bias_variance;
      }
    }
    return total;
  }

  static py::list as_arrays(const NetworkGradient& gradient) {
    py::list layers;
    for (const LayerGradient& layer : gradient) {
      layers.append(py::make_tuple(from_matrix(layer.weight_mean), from_matrix(layer.weight_variance),
                                   from_vector(layer.bias_mean), from_vector(layer.bias_variance)));
    }
    return layers;
  }

  std::shared_ptr<const Model> model_;
  Options options_;
  Matrix inputs_;  ///< one per column
  bool single_ = false;
  std::vector<std::optional<AnyPass>> passes_;
};

}  // namespace

void bind_gradient(py::module_& module) {
  py::class_<DifferentiableRun>(module, "DifferentiableRun", "A certificate with derivatives.")
      .def(py::init([](std::shared_ptr<Model> model, const py::object& inputs, const py::dict& options) {
        return std::make_unique<DifferentiableRun>(std::move(model), inputs, options);
      }))
      .def_property_readonly("single", &DifferentiableRun::single)
      .def("values", &DifferentiableRun::values)
      .def("gradient", &DifferentiableRun::gradient);
}

}  // namespace mixcert::python
