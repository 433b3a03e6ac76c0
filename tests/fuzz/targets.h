// What is fuzzed: everything that reads bytes which somebody else wrote. Each target takes any bytes; it ends the
// program, or a sanitizer does, if something is wrong. The same function runs under libFuzzer (./dev fuzz) and, with
// the kept inputs and changes of them, as a unit test (fuzz_test.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fibocast::fuzz {

using Bytes = std::span<const std::byte>;

void fuzz_frame(Bytes input);           // transport/frame.h: decode, and what was decoded is encoded to the same bytes
void fuzz_fan_out(Bytes input);         // transport/fan_out_datagram.h: frames for several nodes, and answers
void fuzz_channel(Bytes input);         // the reliable channel and its handshake, frame by frame
void fuzz_peer_message(Bytes input);    // runtime/node/peer_message.h, both ways
void fuzz_node(Bytes input);            // a node whose peer says what it likes, in order
void fuzz_client(Bytes input);          // a daemon's local socket: a client writes these bytes
void fuzz_client_request(Bytes input);  // the same, each piece in a right frame
void fuzz_discovery(Bytes input);       // the datagrams by which daemons find their ranks
void fuzz_settings(Bytes input);        // a daemon's settings file, with the [model] that `plan` and `calibrate` share
void fuzz_machine(Bytes input);         // a simulated machine's file, and a file of faults
void fuzz_trees(Bytes input);           // the files of --tree file:PATH and --nodes FILE
void fuzz_schedule(Bytes input);        // schedules as text
void fuzz_seal(Bytes input);            // sealing, on a wire that does what it likes
void fuzz_seal_datagram(Bytes input);   // sealing, when somebody sends these datagrams
void fuzz_keys(Bytes input);            // a key file, and a sealed datagram of discovery

}  // namespace fibocast::fuzz
