// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// --report FILE of the commands that can write an HTML report, and what it needs to know beside the run
// itself.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "io/files/atomic_file.h"
#include "mixcert/network/layer_spec.h"
#include "report/pages/page_document.h"

namespace mixcert::cli {

struct ReportFlags {
  std::optional<std::string> report;
  std::optional<LayerShape> image;  ///< as --image says
  bool classes = false;             ///< outputs are logits

  void add_to(CLI::App& command);
  /// --image and --classes, for commands whose networks may classify pictures.
  void add_subject_to(CLI::App& command);
  /// Shape of the inputs where they are pictures that can be shown: --image, or the shape that the first
  /// model begins with. Throws InvalidArgument where --image does not fit `features`.
  [[nodiscard]] std::optional<LayerShape> image_of(const std::string& model, Index features) const;
};

/// A report that is being made: the file is opened before the work, so that a directory that cannot be
/// written is found then.
class ReportFile {
 public:
  explicit ReportFile(const ReportFlags& flags);
  [[nodiscard]] bool wanted() const { return file_.has_value(); }
  void write(const page::Page& page);

 private:
  std::optional<AtomicFile> file_;
};

}  // namespace mixcert::cli
