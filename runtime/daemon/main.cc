#include "runtime/daemon/program.h"

int main(int argc, char** argv) { return fibocast::run_daemon_program(argc, argv); }
