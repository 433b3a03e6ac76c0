// The library for C, and for languages that call C.
//
//   fibocast_participant *me = NULL;
//   fibocast_group *all = NULL;
//   if (fibocast_connect(NULL, &me) || fibocast_open(me, "all", &all)) die(fibocast_last_sentence());
//   if (fibocast_barrier(all, NULL, NULL)) die(fibocast_last_sentence());    // names the ranks that are missing
//   fibocast_leave(all);
//   fibocast_close(me);
//
// Every function that can fail returns a code: 0 is success. What it means in this case is said by
// fibocast_last_sentence() and fibocast_last_ranks(), each thread having its own last failure. What cannot be (NULL
// where a handle belongs, an unknown algorithm, bytes that are no whole elements, more of them than the node has memory
// for) is FIBOCAST_INVALID before anything is sent. Such a call of an operation counts for nothing: the next one is
// made in its place. Where the other ranks were not refused, repeat it as it should be; with another call instead this
// rank would be one behind them from then on. All other calls count, however they end. The library starts no thread
// that calls the application.
//
// Thread rule: one call at a time for each participant that fibocast_connect() made, and for its groups; a node of
// fibocast_start_node() may be called from several threads, each with groups of its own.
//
// Ownership: handles belong to the caller until fibocast_leave() and fibocast_close(). Results (fibocast_bytes) belong
// to the group that gave them and stay valid until its next call, or its end; for those of a participant see
// fibocast_receive().
//
// Structs begin with their size, so that they may grow: `fibocast_options options = {.struct_size = sizeof options};`.
// Members that are 0 mean the default.
#pragma once

// NOLINTBEGIN(readability-identifier-naming,modernize-*): the names and the ways of C

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FIBOCAST_API __attribute__((visibility("default")))

// A client of the daemon of this host, or a node in this process.
typedef struct fibocast_participant fibocast_participant;
// A group as one participant calls it: all participants make the same calls in the same order.
typedef struct fibocast_group fibocast_group;

typedef enum fibocast_code {
  FIBOCAST_OK = 0,
  FIBOCAST_FAILED = 1,
  FIBOCAST_INVALID = 2,            // wrong use: unknown group, bad rank, too large, bad name
  FIBOCAST_DEADLINE_EXCEEDED = 3,  // the last ranks had not arrived
  FIBOCAST_PEER_LOST = 4,          // the last ranks are gone
  FIBOCAST_UNAVAILABLE = 5,        // no daemon reachable
  FIBOCAST_REFUSED = 6,            // not authenticated, or settings differ
  FIBOCAST_CANCELLED = 7,
  FIBOCAST_MISMATCH = 8,  // members called different operations in one generation
  FIBOCAST_STALE = 9,     // the operation ended longer ago than the node remembers
  FIBOCAST_WOULD_BLOCK = 10,
  FIBOCAST_PARTITIONED = 11  // cut off from the majority of the group
} fibocast_code;

typedef enum fibocast_type {
  FIBOCAST_BYTES = 0,
  FIBOCAST_INT32 = 1,
  FIBOCAST_INT64 = 2,
  FIBOCAST_UINT64 = 3,
  FIBOCAST_FLOAT = 4,
  FIBOCAST_DOUBLE = 5
} fibocast_type;

// AND, OR and XOR are for integers.
typedef enum fibocast_operator {
  FIBOCAST_NONE = 0,  // of a conquer whose shares do not overlap
  FIBOCAST_MIN = 1,
  FIBOCAST_MAX = 2,
  FIBOCAST_SUM = 3,
  FIBOCAST_PROD = 4,
  FIBOCAST_AND = 5,
  FIBOCAST_OR = 6,
  FIBOCAST_XOR = 7
} fibocast_operator;

typedef struct fibocast_bytes {
  const void* data;  // aligned for every element type; NULL only if size is 0
  size_t size;
} fibocast_bytes;

// What few callers need to say about an operation; NULL stands for the defaults.
typedef struct fibocast_options {
  size_t struct_size;
  int64_t deadline_ns;    // from now; 0: the node's default, 30 s unless its settings say otherwise
  const char* algorithm;  // of `fibocast plan schedule`: ring, fibo, kary:4 ...; NULL: what the group plans
  const char* label;      // appears in the sentences of failures; NULL: none
} fibocast_options;

// ---- failures

// "OK", "DEADLINE_EXCEEDED" ...; a literal.
FIBOCAST_API const char* fibocast_code_name(fibocast_code code);
// The exit code of a program that ended so, as those of the command `fibocast`: 0 to 6.
FIBOCAST_API int fibocast_exit_code(fibocast_code code);
// Why this thread's last call that failed did so; "" before. Valid until the thread's next call that fails.
FIBOCAST_API const char* fibocast_last_sentence(void);
// The ranks concerned: writes the first `room` of them to `ranks` and returns how many there are.
FIBOCAST_API size_t fibocast_last_ranks(uint32_t* ranks, size_t room);
// "0.1.0"; a literal.
FIBOCAST_API const char* fibocast_version(void);

