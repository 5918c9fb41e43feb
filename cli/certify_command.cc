// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert certify: a network and inputs in, mixtures with bounds out.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "command_flags.h"
#include "io/results/result_journal.h"
#include "mixcert/certify/certify.h"
#include "mixcert/certify/certify_box.h"
#include "mixcert/certify/work_estimate.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"
#include "model_flags.h"
#include "page_of_run.h"
#include "proof_output.h"
#include "report/terminal/text_report.h"
#include "run_context.h"
#include "shared_certify.h"
#include "team.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

/// Inputs whose rows are printed.
constexpr Index kShownRows = 20;

ReadLimits limits_of(const Options& options) {
  // Never above 2^62, so that the conversion is defined whatever the user says.
  return {static_cast<std::uint64_t>(std::min(options.max_memory_in_gib * 0x1.0p30, 0x1.0p62))};
}

std::string functional_assumption(const std::string& functional) {
  return "the law is that of " + functional +
         ", a sum of the network's outputs, its weights rounded to double precision";
}

RunRecord make_record(const CertifyArguments& arguments, Index outputs) {
  RunRecord record;
  record.version = version();
  std::vector<ModelRecord> models = arguments.models.records();
  if (models.size() == 1) record.model_sha256 = models.front().sha256;
  if (models.size() > 1) record.members = std::move(models);
  record.assumptions = certificate_assumptions(arguments.options);
  for (const std::string& model : arguments.models.models) {
    for (std::string& assumption : load_assumptions(model))
      record.assumptions.push_back(std::move(assumption));
  }
  const std::string& functional = arguments.models.functional;
  if (!functional.empty()) record.assumptions.push_back(functional_assumption(functional));
  record.functional = functional;
  record.seed = arguments.options.seed;
  record.command = command_line();
  record.joint = arguments.options.joint;
  record.model_files = arguments.models.models;
  record.inputs_file = arguments.models.inputs;
  record.outputs = outputs;
  for (const auto& field : option_table())
    record.options.emplace_back(field.name, field.get(arguments.options));
  return record;
}

void check_resume(const CertifyArguments& arguments) {
  require(!arguments.resume || (arguments.out && !arguments.options.joint),
          "option --resume: expected --out and inputs certified one by one");
  require(team().size() == 1 || !arguments.options.joint,
          "option --joint: one law is the work of one process; run it without mpirun");
  require(!arguments.models.box || (!arguments.resume && !arguments.proof && team().size() == 1),
          "option --box: expected one process, without --resume and --proof, which are about inputs that are "
          "known beforehand");
  require(!arguments.models.box || !arguments.out || !std::filesystem::exists(journal_of(*arguments.out)),
          "option --box: a journal of another run lies beside " + arguments.out.value_or("") +
              "; finish that run with --resume, or remove it");
}

/// What is said of long work while it begins, and how many seconds it is expected to take.
struct LongWork {
  std::string line;  ///< empty, and no seconds, where it is short
  double seconds = 0.0;
};

LongWork long_work(const Subject& subject, const Options& options) {
  // Every cell but the last ones was certified before it was split.
  const Index count = subject.box ? 2 * options.max_cells : subject.inputs.cols();
  const WorkEstimate estimate = estimate_work(subject.ensemble, options, count);
  if (!estimate.is_long(options)) return {};
  return {"mixcert: " + work_announcement(estimate, options, count), estimate.seconds};
}

/// Certifies the cells of the box; their centres become the inputs.
InputCover cover_box(Subject& subject, const Options& options) {
  const LongWork expected = long_work(subject, options);
  const DelayedLine announcement(expected.line);
  ProgressBar progress("certify", options.max_cells, expected.seconds);
  Index shown = 0;
  InputCover cover =
      certify_box(subject.ensemble, *subject.box, options, certify_services(), [&](Index cells) {
        progress.advance(cells - shown);
        shown = cells;
      });
  progress.clear();
  if (cover.is_interrupted) finish_what_was_interrupted();
  subject.inputs = cover.centres;
  return cover;
}

/// Before anything is read.
void check_arguments(const CertifyArguments& arguments) {
  arguments.options.validate();
  check_resume(arguments);
  require(!arguments.check || arguments.proof, "option --check: expected --proof, which is what is checked");
  check_outputs(arguments.models.files(), {{"--out", arguments.out},
                                           {"--json", arguments.json},
                                           {"--proof", arguments.proof},
                                           {"--report", arguments.report.report}});
}

