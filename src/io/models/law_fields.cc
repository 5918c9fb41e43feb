// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Shapes of independent weights by name.
#include "io/models/law_fields.h"

#include <map>
#include <string>

#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

/// The one shape of the layer's independent parameters.
EntryLaw common_law(const DenseLayer& layer) {
  if (independent_variances(layer.weights()) == nullptr) return entry_law(layer.bias());
  const EntryLaw weights = entry_law(layer.weights());
  if (independent_variances(layer.bias()) == nullptr) return weights;
  const EntryLaw bias = entry_law(layer.bias());
  require(bias.family() == weights.family() && bias.degrees() == weights.degrees(),
          "layer '" + layer.name() + "': a file gives weights and bias one law, got " + weights.name() +
              " and " + bias.name());
  return weights;
}

}  // namespace

EntryLaw read_law(const EntryFields& fields) {
  static const std::map<std::string, EntryLaw::Family> families = {{"laplace", EntryLaw::Family::Laplace},
                                                                   {"uniform", EntryLaw::Family::Uniform},
                                                                   {"student_t", EntryLaw::Family::StudentT}};
  const std::string name = fields.text("law");
  const auto found = families.find(name);
  if (found == families.end()) fields.bad("law", "laplace, uniform or student_t", in_quotes(name));
  const bool student = found->second == EntryLaw::Family::StudentT;
  if (fields.has("degrees") && !student)
    fields.bad("degrees", "them for student_t only", "them for " + in_quotes(name));
  return student ? EntryLaw(found->second, fields.number("degrees")) : EntryLaw(found->second);
}

void write_law(const DenseLayer& layer, nlohmann::ordered_json& entry) {
  const EntryLaw law = common_law(layer);
  if (law.is_normal()) return;
  const bool student = law.family() == EntryLaw::Family::StudentT;
  entry["law"] = student ? "student_t" : law.name();
  if (student) entry["degrees"] = law.degrees();
}

}  // namespace mixcert::io
