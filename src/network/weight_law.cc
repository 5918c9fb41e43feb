// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What is known of each family of laws, one record each: a family without its record, and a record without
// one of its fields, do not compile. What is computed with a law (pushes, moments, powers of two) is a
// visitor in the source of that operation.
#include "mixcert/network/weight_law.h"

#include "core/given.h"

namespace mixcert {
namespace {

struct WeightRecord {
  Given<std::string_view> name;
  Given<bool> is_deterministic;
  Given<const Matrix*> independent_variances;
  Given<EntryLaw> entry_law;
  Given<Index> factor_count;
  Given<Index> common_factor_count;
  Given<bool> includes_bias;
};

WeightRecord record_of(const DeterministicWeights& /*law*/) {
  return {.name = "deterministic",
          .is_deterministic = true,
          .independent_variances = nullptr,
          .entry_law = EntryLaw(),
          .factor_count = 0,
          .common_factor_count = 0,
          .includes_bias = false};
}

WeightRecord record_of(const MeanFieldWeights& law) {
  return {.name = "mean-field",
          .is_deterministic = false,
          .independent_variances = &law.variance,
          .entry_law = law.law,
          .factor_count = 0,
          .common_factor_count = 0,
          .includes_bias = false};
}

/// Correlated and Gaussian.
WeightRecord correlated(std::string_view name, bool includes_bias) {
  return {.name = name,
          .is_deterministic = false,
          .independent_variances = nullptr,
          .entry_law = EntryLaw(),
          .factor_count = 0,
          .common_factor_count = 0,
          .includes_bias = includes_bias};
}

WeightRecord record_of(const KroneckerWeights& /*law*/) { return correlated("kronecker", false); }

WeightRecord record_of(const KroneckerEigenbasisWeights& /*law*/) {
  return correlated("kronecker-eigenbasis", false);
}

WeightRecord record_of(const LowRankWeights& law) {
  WeightRecord record = correlated("diagonal-plus-low-rank", false);
  record.factor_count = static_cast<Index>(law.factor.size());
  if (law.is_common) {
    record.name = "common-factor";
    record.common_factor_count = record.factor_count;
  }
  return record;
}

WeightRecord record_of(const FullWeights& /*law*/) { return correlated("full", false); }

WeightRecord record_of(const JointWeights& /*law*/) { return correlated("full-with-bias", true); }

WeightRecord record_of(const SharedWeights& /*law*/) { return correlated("shared", false); }

struct BiasRecord {
  Given<std::string_view> name;
  Given<bool> is_deterministic;
  Given<const Vector*> independent_variances;
  Given<EntryLaw> entry_law;
};

BiasRecord record_of(const DeterministicBias& /*law*/) {
  return {.name = "deterministic",
          .is_deterministic = true,
          .independent_variances = nullptr,
          .entry_law = EntryLaw()};
}

BiasRecord record_of(const IndependentBias& law) {
  return {.name = "independent",
          .is_deterministic = false,
          .independent_variances = &law.variance,
          .entry_law = law.law};
}

BiasRecord record_of(const CorrelatedBias& /*law*/) {
  return {.name = "correlated",
          .is_deterministic = false,
          .independent_variances = nullptr,
          .entry_law = EntryLaw()};
}

WeightRecord record(const WeightCovariance& law) {
  return std::visit([](const auto& family) { return record_of(family); }, law);
}

BiasRecord record(const BiasCovariance& law) {
  return std::visit([](const auto& family) { return record_of(family); }, law);
}

}  // namespace

std::string_view family_name(const WeightCovariance& law) { return record(law).name.get(); }
std::string_view family_name(const BiasCovariance& law) { return record(law).name.get(); }

bool is_deterministic(const WeightCovariance& law) { return record(law).is_deterministic; }
bool is_deterministic(const BiasCovariance& law) { return record(law).is_deterministic; }

const Matrix* independent_variances(const WeightCovariance& law) { return record(law).independent_variances; }
const Vector* independent_variances(const BiasCovariance& law) { return record(law).independent_variances; }

EntryLaw entry_law(const WeightCovariance& law) { return record(law).entry_law.get(); }
EntryLaw entry_law(const BiasCovariance& law) { return record(law).entry_law.get(); }

Index factor_count(const WeightCovariance& law) { return record(law).factor_count; }
Index common_factor_count(const WeightCovariance& law) { return record(law).common_factor_count; }
bool includes_bias(const WeightCovariance& law) { return record(law).includes_bias; }

}  // namespace mixcert
