#include "runtime/cli/program.h"

int main(int argc, char** argv) { return fibocast::run_program(argc, argv); }
