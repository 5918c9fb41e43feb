// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs and the law of their noise from one archive. Arrays whose names begin with "input" must be known and
// belong to one law; a mistyped name would otherwise leave the noise out without a word.
#include "mixcert/io/input_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/files/file_error.h"
#include "io/formats/elements.h"
#include "io/formats/npy.h"
#include "mixcert/core/option_table.h"

namespace mixcert {
namespace {

using Shape = std::vector<Index>;

class Archive {
 public:
  Archive(NpzReader& reader, std::string file) : file_(std::move(file)), reader_(reader) {}

  InputFile read() {
    check_names();
    if (!has("inputs")) fail("inputs", "an array [inputs, features]", "none");
    InputFile result{inputs_from_array(reader_.read("inputs"), file_), {}};
    features_ = result.inputs.rows();
    if (has("input_variance")) {
      result.noise.components.push_back({1.0, {}, variances(read_array("input_variance", {features_}), 0)});
    } else if (has("input_covariance")) {
      result.noise.components.push_back(
          {1.0, {}, covariance(read_array("input_covariance", {features_, features_}), 0)});
    } else if (has("input_weights")) {
      result.noise.components = mixture();
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& array, const std::string& expected,
                         const std::string& got) const {
    io::bad_file(file_, array, expected, got);
  }
  [[nodiscard]] bool has(const std::string& name) const { return reader_.contains(name); }
  [[nodiscard]] Index count(const std::vector<std::string>& names) const {
    return std::count_if(names.begin(), names.end(), [this](const std::string& name) { return has(name); });
  }

  /// Known names, one law, all of its parts.
  void check_names() const {
    static const std::vector<std::string> known = {"inputs",           "input_variance", "input_covariance",
                                                   "input_weights",    "input_offsets",  "input_variances",
                                                   "input_covariances"};
    for (const std::string& name : reader_.names()) {
      if (name.rfind("input", 0) != 0 || std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string list;
      for (const std::string& word : known) list += (list.empty() ? "" : "|") + word;
      fail(name, "an array named " + list, "another name");
    }
    const Index spreads = count({"input_variances", "input_covariances"});
    const Index parts = count({"input_weights", "input_offsets"}) + spreads;
    if (count({"input_variance", "input_covariance"}) + (parts > 0 ? 1 : 0) > 1) {
      fail("law of the noise", "one of input_variance, input_covariance and a mixture", "several");
    }
    const bool whole = has("input_weights") && has("input_offsets") && spreads == 1;
    if (parts > 0 && !whole) {
      fail("mixture of the noise",
           "input_weights, input_offsets and one of input_variances and input_covariances",
           std::to_string(parts) + " of them");
    }
  }

  Array read_array(const std::string& name, const Shape& shape) {
    name_ = name;
    Array array = reader_.read(name);
    if (array.shape != shape) fail(name, "shape " + io::shape_text(shape), io::shape_text(array.shape));
    io::require_finite(array.values, array.shape, file_, name);
    return array;
  }

  /// Row `row` of an array [.., features].
  [[nodiscard]] Vector row_of(const Array& array, Index row) const {
    return Eigen::Map<const Vector>(array.values.data() + row * features_, features_);
  }

  [[nodiscard]] IndependentBias variances(const Array& array, Index row) const {
    IndependentBias law{row_of(array, row)};
    if (law.variance.minCoeff() < 0.0) {
      fail(name_, "numbers of at least 0", format_number(law.variance.minCoeff()));
    }
    return law;
  }

  /// Matrix `row` of an array [.., features, features]; whether it is semidefinite is the layer's to check.
  [[nodiscard]] CorrelatedBias covariance(const Array& array, Index row) const {
    const Matrix matrix =
        Eigen::Map<const Matrix>(array.values.data() + row * features_ * features_, features_, features_);
    const double skew = (matrix - matrix.transpose()).cwiseAbs().maxCoeff();
    if (skew > 1e-9 * matrix.cwiseAbs().maxCoeff()) {
      fail(name_, "symmetric matrices", "entries that differ by " + format_number(skew));
    }
    return {0.5 * (matrix + matrix.transpose())};
  }

  std::vector<InputNoise::Component> mixture() {
    const Array all = reader_.read("input_weights");
    if (all.rank() != 1 || all.size() == 0) {
      fail("input_weights", "one number per component", "shape " + io::shape_text(all.shape));
    }
    const Index count = all.size();
    const Eigen::Map<const Vector> weights(all.values.data(), count);
    if (!(weights.minCoeff() > 0.0) || !(std::abs(weights.sum() - 1.0) <= 1e-9)) {
      fail("input_weights", "positive numbers that sum to 1", "a sum of " + format_number(weights.sum()));
    }
    const Array offsets = read_array("input_offsets", {count, features_});
    const bool dense = has("input_covariances");
    const Array spreads = dense ? read_array("input_covariances", {count, features_, features_})
                                : read_array("input_variances", {count, features_});
    std::vector<InputNoise::Component> components;
    for (Index i = 0; i < count; ++i) {
      BiasCovariance law = dense ? BiasCovariance(covariance(spreads, i)) : variances(spreads, i);
      components.push_back({weights(i), row_of(offsets, i), std::move(law)});
    }
    return components;
  }

  std::string file_;
  NpzReader& reader_;
  Index features_ = 0;
  std::string name_;  // of the array read last
};

}  // namespace

InputFile read_input_arrays(NpzReader& reader, const std::string& label) {
  return Archive(reader, label).read();
}

InputFile read_input_file(const std::filesystem::path& file, const ReadLimits& limits) {
  if (file.extension() != ".npz") return {read_inputs(file, limits), {}};
  NpzReader reader(file, limits);
  return read_input_arrays(reader, file.string());
}

}  // namespace mixcert
