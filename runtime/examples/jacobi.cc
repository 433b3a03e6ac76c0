// Heat in a square plate by Jacobi's method, its rows shared out among all nodes: neighbours send each other the rows
// at their common border, an allreduce finds the largest change, and a barrier ends the step.
//
//   fibocast up -n 8; fibocast run -- build/release/bin/examples/jacobi [SIZE [STEPS]]
//
// Every cell, the largest change and the checksum are the same bits on any number of nodes, and in jacobi.py: a maximum
// does not depend on the order, and the checksum goes from rank to rank, so that it is added row by row.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "runtime/examples/example.h"

namespace {

using namespace fibocast;
using example::check;
using example::checked;
using example::kDeadline;

using Row = std::vector<double>;

constexpr double kTolerance = 1e-6;
enum Tag : std::uint64_t { kFromAbove = 1, kFromBelow = 2, kChecksum = 3 };

// The rows of one rank, with one more above and below: the neighbours' or the edge of the plate.
struct Part {
  std::vector<Row> rows;

  Part(std::size_t size, Rank rank, Rank ranks) {
    const std::size_t first = size * rank / ranks, end = size * (rank + 1) / ranks;
    rows.assign(end - first + 2, Row(size + 2, 0.0));
    if (rank == 0) rows.front().assign(size + 2, 1.0);  // the hot edge
  }
};

void send_row(Client& client, Rank to, Tag tag, const Row& row) {
  check(client.send(to, tag, std::as_bytes(std::span(row)), kDeadline));
}

Row receive_row(Client& client, Tag tag, std::size_t length) {
  const Received received = client.receive(tag, kDeadline);
  check(received.status);
  if (received.bytes.size() != length * sizeof(double)) throw std::runtime_error("a neighbour has another SIZE");
  Row row(length);
  std::memcpy(row.data(), received.bytes.data(), received.bytes.size());
  return row;
}

void exchange_borders(Client& client, const Group& group, Part& part) {
  const Rank me = group.rank();
  const bool has_above = me > 0, has_below = me + 1 < group.size();
  const std::size_t length = part.rows.front().size();
  if (has_above) send_row(client, me - 1, kFromBelow, part.rows[1]);
  if (has_below) send_row(client, me + 1, kFromAbove, part.rows[part.rows.size() - 2]);
  if (has_above) part.rows.front() = receive_row(client, kFromAbove, length);
  if (has_below) part.rows.back() = receive_row(client, kFromBelow, length);
}

// One step; the largest change of a cell here.
double relax(Part& part) {
  double largest = 0;
  const std::vector<Row> old = part.rows;
  for (std::size_t i = 1; i + 1 < old.size(); ++i)
    for (std::size_t j = 1; j + 1 < old[i].size(); ++j) {
      const double value = 0.25 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]);
      largest = std::max(largest, std::fabs(value - old[i][j]));
      part.rows[i][j] = value;
    }
  return largest;
}

// The sum of all cells, at every rank: each adds its rows to the sum of those above.
double checksum(Client& client, Group& group, const Part& part) {
  const Rank me = group.rank(), last = group.size() - 1;
  Row sum = me > 0 ? receive_row(client, kChecksum, 1) : Row{0.0};
  for (std::size_t i = 1; i + 1 < part.rows.size(); ++i)
    for (std::size_t j = 1; j + 1 < part.rows[i].size(); ++j) sum[0] += part.rows[i][j];
  if (me < last) send_row(client, me + 1, kChecksum, sum);
  const std::span<const std::byte> mine = std::as_bytes(std::span(sum));
  const Outcome told = checked(group.multicast(last, me == last ? mine : mine.first(0), kDeadline));
  return me == last ? sum[0] : told.values<double>().at(0);
}

void solve(Client& client, Group& group, std::size_t size, int steps) {
  Part part(size, group.rank(), group.size());
  double residual = 1;
  int step = 0;
  while (step < steps && residual >= kTolerance) {
    exchange_borders(client, group, part);
    const double mine = relax(part);
    const Outcome largest = checked(group.allreduce<double>(std::span(&mine, 1), CombineOperator::kMax, kDeadline));
    residual = largest.values<double>().at(0);
    OperationOptions options;
    options.label = "step " + std::to_string(++step);
    checked(group.barrier(kDeadline, options));
  }
  const double sum = checksum(client, group, part);
  if (group.rank() == 0) std::printf("steps %d residual %.17g checksum %.17g\n", step, residual, sum);
}

int number(int argc, char** argv, int place, int otherwise) {
  const int value = argc > place ? std::atoi(argv[place]) : otherwise;
  if (value < 1 || value > 10'000) throw std::runtime_error("SIZE and STEPS are numbers from 1 to 10000");
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run("jacobi", [&](Client& client, Group& group) {
    solve(client, group, static_cast<std::size_t>(number(argc, argv, 1, 64)), number(argc, argv, 2, 200));
  });
}