// ---- participants

// A client of the daemon at `socket_path`; NULL: at that of the environment variable FIBOCAST_SOCKET.
// FIBOCAST_UNAVAILABLE: nobody listens there; FIBOCAST_REFUSED: the daemon speaks another version.
FIBOCAST_API fibocast_code fibocast_connect(const char* socket_path, fibocast_participant** participant);

typedef struct fibocast_node_options {
  size_t struct_size;
  uint32_t rank;
  uint32_t node_count;
  const char* const* nodes;  // node_count times host:port; rank = position; the same at all nodes
  const char* cluster;       // NULL: "fibocast"
  const char* key_file;      // NULL: none, and then all nodes are on this host unless `insecure`
  int insecure;              // whoever reaches the node can read all and take part
  int tcp;                   // else UDP
} fibocast_node_options;
// A node of the cluster in this process; no daemon is needed. FIBOCAST_INVALID: the options are wrong, or the port is
// in use.
FIBOCAST_API fibocast_code fibocast_start_node(const fibocast_node_options* options,
                                               fibocast_participant** participant);
// Frees the handle; the participant's groups go on. Its connection or node ends when the last of them has been left, so
// leave them first where that matters. NULL does nothing.
FIBOCAST_API void fibocast_close(fibocast_participant* participant);

FIBOCAST_API uint32_t fibocast_node_rank(const fibocast_participant* participant);
FIBOCAST_API uint32_t fibocast_node_count(const fibocast_participant* participant);

// ---- groups

// Becomes a participant of the group. "all", and every name nobody has created, is the group of all nodes.
FIBOCAST_API fibocast_code fibocast_open(fibocast_participant* participant, const char* name, fibocast_group** group);

typedef struct fibocast_direct_options {
  size_t struct_size;
  int64_t deadline_ns;  // for all members to have called; 0: the node's default
  const char* host;     // where the others reach this process; NULL: where they reach its daemon
  const char* local;    // "auto" (or NULL), "off" or a folder: cluster.local of the settings
} fibocast_direct_options;
// As fibocast_open(), but its operations pass no daemon: each participant starts a node of its own, and the daemons
// only let them find each other. Every member calls it as its next operation in this group; `options` may be NULL. Who
// is lost cannot come back to it: then all call again. For participants of fibocast_connect(). FIBOCAST_REFUSED: the
// cluster goes over TCP, or its daemons are of an earlier version. The node ends with fibocast_leave().
FIBOCAST_API fibocast_code fibocast_open_direct(fibocast_participant* participant, const char* name,
                                                const fibocast_direct_options* options, fibocast_group** group);
// Frees the handle; the group stays. NULL does nothing.
FIBOCAST_API void fibocast_leave(fibocast_group* group);
FIBOCAST_API uint32_t fibocast_rank(const fibocast_group* group);  // 0 .. fibocast_size() - 1
FIBOCAST_API uint32_t fibocast_size(const fibocast_group* group);

// Creates the group of these nodes, whose ranks in it ascend as they do in the cluster: once, by one of its members.
// `policy`: "all" (or NULL), "survivors", "quorum:K". FIBOCAST_REFUSED names the ranks that refuse it.
FIBOCAST_API fibocast_code fibocast_create_group(fibocast_participant* participant, const char* name,
                                                 const uint32_t* nodes, size_t node_count, const char* policy);
// As fibocast_create_group(), but one of this name that is like it, but for its trees, is as good, and who is refused
// tries again for up to 10 s: all members may call it at a time.
FIBOCAST_API fibocast_code fibocast_create_group_if_missing(fibocast_participant* participant, const char* name,
                                                            const uint32_t* nodes, size_t node_count,
                                                            const char* policy);
// Leave its handles first: afterwards the name, and so they, stand for all nodes.
FIBOCAST_API fibocast_code fibocast_remove_group(fibocast_participant* participant, const char* name);

// ---- operations: each ends with the right result or with a code, and leaves the group usable. `options` may be NULL
// everywhere. `result` may be NULL where the caller wants none.

typedef struct fibocast_straggler {
  uint32_t rank;  // who came last; UINT32_MAX: not known
  int64_t late_ns;
} fibocast_straggler;

// Returns when every participant has called. `straggler` may be NULL.
FIBOCAST_API fibocast_code fibocast_barrier(fibocast_group* group, const fibocast_options* options,
                                            fibocast_straggler* straggler);
