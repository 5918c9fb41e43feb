// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The scratch folder of a fetch (POSIX). The lock is on the folder itself; it ends with the
// process, so a killed fetch blocks nobody.
#include "data/fetch_area.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace fs = std::filesystem;

FetchArea::FetchArea(const fs::path& folder, const std::string& name) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) io::system_failure(folder.string(), "make the folder", failed.value());
  path_ = fs::absolute(folder) / (".fetch-" + name);
  while (!try_lock()) {
  }
  try {
    clear();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

/// False where the folder was removed between making and locking it, by a fetch that just ended.
bool FetchArea::try_lock() {
  if (::mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST) {
    io::system_failure(path_.string(), "make the folder", errno);
  }
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor_ < 0 && errno == ENOENT) return false;
  if (descriptor_ < 0) io::system_failure(path_.string(), "open the folder", errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw FileError(path_.string() + ": another fetch of this data set is under way");
  }
  struct stat locked {};
  struct stat named {};
  const bool same = ::fstat(descriptor_, &locked) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                    locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
  if (!same) ::close(descriptor_);
  return same;
}

void FetchArea::clear() const {
  std::error_code failed;
  for (const auto& leftover : fs::directory_iterator(path_, failed)) {
    if (!failed) fs::remove_all(leftover.path(), failed);
  }
  if (failed) io::system_failure(path_.string(), "remove what an earlier fetch left", failed.value());
}

FetchArea::~FetchArea() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(descriptor_);
}

}  // namespace mixcert::lab
