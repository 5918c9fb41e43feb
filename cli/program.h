// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The program mixcert, whoever starts it.
#pragma once

namespace mixcert::cli {

/// Parses and runs one command; the exit code.
int run_mixcert(int argc, char** argv);

/// Was this process started as one of several by mpirun, srun or the like? Its place among them; -1: no.
int place_among_processes();
/// Becomes mixcert-mpi, found beside this program. Returns only where that failed: the first process says so
/// in one line; the exit code.
int hand_over_to_mpi(char** argv);

}  // namespace mixcert::cli
