// The inputs that were kept (corpus/TARGET/*), and changes of them that a seed decides: what CI runs of the fuzzing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "firmware_sim/random.h"
#include "tests/fuzz/targets.h"

namespace fibocast::fuzz {
namespace {

using Text = std::vector<std::byte>;

struct Target {
  const char* name;
  void (*function)(Bytes);
  int changes;  // of the kept inputs, in one run
};

class Fuzz : public testing::TestWithParam<Target> {};

std::vector<Text> kept_inputs(const std::string& target) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FIBOCAST_SOURCE_DIR "/tests/fuzz/corpus/" + target))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Text> inputs;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto bytes = std::as_bytes(std::span(text));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

// A few bytes written over, some cut out, or another input behind it.
void change(Text& input, const std::vector<Text>& inputs, Random& random) {
  for (std::uint64_t k = 1 + random.below(4); k > 0 && !input.empty(); --k)
    input[random.below(input.size())] = static_cast<std::byte>(random.below(256));
  if (random.below(4) == 0) input.resize(random.below(input.size() + 1));
  if (random.below(4) == 0) {
    const Text& other = inputs[random.below(inputs.size())];
    input.insert(input.end(), other.begin(), other.end());
  }
}

TEST_P(Fuzz, KeptInputsAndChangesOfThem) {
  const std::vector<Text> inputs = kept_inputs(GetParam().name);
  ASSERT_FALSE(inputs.empty());
  for (const Text& input : inputs) GetParam().function(input);
  Random random(1);
  for (int k = 0; k < GetParam().changes; ++k) {
    Text input = inputs[random.below(inputs.size())];
    change(input, inputs, random);
    GetParam().function(input);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, Fuzz,
    testing::Values(Target{"frame", fuzz_frame, 20'000}, Target{"fan_out", fuzz_fan_out, 20'000},
                    Target{"channel", fuzz_channel, 5'000}, Target{"peer_message", fuzz_peer_message, 20'000},
                    Target{"node", fuzz_node, 2'000}, Target{"client", fuzz_client, 2'000},
                    Target{"client_request", fuzz_client_request, 2'000}, Target{"discovery", fuzz_discovery, 5'000},
                    Target{"settings", fuzz_settings, 500}, Target{"machine", fuzz_machine, 2'000},
                    Target{"trees", fuzz_trees, 1'000}, Target{"schedule", fuzz_schedule, 1'000},
                    Target{"seal", fuzz_seal, 500}, Target{"seal_datagram", fuzz_seal_datagram, 500},
                    Target{"keys", fuzz_keys, 500}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fibocast::fuzz
