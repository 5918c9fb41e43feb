// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The computed laws of one output in result archives: `law_grid`, `law_values` and `law_density`, all of them
// or none. Rows without a law, and what is behind the last node of a shorter one, are NaN.
#include <algorithm>
#include <cmath>
#include <limits>

#include "io/files/file_error.h"
#include "io/results/result_parts.h"
#include "mixcert/core/option_table.h"

namespace mixcert::io {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr Index kMostNodes = 100000;
// First node, distance of nodes, error, moved, offset; files of earlier versions have no offset, which is
// zero.
constexpr Index kGridNumbers = 5;
constexpr Index kEarlierNumbers = 4;

std::array<double, kGridNumbers> grid_of(const OutputDistribution& law) {
  return {law.first, law.cell, law.error, law.moved, law.offset};
}

}  // namespace

void ResultLaws::add(const Result& result) {
  const Index nodes = result.distribution ? result.distribution->values.size() : 0;
  if (nodes > 0) {
    const OutputDistribution& law = *result.distribution;
    const auto count = static_cast<std::size_t>(nodes);
    spill_.append(grid_of(law));
    spill_.append({law.values.data(), count});
    spill_.append({law.density.data(), count});
  }
  most_ = std::max(most_, nodes);
  first_.push_back(first_.back() + (nodes > 0 ? kGridNumbers + 2 * nodes : 0));
}

void ResultLaws::write_to(NpzWriter& archive) {
  if (most_ == 0) return;
  add_array(archive, "law_grid", kGridNumbers, [](Index /*nodes*/) -> Part { return {0, kGridNumbers}; });
  add_array(archive, "law_values", most_, [](Index nodes) -> Part { return {kGridNumbers, nodes}; });
  add_array(archive, "law_density", most_, [](Index nodes) -> Part { return {kGridNumbers + nodes, nodes}; });
}

void ResultLaws::add_array(NpzWriter& archive, const std::string& name, Index width,
                           Part (*part)(Index nodes)) {
  const Index rows = static_cast<Index>(first_.size()) - 1;
  archive.add(name, {rows, width}, [this, part](Index row, std::span<double> block) {
    const Index begin = first_[static_cast<std::size_t>(row)];
    const Index size = first_[static_cast<std::size_t>(row) + 1] - begin;
    std::fill(block.begin(), block.end(), kNoNumber);
    if (size == 0) return;
    const Part own = part((size - kGridNumbers) / 2);
    spill_.read(begin + own.start, block.first(static_cast<std::size_t>(own.count)));
  });
}

// Reading: the file may come from anywhere.

namespace {

class LawReader {
 public:
  LawReader(NpzReader& reader, std::string file, Index rows)
      : file_(std::move(file)),
        grid_(reader.read("law_grid")),
        values_(reader.read("law_values")),
        density_(reader.read("law_density")) {
    numbers_ = grid_.rank() == 2 && grid_.shape[1] == kEarlierNumbers ? kEarlierNumbers : kGridNumbers;
    if (grid_.shape != std::vector<Index>{rows, numbers_})
      bad_file(file_, "'law_grid'", "shape " + shape_text({rows, kGridNumbers}), shape_text(grid_.shape));
    nodes_ = values_.rank() == 2 ? values_.shape[1] : 0;
    if (values_.shape != std::vector<Index>{rows, nodes_} || nodes_ > kMostNodes)
      bad_file(file_, "'law_values'", "shape [" + std::to_string(rows) + ", nodes]",
               shape_text(values_.shape));
    if (density_.shape != values_.shape)
      bad_file(file_, "'law_density'", "shape " + shape_text(values_.shape), shape_text(density_.shape));
  }

  /// Null where the row has none.
  [[nodiscard]] std::shared_ptr<const OutputDistribution> law(Index row) const {
    const double* grid = grid_.values.data() + row * numbers_;
    if (std::isnan(grid[0])) return nullptr;
    auto law = std::make_shared<OutputDistribution>();
    law->first = grid[0];
    law->cell = grid[1];
    law->error = grid[2];
    law->moved = grid[3];
    law->offset = numbers_ == kGridNumbers ? grid[4] : 0.0;
    const bool good = std::isfinite(law->first) && law->cell > 0.0 && std::isfinite(law->cell) &&
                      law->error >= 0.0 && law->moved >= 0.0 && std::isfinite(law->moved) &&
                      law->offset >= 0.0 && std::isfinite(law->offset);
    if (!good) fail("law_grid", "first node, distance of nodes above 0, three errors >= 0", grid[1], row);
    const Index count = nodes_of(row);
    if (count < 2) fail("law_values", "two nodes at least", static_cast<double>(count), row);
    law->values = taken("law_values", values_, row, count, -1.0, 2.0);
    law->density = taken("law_density", density_, row, count, -1e300, 1e300);
    return law;
  }

 private:
  [[nodiscard]] Index nodes_of(Index row) const {
    Index count = nodes_;
    while (count > 0 && std::isnan(values_.values[static_cast<std::size_t>(row * nodes_ + count - 1)]))
      --count;
    return count;
  }
  [[nodiscard]] Vector taken(const char* name, const Array& array, Index row, Index count, double low,
                             double high) const {
    Vector values = Eigen::Map<const Vector>(array.values.data() + row * nodes_, count);
    for (const double value : values) {
      if (!(value >= low && value <= high)) fail(name, "numbers of a distribution", value, row);
    }
    return values;
  }
  [[noreturn]] void fail(const std::string& name, const std::string& expected, double got, Index row) const {
    bad_file(file_, in_quotes(name) + " of input " + std::to_string(row), expected, format_number(got));
  }

  std::string file_;
  Array grid_, values_, density_;
  Index nodes_ = 0, numbers_ = kGridNumbers;
};

}  // namespace

void read_laws(NpzReader& reader, const std::string& file, std::vector<StoredResult>& results) {
  if (!reader.contains("law_grid")) return;
  const auto rows = static_cast<Index>(results.size());
  const LawReader laws(reader, file, rows);
  for (Index row = 0; row < rows; ++row) {
    StoredResult& result = results[static_cast<std::size_t>(row)];
    result.distribution = laws.law(row);
    if (result.distribution && result.mixture.dimension() != 1)
      bad_file(file, "'law_grid'", "laws of one output",
               std::to_string(result.mixture.dimension()) + " outputs");
  }
}

}  // namespace mixcert::io
