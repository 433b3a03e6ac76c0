// The hot paths in time, for profiles; what CI watches are their instructions: instructions_test.py.
#include <benchmark/benchmark.h>

#include "tests/bench/hot_paths.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const fibocast::HotPath& path : fibocast::hot_paths())
    benchmark::RegisterBenchmark(path.name.c_str(), [once = path.once](benchmark::State& state) {
      for (auto _ : state) once();
    });
  benchmark::RunSpecifiedBenchmarks();
}
