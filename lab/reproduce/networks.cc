// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// networks: trains every network of the catalogue that is missing, and lists all of them with the command
// that makes each.
#include "reproduce/subject.h"

namespace mixcert::lab {

Outcome trained_networks(const Context& context) {
  Outcome outcome;
  outcome.remarks = {
      "Networks that the other experiments use. Their schedules and scores: docs/training.md."};
  ResultTable table{"networks", "Networks", {}, {}, {}};
  table.columns = {{"name", ColumnKind::Label},
                   {"data set", ColumnKind::Label},
                   {"network", ColumnKind::Label},
                   {"mixcert train", ColumnKind::Remark},
                   {"remark", ColumnKind::Remark}};
  for (const NetworkSpec& spec : network_catalogue()) {
    const Subject subject = prepare_subject(context, spec, 1);
    if (!subject.is_there() && !subject.for_ever) outcome.complete = false;
    const std::string remark = subject.is_there() ? spec.remark : "not there: " + subject.gap;
    table.rows.push_back(
        {{spec.name, spec.title, spec.label, "--data " + spec.set + " " + spec.training, remark},
         subject.is_there() ? subject.origin(context, {context.command("networks")})
                            : RowOrigin{{context.command("networks")}, "", "", context.options.seed}});
  }
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab
