// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What result files are made of: the record of the run, the numbers of each row, and the two halves of
// ResultWriter, arrays for the .npz file and the JSON report.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/formats/npy.h"
#include "mixcert/io/result_file.h"

namespace mixcert::io {

// The record of a run as JSON: the head of R.json, and the array `run` of R.npz.

nlohmann::ordered_json run_to_json(const RunRecord& run);
/// The inverse, of text from anywhere: keys it does not know are ignored, those it knows are checked. Throws
/// FileError.
RunRecord run_from_json(const nlohmann::json& value, const std::string& file);

/// JSON in one line; text that is no UTF-8 is replaced.
std::string text_of(const nlohmann::ordered_json& value);

/// Choices are stored as numbers, their names once in the run: `methods`, `certificates`, `terminations`.
struct StoredChoices {
  std::vector<std::string> methods;
  std::vector<std::string> certificates;
  std::vector<std::string> terminations;

  /// All choices of this version.
  static StoredChoices known();
};
nlohmann::ordered_json choices_to_json(const StoredChoices& choices);
StoredChoices choices_from_json(const nlohmann::json& value, const std::string& file);

// The numbers of a result beside its mixture: one per row (bounds, method, statistics) or one per row and
// hidden layer. One table each names the arrays for writer and reader.

/// What an array of rows may hold besides NaN for nothing.
enum class RowKind { Nonnegative, Code };

/// Which results have the number: all, those with statistics, those with a simulated bound, those with a
/// proven lower bound, those that hold in a ball of inputs. A column is written where some result has it.
enum class RowGroup { All, Statistics, Simulation, Lower, Ball };

struct RowColumn {
  const char* name;
  RowKind kind;
  RowGroup group;
  double (*get)(const Result&);
  /// Sets the field from a checked number that is not NaN.
  void (*set)(StoredResult&, double, const StoredChoices&);
};
const std::vector<RowColumn>& row_columns();

/// Layers of one row: arrays [rows, layers], NaN where a row has fewer layers.
struct LayerColumn {
  const char* name;
  double (*get)(const LayerReport&);
  void (*set)(LayerReport&, double);
};
inline constexpr std::size_t kLayerColumns = 5;
const std::array<LayerColumn, kLayerColumns>& layer_columns();
/// Place among them of the one that is NaN in padding only.
inline constexpr std::size_t kComponentsColumn = 3;

class ResultRows {
 public:
  explicit ResultRows(const std::filesystem::path& path) : values_(row_columns().size()), layers_(path) {}
  void add(const Result& result);
  /// Reads from this object until the archive is written.
  void write_to(NpzWriter& archive);

 private:
  void write_layers(NpzWriter& archive, Index rows);
  [[nodiscard]] bool is_there(RowGroup group) const;

  std::vector<std::vector<double>> values_;  // one list per column
  bool has_statistics_ = false, has_simulation_ = false, has_lower_ = false, has_ball_ = false;
  SpillFile layers_;
  std::vector<Index> first_layer_ = {0};
};

/// Computed laws of one output, spilled until the largest number of nodes is known.
class ResultLaws {
 public:
  explicit ResultLaws(const std::filesystem::path& path) : spill_(path) {}
  void add(const Result& result);
  /// Reads from this object until the archive is written. Adds nothing where no result has a law.
  void write_to(NpzWriter& archive);

 private:
  /// Numbers of one law in the spilled ones.
  struct Part {
    Index start, count;
  };
  void add_array(NpzWriter& archive, const std::string& name, Index width, Part (*part)(Index nodes));

  SpillFile spill_;
  std::vector<Index> first_ = {0};  ///< of each row's numbers, and their end
  Index most_ = 0;
};

/// Ends of the cells of a box of inputs, a row for each result.
class ResultCells {
 public:
  void add(const Result& result);
  /// Reads from this object until the archive is written. Adds nothing where results have no cells.
  void write_to(NpzWriter& archive) const;

 private:
  std::vector<InputBox> cells_;
};

/// Mixtures of single outputs that simulation certifies, spilled until their largest size is known.
class ResultMarginals {
 public:
  explicit ResultMarginals(const std::filesystem::path& path) : spill_(path) {}
  void add(const Result& result);
  /// Reads from this object until the archive is written. Adds nothing where no result has marginals.
  void write_to(NpzWriter& archive, Index outputs);

 private:
  struct Place {
    Index row, first, components;  ///< where the numbers of one output begin
  };
  /// Part 0, 1 or 2 of every output: weights, means or deviations.
  void add_array(NpzWriter& archive, const std::string& name, Index outputs, Index part);
  /// `count` of the numbers of every output.
  void add_numbers(NpzWriter& archive, const std::string& name, std::vector<Index> shape, std::size_t count,
                   std::size_t from);

  SpillFile spill_;
  std::vector<Place> places_;
  std::vector<std::array<double, 3>> numbers_;  ///< bound, ends of the mean
  std::vector<std::size_t> first_place_ = {0};  ///< of each row, and their end
  Index size_ = 0, most_ = 0;
};

// The record of the run, the numbers per row and the computed laws of a result archive, read and checked.

/// The array `run`, and the names of choices in it. Throws FileError.
RunRecord read_run_record(NpzReader& reader, const std::string& file, StoredChoices& choices);

/// Fills in all but the mixtures of `results`: bounds must be there, the other arrays may be absent. Throws
/// FileError.
void read_rows(NpzReader& reader, const std::string& file, const StoredChoices& choices,
               std::vector<StoredResult>& results);

/// Fills in the computed laws, where there are any. Throws FileError.
void read_laws(NpzReader& reader, const std::string& file, std::vector<StoredResult>& results);

/// Fills in the cells, where there are any; `inputs` are their centres. Throws FileError.
void read_cells(NpzReader& reader, const std::string& file, const Matrix& inputs,
                std::vector<StoredResult>& results);

}  // namespace mixcert::io

namespace mixcert {

// The two halves of ResultWriter.

/// Weights, means and dense covariances, spilled until the number of components is known.
class ResultWriter::Arrays {
 public:
  Arrays(const std::filesystem::path& path, RunRecord run, const ReadLimits& limits);
  void add_inputs(const Matrix& inputs, const InputNoise& noise);
  void add(const Result& result);
  /// Writes everything to the disk beside the final name.
  void write(Index dimension);
  void commit() { archive_.commit(); }

 private:
  [[nodiscard]] Index most_components() const;
  void check_room(Index dimension) const;
  /// Adds the array [inputs, components, tail...] whose rows lie in `spill`.
  void add_padded(const std::string& name, const std::vector<Index>& tail, io::SpillFile& spill);

  std::filesystem::path path_;
  RunRecord run_;
  ReadLimits limits_;
  NpzWriter archive_;
  io::SpillFile weights_;
  io::SpillFile means_;
  io::SpillFile covariances_;
  io::ResultRows rows_;
  io::ResultLaws laws_;
  io::ResultMarginals marginals_;
  io::ResultCells cells_;
  std::vector<Index> first_component_ = {0};
};

class ResultWriter::Report {
 public:
  Report(const std::filesystem::path& path, const RunRecord& run);
  void add(const Result& result);
  void write();
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  bool first_ = true;
};

}  // namespace mixcert
