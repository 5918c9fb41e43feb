// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fields one after the other; texts, vectors and matrices behind their sizes. One function visits the fields
// in both directions, so that reading and writing cannot differ.
#include <cstring>
#include <type_traits>
#include <utility>

#include "io/files/file_error.h"
#include "io/results/result_journal.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

class ByteWriter {
 public:
  static constexpr bool kReads = false;

  template <class T>
  void number(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void size(const Index& count) { number(count); }
  void text(const std::string& value) {
    number(static_cast<Index>(value.size()));
    bytes_ += value;
  }
  void values(const double* data, Index count) {
    bytes_.append(reinterpret_cast<const char*>(data), sizeof(double) * static_cast<std::size_t>(count));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Sizes are checked against the bytes that are left before anything is allocated.
class ByteReader {
 public:
  static constexpr bool kReads = true;

  ByteReader(std::string_view bytes, const std::string& label) : bytes_(bytes), label_(label) {}

  template <class T>
  void number(T& value) {
    std::memcpy(&value, taken(sizeof(T)).data(), sizeof(T));
  }
  /// Of things that take a byte each at least.
  void size(Index& count) {
    number(count);
    if (count < 0 || static_cast<std::size_t>(count) > bytes_.size()) fail("a size", std::to_string(count));
  }
  void text(std::string& value) {
    Index count = 0;
    size(count);
    value = taken(static_cast<std::size_t>(count));
  }
  void values(double* data, Index count) {
    const auto bytes = sizeof(double) * static_cast<std::size_t>(count);
    if (bytes > 0) std::memcpy(data, taken(bytes).data(), bytes);
  }
  void finish() const {
    if (!bytes_.empty()) fail("the end of a result", std::to_string(bytes_.size()) + " bytes more");
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    bad_file(label_, "result", expected, got);
  }

 private:
  std::string_view taken(std::size_t count) {
    if (count > bytes_.size()) fail(std::to_string(count) + " bytes", std::to_string(bytes_.size()));
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
  }

  std::string_view bytes_;
  const std::string& label_;
};

/// Choices travel as numbers; one beyond the last is refused.
template <class Enum>
void choice(ByteWriter& bytes, const Enum& value, Enum /*last*/) {
  bytes.number(static_cast<std::int32_t>(value));
}
template <class Enum>
void choice(ByteReader& bytes, Enum& value, Enum last) {
  std::int32_t code = 0;
  bytes.number(code);
  if (code < 0 || code > static_cast<std::int32_t>(last)) bytes.fail("a choice", std::to_string(code));
  value = static_cast<Enum>(code);
}

constexpr Index kMostRows = Index{1} << 40U;

void matrix(ByteWriter& bytes, const Matrix& values) {
  bytes.number(values.rows());
  bytes.number(values.cols());
  bytes.values(values.data(), values.size());
}
Matrix matrix(ByteReader& bytes) {
  Index rows = 0;
  Index cols = 0;
  bytes.number(rows);
  bytes.number(cols);
  const auto room = static_cast<Index>(bytes.left() / sizeof(double));
  // A matrix without columns takes no room, whatever its rows: the factor of a covariance that has none.
  const bool is_empty = cols == 0 && rows < kMostRows;
  if (rows < 0 || cols < 0 || (!is_empty && (rows > room || cols > room || (rows > 0 && cols > room / rows))))
    bytes.fail("a matrix that fits", std::to_string(rows) + " x " + std::to_string(cols));
  Matrix values(rows, cols);
  bytes.values(values.data(), values.size());
  return values;
}

void mixture(ByteWriter& bytes, const GaussianMixture& value) {
  matrix(bytes, value.weights());
  for (const Gaussian& component : value.components()) {
    matrix(bytes, component.mean);
    matrix(bytes, component.covariance.stacked_blocks());
    matrix(bytes, component.covariance.factor());
  }
}
void mixture(ByteReader& bytes, GaussianMixture& value) {
  const Matrix weights = matrix(bytes);
  if (weights.cols() != 1) bytes.fail("weights", shape_text({weights.rows(), weights.cols()}));
  std::vector<Gaussian> components;
  for (Index i = 0; i < weights.rows(); ++i) {
    const Matrix mean = matrix(bytes);
    Matrix blocks = matrix(bytes);
    const Matrix factor = matrix(bytes);
    const bool fits = mean.cols() == 1 && mean.rows() == blocks.rows() && blocks.cols() > 0 &&
                      blocks.rows() % blocks.cols() == 0 &&
                      (factor.cols() == 0 || factor.rows() == mean.rows());
    if (!fits)
      bytes.fail("a component whose sizes agree", shape_text({mean.rows(), blocks.rows(), blocks.cols()}));
    Covariance covariance = Covariance::block_diagonal(std::move(blocks));
    if (factor.cols() > 0) covariance = covariance.plus_low_rank(factor);
    components.push_back({mean.col(0), std::move(covariance)});
  }
  value = GaussianMixture(weights.col(0), std::move(components));
}

template <class Bytes, class Layer>
void visit_layer(Bytes& bytes, Layer& layer) {
  bytes.number(layer.layer);
  bytes.number(layer.compression);
  bytes.number(layer.local);
  bytes.number(layer.gain);
  bytes.number(layer.components);
  bytes.number(layer.points);
  bytes.text(layer.metric);
  bytes.text(layer.theorem);
}

template <class Bytes, class Statistics>
void visit_statistics(Bytes& bytes, Statistics& statistics) {
  bytes.number(statistics.samples);
  bytes.number(statistics.w2_lower_statistical);
  bytes.number(statistics.lower_confidence);
  bytes.number(statistics.w2_upper_statistical);
  bytes.number(statistics.coupled_cost);
  bytes.number(statistics.failure_probability);
  bytes.text(statistics.assumption);
  bytes.number(statistics.w2_stein);
  bytes.number(statistics.stein_error);
}

/// What archives are made of must fit into them.
void check_marginal(const ByteReader& bytes, const SimulatedMarginal& marginal) {
  if (marginal.mixture.dimension() != 1)
    bytes.fail("a mixture of one output", std::to_string(marginal.mixture.dimension()));
  // Ranges of few draws may be infinite to both sides.
  if (std::isnan(marginal.w2) || std::isnan(marginal.mean_lower) || std::isnan(marginal.mean_upper))
    bytes.fail("numbers", "NaN");
}

template <class Bytes, class Simulated>
void visit_simulated(Bytes& bytes, Simulated& simulated, Index outputs) {
  bytes.number(simulated.w2);
  bytes.number(simulated.failure_probability);
  bytes.number(simulated.draws);
  bytes.number(simulated.coupled_cost);
  bytes.text(simulated.theorem);
  bytes.text(simulated.gap);
  auto marginals = static_cast<Index>(simulated.marginals.size());
  bytes.size(marginals);
  if constexpr (Bytes::kReads) {
    if (marginals != 0 && marginals != outputs)
      bytes.fail(std::to_string(outputs) + " single outputs", std::to_string(marginals));
    simulated.marginals.resize(static_cast<std::size_t>(marginals));
  }
  for (auto& marginal : simulated.marginals) {
    mixture(bytes, marginal.mixture);
    bytes.number(marginal.w2);
    bytes.number(marginal.mean_lower);
    bytes.number(marginal.mean_upper);
    if constexpr (Bytes::kReads) check_marginal(bytes, marginal);
  }
}

void distribution(ByteWriter& bytes, const std::shared_ptr<const OutputDistribution>& law) {
  bytes.size(law ? 1 : 0);
  if (!law) return;
  for (const double number : {law->first, law->cell, law->error, law->moved, law->offset})
    bytes.number(number);
  matrix(bytes, law->values);
  matrix(bytes, law->density);
}
void distribution(ByteReader& bytes, std::shared_ptr<const OutputDistribution>& law) {
  Index exists = 0;
  bytes.size(exists);
  if (exists == 0) return;
  auto read = std::make_shared<OutputDistribution>();
  for (double* number : {&read->first, &read->cell, &read->error, &read->moved, &read->offset})
    bytes.number(*number);
  const Matrix values = matrix(bytes), density = matrix(bytes);
  if (values.cols() != 1 || density.cols() != 1 || values.rows() != density.rows() || values.rows() < 2)
    bytes.fail("a law whose sizes agree", shape_text({values.rows(), density.rows()}));
  read->values = values.col(0);
  read->density = density.col(0);
  law = std::move(read);
}

/// `Value` is const when it is written.
template <class Bytes, class Value>
void visit(Bytes& bytes, Value& result) {
  bytes.number(result.input);
  choice(bytes, result.method, Method::Coupled);
  choice(bytes, result.certificate, CertificateMode::Paper);
  choice(bytes, result.termination, Termination::BudgetSpent);
  mixture(bytes, result.mixture);
  for (auto* bound : {&result.w2, &result.w1}) {
    bytes.number(bound->value);
    bytes.number(bound->nominal);
  }
  bytes.number(result.relative_w2);
  bytes.number(result.w2_lower);
  bytes.number(result.w2_lower_mixture);
  bytes.number(result.input_change);
  auto layers = static_cast<Index>(result.layers.size());
  bytes.size(layers);
  if constexpr (Bytes::kReads) result.layers.resize(static_cast<std::size_t>(layers));
  for (auto& layer : result.layers) visit_layer(bytes, layer);
  auto has_statistics = static_cast<Index>(result.statistics.has_value());
  bytes.size(has_statistics);
  if constexpr (Bytes::kReads) {
    if (has_statistics != 0) result.statistics.emplace();
  }
  if (result.statistics) visit_statistics(bytes, *result.statistics);
  auto has_simulated = static_cast<Index>(result.simulated.has_value());
  bytes.size(has_simulated);
  if constexpr (Bytes::kReads) {
    if (has_simulated != 0) result.simulated.emplace();
  }
  if (result.simulated) visit_simulated(bytes, *result.simulated, result.mixture.dimension());
  distribution(bytes, result.distribution);
  bytes.text(result.reason);
  bytes.number(result.seconds);
}

}  // namespace

std::string encode_result(const Result& result) {
  ByteWriter bytes;
  visit(bytes, result);
  return bytes.take();
}

Result decode_result(std::string_view bytes, const std::string& label) {
  ByteReader reader(bytes, label);
  Result result;
  result.w1.distance = Distance::W1;
  try {
    visit(reader, result);
  } catch (const InvalidArgument& error) {  // weights that are no distribution
    throw FileError(label + ": result: " + error.what());
  }
  reader.finish();
  return result;
}

}  // namespace mixcert::io
