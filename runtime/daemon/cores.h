// The processors of this host as a thread sees them: those that its affinity allows.
#pragma once

namespace fibocast::cores {

// Of the host; 1 if it does not tell.
unsigned count();

// Both move the calling thread, whose affinity is afterwards what it was: from there on the kernel may move it again.
// Where the system does not allow that the thread stays where it is.
void move_to_another();
// To the `index`th, from 0, of those that it may use; beyond the last they are counted anew. False: it was there.
bool move_to(unsigned index);

}  // namespace fibocast::cores
