// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The scratch folder DIR/.fetch-NAME of one fetch: locked, so that two fetches of one data set do
// not meet, emptied of what an interrupted one left, and removed at the end.
#pragma once

#include <filesystem>
#include <string>

namespace mixcert::lab {

class FetchArea {
 public:
  /// Throws FileError where the folder cannot be made or another program is fetching.
  FetchArea(const std::filesystem::path& folder, const std::string& name);
  ~FetchArea();
  FetchArea(const FetchArea&) = delete;
  FetchArea& operator=(const FetchArea&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  bool try_lock();
  void clear() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace mixcert::lab