/// What the checker says and the files that were written; throws Interrupted where that is not all of it.
void print_end(const CertifyArguments& arguments, const std::string& checked, bool is_interrupted) {
  if (!checked.empty()) std::printf("%s\n", checked.c_str());
  for (const auto& path : {arguments.out, arguments.json, arguments.proof, arguments.report.report}) {
    if (path) std::printf("wrote %s\n", path->c_str());
  }
  if (is_interrupted) throw Interrupted("interrupted; the box is covered all the same, with larger bounds");
}

std::string box_line(const Subject& subject, Index certificates) {
  if (!subject.box) return "";
  return "\nthe box in " + counted(subject.inputs.cols(), "cell") + ", by " +
         counted(certificates, "certificate") + "\n";
}

void run_certify(CertifyArguments arguments) {
  const Options wanted = arguments.options;
  check_arguments(arguments);
  const ReadLimits limits = limits_of(arguments.options);
  Subject subject = load_subject(arguments.models, limits);
  if (arguments.options.joint) subject.refuse_joint_noise();
  if (arguments.proof) arguments.options = options_with_proof(wanted, subject.ensemble.member(0));
  SharedCertify shared(subject, arguments.options, arguments.out, arguments.resume);
  if (!team().leads()) return shared.help();
  const RunRecord record = make_record(arguments, subject.ensemble.outputs());
  ResultWriter writer(arguments.out, arguments.json, record, limits);
  const PageOfRun::Clock::time_point start = PageOfRun::Clock::now();
  InputCover cover;
  if (subject.box) cover = cover_box(subject, arguments.options);
  writer.add_inputs(subject.inputs, subject.noise);
  ProofOutput proof(arguments.proof, subject, arguments.models.functional, record, wanted);
  PageOfRun page(arguments, subject, start);
  CertifyReport report(subject.ensemble, arguments.options, kShownRows, arguments.models.functional);
  const LongWork expected = subject.box ? LongWork{} : long_work(subject, arguments.options);
  const DelayedLine announcement(expected.line);
  ProgressBar progress("certify", arguments.options.joint ? 1 : subject.inputs.cols(), expected.seconds);
  const ResultSink output = [&](Result&& result) {
    writer.add(result);
    proof.add(result);
    const std::string row = report.add(result);
    if (!row.empty()) progress.print(row);
    page.add(std::move(result));
    progress.advance();
  };
  if (subject.box) {
    for (Result& result : cover.results) output(std::move(result));
  } else if (arguments.options.joint) {
    certify(subject.ensemble, subject.inputs, arguments.options, output, certify_services());
  } else {
    shared.run(record, output, [&](Index count) { progress.keep(count); });
  }
  progress.clear();
  writer.finish();
  proof.finish();
  shared.forget_journal();
  const std::string checked = arguments.check ? proof.checked(arguments.models.models.front()) : "";
  page.write(record, checked);
  const std::string end =
      box_line(subject, cover.certificates) + report.footer() + proof.footer(arguments.models.models.front());
  std::fputs(end.c_str(), stdout);
  print_end(arguments, checked, cover.is_interrupted);
}

}  // namespace

void add_certify_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("certify", "mixture and certified W2 bound at each input");
  auto arguments = std::make_shared<CertifyArguments>();
  arguments->models.add_to(*command);
  arguments->models.add_box_to(*command);
  command->add_option("--out", arguments->out, "write mixtures and bounds (.npz)")->type_name("FILE");
  command->add_option("--json", arguments->json, "write every bound and where it comes from")
      ->type_name("FILE");
  command->add_option("--proof", arguments->proof, "write what mixcert-check proves the bounds from")
      ->type_name("FILE");
  command->add_flag("--check", arguments->check, "have mixcert-check prove it; the report says so");
  command->add_flag("--resume", arguments->resume, "go on where a run with this --out was stopped");
  arguments->report.add_to(*command);
  arguments->report.add_subject_to(*command);
  add_table_options(*command, option_table(), arguments->options);
  command->footer(
      "Example:\n  mixcert certify net.safetensors --inputs x.csv --signature-size 100 --out r.npz");
  command->callback([arguments] { run_certify(*arguments); });
}

}  // namespace mixcert::cli
