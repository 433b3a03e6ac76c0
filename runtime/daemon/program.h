// The program fibocastd: one daemon per node of the cluster.
#pragma once

namespace fibocast {

// From the words of its command line to its exit code. Once in a process: it takes the signals.
int run_daemon_program(int argc, char** argv);

}  // namespace fibocast
