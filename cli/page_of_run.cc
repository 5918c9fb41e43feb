// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "page_of_run.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/core/parallel.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

/// Results whose classes are found at the same time: they take longer than certifying.
constexpr std::size_t kTogether = 64;
/// Of the mixture, for the classes of one result.
constexpr Index kSamples = 20000;

/// What the HTML report says of the run.
page::RunFacts make_facts(const CertifyArguments& arguments, const RunRecord& record,
                          const Ensemble& ensemble) {
  page::RunFacts facts;
  facts.version = record.version;
  facts.command = record.command;
  facts.seed = record.seed;
  facts.architecture = page::architecture_words(ensemble);
  const std::vector<ModelRecord> models = arguments.models.records();
  for (std::size_t i = 0; i < models.size(); ++i) {
    facts.models.push_back({arguments.models.models[i], models[i].sha256, models[i].weight});
  }
  facts.options = record.options;
  facts.assumptions = record.assumptions;
  return facts;
}

}  // namespace

PageOfRun::PageOfRun(const CertifyArguments& arguments, const Subject& subject, Clock::time_point start)
    : arguments_(arguments), subject_(subject), file_(arguments.report), start_(start) {
  const ReportFlags& flags = arguments.report;
  require(file_.wanted() || (!flags.classes && !flags.image),
          "options --classes and --image: expected --report, in which they show");
  if (!file_.wanted()) return;
  require(!flags.classes || (!arguments.options.joint && subject.ensemble.outputs() > 1),
          "option --classes: expected two outputs or more at single inputs");
  collector_.emplace(subject.ensemble, arguments.options, subject.inputs,
                     arguments.report.image_of(arguments.models.models.front(), subject.inputs.rows()));
}

void PageOfRun::add(Result&& result) {
  if (!collector_) return;
  waiting_.push_back(std::move(result));
  if (waiting_.size() >= kTogether) add_waiting();
}

void PageOfRun::write(const RunRecord& record, const std::string& checked) {
  if (!collector_) return;
  add_waiting();
  page::CertifyContents contents = collector_->finish();
  contents.run = make_facts(arguments_, record, subject_.ensemble);
  contents.run.checked = checked;
  contents.run.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const ModelFlags& models = arguments_.models;
  contents.inputs_file = models.box ? "the box " + *models.box : models.inputs;
  file_.write(page::certify_page(contents));
}

void PageOfRun::add_waiting() {
  std::vector<std::optional<ClassAnswer>> classes(waiting_.size());
  if (arguments_.report.classes) {
    IntegrationOptions integration;
    integration.samples = kSamples;
    integration.seed = arguments_.options.seed;
    parallel_for(
        static_cast<Index>(waiting_.size()), arguments_.options.threads,
        [&](Index i) {
          const Result& result = waiting_[static_cast<std::size_t>(i)];
          classes[static_cast<std::size_t>(i)] =
              class_answer(CertifiedLaw(result), integration, static_cast<std::uint64_t>(result.input));
        },
        &cancel_flag());
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i) collector_->add(waiting_[i], std::move(classes[i]));
  waiting_.clear();
}

}  // namespace mixcert::cli
