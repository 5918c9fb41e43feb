// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Results on the disk as they come, in any order, so that an interrupted run can go on where it stopped
// (docs/result-format.md), and one result as bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/certificate/result.h"
#include "mixcert/core/types.h"
#include "mixcert/io/result_file.h"
#include "mixcert/network/input_noise.h"

namespace mixcert::io {

// A result as bytes and back, to the last bit and with its structure: what journals keep and what processes
// send each other. Numbers are those of the machine (both kinds that are supported are little-endian).

std::string encode_result(const Result& result);

/// Throws FileError where the bytes are no result; `label` stands for where they come from.
Result decode_result(std::string_view bytes, const std::string& label);

}  // namespace mixcert::io

namespace mixcert {

// A journal belongs to one run: its head says which. Every record has a checksum; what a kill left incomplete
// at the end is dropped.

/// What must be the same for results to belong together: version, models, options and inputs, as text. The
/// command, threads, blocks and the memory limit may differ.
std::string journal_identity(const RunRecord& run, const Matrix& inputs, const InputNoise& noise);

/// OUT.journal, beside the file that the run will write.
std::filesystem::path journal_of(const std::filesystem::path& out);

class ResultJournal {
 public:
  /// Creates the file. One that holds results is an error, unless `resume`: then it is continued. Throws
  /// FileError where another process uses it, it is another run's, or no journal.
  ResultJournal(const std::filesystem::path& path, const std::string& identity, Index inputs, bool resume);
  /// Leaves the file where it holds results, and removes it otherwise.
  ~ResultJournal();
  ResultJournal(const ResultJournal&) = delete;
  ResultJournal& operator=(const ResultJournal&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] Index inputs() const { return static_cast<Index>(places_.size()); }
  [[nodiscard]] Index finished() const { return finished_; }
  [[nodiscard]] bool has(Index input) const { return places_[static_cast<std::size_t>(input)].size > 0; }

  /// The result is in the file when this returns. Each input once. Throws FileError.
  void append(const Result& result);
  /// The same with encode_result()'s bytes.
  void append(Index input, std::string_view encoded);
  /// Throws FileError.
  [[nodiscard]] Result read(Index input) const;

  /// The run is complete: the file goes.
  void remove();

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< 0: not finished
  };

  void lock() const;
  void begin(const std::string& identity);
  /// An empty identity stands for any.
  void check_head(const std::string& identity) const;
  /// Up to the first record that is not whole; cuts off the rest.
  void scan();
  /// The size of the record at `offset` with head and checksum; 0 where it is not whole.
  std::uint64_t take_record(std::uint64_t offset);
  void write(std::string_view bytes);
  [[nodiscard]] std::string read_bytes(std::uint64_t offset, std::uint64_t count) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t end_ = 0;
  std::vector<Place> places_;
  Index finished_ = 0;
};

}  // namespace mixcert
