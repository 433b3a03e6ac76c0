// SIGINT and SIGTERM to a command that has something to put away first: it asks now and then.
#pragma once

namespace fibocast {

// From now on; one that is ignored stays so, as in the background of a script.
void catch_interrupts();
bool is_interrupted();

}  // namespace fibocast
