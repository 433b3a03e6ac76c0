// How the participants of a daemons' group come to be nodes that reach each other without the daemons
// (Client::open_direct): each binds a socket, all tell each other its address and a part of a key by an allgather
// through the daemons, rank 0 tells the model by a multicast, and each starts an EmbeddedNode from that.
//
// The key is made of what every participant gave: nobody outside the group has it, one that gives a bad part harms
// nothing, and each call makes another. It is as secret as what the daemons send.
#pragma once

#include "runtime/client/client.h"

namespace fibocast {

// `group`: of `client`, which is not used by another thread meanwhile. Errors: Client::open_direct().
Result<Group> make_direct_group(Client& client, Group group, const Client::DirectOptions& options);

}  // namespace fibocast
