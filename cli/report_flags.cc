// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The flags of HTML reports.
#include "report_flags.h"

#include <fmt/format.h>

#include <sstream>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/io/model_file.h"

namespace mixcert::cli {
namespace {

constexpr Index kMaxSide = 4096;

LayerShape parse_image(const std::string& text) {
  std::vector<Index> sides;
  std::istringstream stream(text + "x");
  for (std::string word; std::getline(stream, word, 'x');) {
    const auto side = parse_number<Index>(word);
    sides.push_back(side && *side >= 1 && *side <= kMaxSide ? *side : 0);
  }
  const bool good = (sides.size() == 2 || (sides.size() == 3 && (sides[2] == 1 || sides[2] == 3))) &&
                    sides[0] > 0 && sides[1] > 0;
  if (!good) bad_option("image", "height x width, or height x width x channels (1 or 3), as in 28x28", text);
  return {sides.size() == 3 ? sides[2] : 1, {sides[0], sides[1]}, true};
}

bool can_be_shown(const LayerShape& shape) {
  return shape.is_image && (shape.channels == 1 || shape.channels == 3);
}

}  // namespace

void ReportFlags::add_to(CLI::App& command) {
  command.add_option("--report", report, "write a report to read in a browser (.html)")->type_name("FILE");
}

void ReportFlags::add_subject_to(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--image", [this](const std::string& text) { image = parse_image(text); },
          "the report shows inputs as pictures of this size")
      ->type_name("HxW[xC]");
  command.add_flag("--classes", classes, "outputs are logits: ranges of class probabilities")
      ->disable_flag_override();
}

std::optional<LayerShape> ReportFlags::image_of(const std::string& model, Index features) const {
  if (image) {
    require(image->size() == features,
            fmt::format("option --image: expected {} values as the inputs have, got {}", features,
                        to_string(*image)));
    return image;
  }
  const LayerShape shape = input_shape(load_layers(model));
  return can_be_shown(shape) && shape.size() == features ? std::optional(shape) : std::nullopt;
}

ReportFile::ReportFile(const ReportFlags& flags) {
  if (flags.report) file_.emplace(*flags.report);
}

void ReportFile::write(const page::Page& page) {
  if (!file_) return;
  file_->write(page::write_page(page));
  file_->commit();
}

}  // namespace mixcert::cli