// The root gives bytes, the others (NULL, 0), and get them in `result`; that of the root is empty. The root does not
// wait until the others have them.
FIBOCAST_API fibocast_code fibocast_multicast(fibocast_group* group, uint32_t root, const void* data, size_t size,
                                              const fibocast_options* options, fibocast_bytes* result);
// Every rank gives a vector of `count` elements; the root gets them combined, the others nothing.
FIBOCAST_API fibocast_code fibocast_reduce(fibocast_group* group, uint32_t root, const void* vector, size_t count,
                                           fibocast_type type, fibocast_operator op, const fibocast_options* options,
                                           fibocast_bytes* result);
// ... everybody gets them combined; floats have the same bits at every rank, every time.
FIBOCAST_API fibocast_code fibocast_allreduce(fibocast_group* group, const void* vector, size_t count,
                                              fibocast_type type, fibocast_operator op, const fibocast_options* options,
                                              fibocast_bytes* result);
// An operator of the application's own: combines `right` into `left`, both whole vectors of `size` bytes. Associative;
// need not commute. Called in the calling thread, inside the operation, in the order of the ranks.
typedef void (*fibocast_combine)(void* left, const void* right, size_t size, void* context);
FIBOCAST_API fibocast_code fibocast_reduce_with(fibocast_group* group, uint32_t root, const void* vector, size_t size,
                                                fibocast_combine combine, void* context,
                                                const fibocast_options* options, fibocast_bytes* result);
FIBOCAST_API fibocast_code fibocast_allreduce_with(fibocast_group* group, const void* vector, size_t size,
                                                   fibocast_combine combine, void* context,
                                                   const fibocast_options* options, fibocast_bytes* result);
// The root gives fibocast_size() blocks of equal length, the others (NULL, 0); each rank gets its block.
FIBOCAST_API fibocast_code fibocast_scatter(fibocast_group* group, uint32_t root, const void* blocks, size_t size,
                                            const fibocast_options* options, fibocast_bytes* result);
// Every rank gives a block of the same length; the root gets all, in the order of the ranks.
FIBOCAST_API fibocast_code fibocast_gather(fibocast_group* group, uint32_t root, const void* block, size_t size,
                                           const fibocast_options* options, fibocast_bytes* result);
// ... everybody gets all.
FIBOCAST_API fibocast_code fibocast_allgather(fibocast_group* group, const void* block, size_t size,
                                              const fibocast_options* options, fibocast_bytes* result);
// Every rank gives fibocast_size() blocks, one for each rank, and gets one from each.
FIBOCAST_API fibocast_code fibocast_alltoall(fibocast_group* group, const void* blocks, size_t size,
                                             const fibocast_options* options, fibocast_bytes* result);
// Divide and conquer (Lo et al. 1992): the root gives its vector, each rank gets its share of it.
FIBOCAST_API fibocast_code fibocast_divide(fibocast_group* group, uint32_t root, const void* vector, size_t count,
                                           fibocast_type type, const fibocast_options* options, fibocast_bytes* result);
// The way back: each rank gives its share, of `count` elements, of a vector of `total` elements; the root gets the
// vector. Where shares overlap they are combined.
FIBOCAST_API fibocast_code fibocast_conquer(fibocast_group* group, uint32_t root, uint64_t total, const void* share,
                                            size_t count, fibocast_type type, fibocast_operator op,
                                            const fibocast_options* options, fibocast_bytes* result);
// The elements that this rank gets of such a divide and brings to such a conquer.
FIBOCAST_API fibocast_code fibocast_share(fibocast_group* group, uint32_t root, uint64_t total,
                                          const fibocast_options* options, uint64_t* first, uint64_t* count);

// ---- messages: delivered exactly once, per (sender, tag) in the order they were sent; `node` is one of the cluster

// Waits only for room in the node's budget, never for the peer; FIBOCAST_DEADLINE_EXCEEDED after deadline_ns without
// room (0: the node's default).
FIBOCAST_API fibocast_code fibocast_send(fibocast_participant* participant, uint32_t node, uint64_t tag,
                                         const void* data, size_t size, int64_t deadline_ns);
// FIBOCAST_WOULD_BLOCK instead of waiting for room.
FIBOCAST_API fibocast_code fibocast_try_send(fibocast_participant* participant, uint32_t node, uint64_t tag,
                                             const void* data, size_t size);
// The next message with this tag, from whomever; `from` may be NULL. The bytes stay valid until the same thread's next
// fibocast_receive() of this participant, whatever other threads receive, or until the thread or the participant ends.
FIBOCAST_API fibocast_code fibocast_receive(fibocast_participant* participant, uint64_t tag, int64_t deadline_ns,
                                            uint32_t* from, fibocast_bytes* result);

#ifdef __cplusplus
}
#endif
// NOLINTEND(readability-identifier-naming,modernize-*)
