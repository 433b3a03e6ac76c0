// Open MPI and MPICH: their collective operations as they are. Rank and n are MPI's own. Variant "barrier": that only,
// where nothing else is another algorithm than its default.
#include <mpi.h>

#include <iostream>
#include <memory>

#include "tests/bench/peers/way.h"

namespace fibocast::peers {
namespace {

class Mpi final : public Way {
 public:
  explicit Mpi(bool barrier_only) : barrier_only_(barrier_only) {}
  double allreduce(double value) override {
    double sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  void multicast(std::span<std::byte> bytes) override {
    MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  bool has_allreduce() const override { return !barrier_only_; }
  bool has_multicast() const override { return !barrier_only_; }

 private:
  bool barrier_only_;
};

}  // namespace
}  // namespace fibocast::peers

int main(int argc, char** argv) {
  using namespace fibocast::peers;
  MPI_Init(&argc, &argv);
  int rank = 0, n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  try {
    Place place = read_place(argc, argv);
    place.rank = static_cast<std::uint32_t>(rank), place.n = static_cast<std::uint32_t>(n);
    Mpi mpi(place.variant == "barrier");
    measure(mpi, place);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
