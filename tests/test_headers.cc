// Nothing: this is what CMake compiles the headers of all tests for.
