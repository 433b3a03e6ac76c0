#include "tests/end_to_end/parted_network.h"

#include <unistd.h>

namespace fibocast {

PartedNetwork::PartedNetwork(const TestCluster& folder, NodeId nodes, NodeId in_a)
    : folder_(folder), in_a_(in_a), name_("fibocast-" + std::to_string(getpid())) {
  std::string script;
  for (const char* side : {"a", "b", "c"}) script += "ip netns add " + name_ + "-" + side + "\n";
  script += in("c") + "link add br0 type bridge\n" + in("c") + "link set br0 up\n";
  for (const char* side : {"a", "b"}) {
    const std::string port = std::string("to-") + side;
    script += in("c") + "link add " + port + " type veth peer name eth0 netns " + name_ + "-" + side + "\n";
    script += in("c") + "link set " + port + " master br0 up\n";
    script += in(side) + "link set lo up\n" + in(side) + "link set eth0 up\n";
  }
  for (NodeId node = 0; node < nodes; ++node)
    script += in(side_of(node)) + "address add " + host(node) + "/16 dev eth0\n";
  made_ = run(script);
}

PartedNetwork::~PartedNetwork() {
  for (const char* side : {"a", "b", "c"}) run("ip netns delete " + name_ + "-" + side);
}

void PartedNetwork::part() const { run(in("c") + "link set to-b nomaster"); }

void PartedNetwork::join() const { run(in("c") + "link set to-b master br0"); }

Ended PartedNetwork::run(const std::string& script) const {
  return Running({"sh", "-ec", script}, {}, folder_.file("")).wait();
}

}  // namespace fibocast
