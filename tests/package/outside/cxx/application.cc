// A barrier and a sum through the daemon of FIBOCAST_SOCKET.
#include <runtime/client/client.h>

#include <iostream>
#include <vector>

int main() {
  auto client = fibocast::Client::connect();
  if (!client.ok()) return std::cerr << client.status().sentence << '\n', 1;
  auto group = client.value()->open("all");
  if (!group.ok()) return std::cerr << group.status().sentence << '\n', 1;
  const auto outcome = group.value().barrier(std::chrono::seconds(20));
  if (!outcome.ok()) return std::cerr << outcome.status.sentence << '\n', 1;
  std::cout << "passed as rank " << group.value().rank() << " of " << group.value().size() << '\n';
  const std::vector<double> mine = {42};
  const auto sum = group.value().allreduce<double>(mine, fibocast::CombineOperator::kSum);
  std::cout << "the sum is " << sum.values<double>().at(0) << '\n';
}
