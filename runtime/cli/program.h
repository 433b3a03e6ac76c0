// The program `fibocast`: all its subcommands.
#pragma once

namespace fibocast {

// From the words of its command line to its exit code. Once in a process: it takes the standard streams.
int run_program(int argc, char** argv);

}  // namespace fibocast
