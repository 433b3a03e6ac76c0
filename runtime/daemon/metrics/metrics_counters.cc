// The counters of `fibocast status` as metrics: one table, in which each of them has its name and its meaning.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "runtime/daemon/metrics/metrics_text.h"

namespace fibocast {
namespace {

struct CounterName {
  const char* key;  // in NodeStatus::counters
  const char* name;
  const char* help;
};

constexpr CounterName kCounters[] = {
    {"channel_frames_sent", "channel_frames_sent_total", "Frames of the reliable channels that were sent."},
    {"channel_frames_received", "channel_frames_received_total", "Frames of the reliable channels that came."},
    {"channel_resends", "channel_retransmissions_total", "Frames that were sent again."},
    {"channel_bare_acks", "channel_bare_acks_total", "Frames sent only to acknowledge."},
    {"channel_duplicates", "channel_duplicates_total", "Frames that had come before."},
    {"channel_reordered_dropped", "channel_reordered_dropped_total", "Frames dropped: too far ahead of the window."},
    {"channel_stale_session", "channel_stale_frames_total", "Frames of a connection that is over."},
    {"channel_malformed", "channel_malformed_total", "Frames that a channel could not read."},
    {"channel_restarts", "channel_peer_restarts_total", "Peers that came back as a new process."},
    {"node_malformed", "node_malformed_total", "Datagrams that are no frame, or not for this node."},
    {"node_not_understood", "node_not_understood_total", "Messages that name what this version does not know."},
    {"node_unknown_group", "node_unknown_group_total", "Messages of a group that this node does not know."},
    {"node_stale", "node_stale_messages_total", "Messages of a generation that is over."},
    {"node_early", "node_early_messages_total", "Messages of a generation in which nobody had called here."},
    {"node_duplicate", "node_duplicate_messages_total", "Transfers that were in already."},
    {"node_future", "node_future_messages_total", "Messages beyond the open generations."},
    {"node_mismatch", "node_mismatches_total", "Messages of another operation in the same generation."},
    {"node_bad_trees", "node_bad_trees_total", "Definitions of groups refused for their tree."},
    {"node_channels_full", "node_channels_full_total", "Times that a peer could have no channel."},
    {"node_frozen", "node_frozen_messages_total", "Transfers ignored while a verdict was being found."},
    {"node_epochs", "node_epoch_changes_total", "Changes of groups' epochs."},
    {"node_callers_lost", "node_callers_lost_total", "Applications that died in an operation."},
    {"node_groups_set_aside", "node_groups_set_aside_total",
     "Times that a group of all nodes, not used, made place for another."},
    {"node_callers_back", "node_callers_back_total", "Applications that died, and another one took the place."},
    {"node_operations_ok", "node_operations_ok_total", "Operations that ended well at this node."},
    {"node_operations_failed", "node_operations_failed_total", "Operations that ended otherwise."},
    {"node_stragglers", "node_stragglers_total", "Barriers of which the last rank is known."},
    {"node_messages_sent", "node_messages_sent_total", "Messages of applications that were sent."},
    {"node_messages_received", "node_messages_received_total", "Messages of applications that came."},
    {"node_messages_unread", "node_messages_unread_total", "Messages of lost nodes, dropped before they were read."},
    {"detector_probes", "detector_probes_total", "Probes of silent peers."},
    {"detector_suspicions", "detector_suspicions_total", "Peers that became suspect."},
    {"detector_false_suspicions", "detector_false_suspicions_total", "Suspects that turned out to live."},
    {"detector_lost", "detector_lost_total", "Peers that were found lost."},
    {"detector_late", "detector_late_total", "Times that this daemon itself was not scheduled in time."},
    {"now_requests", "requests", "Requests of applications under way."},
    {"now_operations", "open_operations", "Open generations of all groups."},
    {"now_buffers", "buffers", "Payload buffers in use."},
    {"transport_frames_sent", "transport_frames_sent_total", "Datagrams or framed messages sent."},
    {"transport_frames_received", "transport_frames_received_total", "Datagrams or framed messages received."},
    {"transport_bytes_sent", "transport_sent_bytes_total", "Bytes of them sent."},
    {"transport_bytes_received", "transport_received_bytes_total", "Bytes of them received."},
    {"transport_fan_outs", "transport_fan_outs_total", "Datagrams with frames for several nodes of this host."},
    {"transport_pairs", "transport_pairs_total", "Datagrams with two frames for one node of this host."},
    {"transport_send_errors", "transport_send_errors_total", "Frames that the system did not take."},
    {"transport_queue_drops", "transport_queue_drops_total", "Frames dropped: an own queue was full, or reset."},
    {"transport_kernel_drops", "transport_kernel_drops_total", "Datagrams dropped: the receive buffer was full."},
    {"transport_refused", "transport_refused_total", "Connections refused by a peer's host."},
    {"transport_malformed", "transport_malformed_total", "Bytes that are no frame."},
    {"transport_resets", "transport_resets_total", "Dialled connections that broke."},
    {"transport_accepted", "transport_accepted_total", "Connections accepted."},
    {"transport_turned_away", "transport_turned_away_total", "Connections closed: too many, or nothing valid."},
    {"local_peers", "local_peers", "Nodes of this host that are reached through shared memory."},
    {"local_frames_sent", "local_frames_sent_total", "Frames put into shared memory."},
    {"local_frames_received", "local_frames_received_total", "Frames taken out of shared memory."},
    {"local_bytes_sent", "local_sent_bytes_total", "Bytes of frames put into shared memory."},
    {"local_bytes_received", "local_received_bytes_total", "Bytes of frames taken out of shared memory."},
    {"local_queue_drops", "local_queue_drops_total", "Frames dropped: the peer's shared memory was full."},
    {"local_malformed", "local_malformed_total", "Times that shared memory made no sense and was emptied."},
    {"local_resets", "local_resets_total", "Peers that no longer share memory."},
    {"local_bells", "local_bells_total", "Times that a sleeping peer was woken."},
    {"seal_sealed", "seal_sealed_total", "Frames that were sealed."},
    {"seal_opened", "seal_opened_total", "Sealed frames that were opened."},
    {"seal_sessions", "seal_handshakes_total", "Sessions of keys agreed on with peers."},
    {"seal_under_other_keys", "seal_sessions_under_other_keys", "Sessions under a key that is not the primary one."},
    {"seal_dropped", "seal_dropped_total", "Frames not sent for want of a session."},
    {"clients_accepted", "clients_accepted_total", "Local connections that were accepted."},
    {"clients_strangers", "clients_strangers_total", "Local connections of users who may not connect."},
    {"clients_garbage", "clients_garbage_total", "Local clients closed for sending what is no request."},
    {"clients_turned_away", "clients_turned_away_total", "Local clients beyond the limit."},
    {"peers_newer", "peers_newer", "Daemons that name what this version does not know."},
    {"peers_refused", "peers_refused", "Daemons refused because their settings differ."},
};

constexpr std::string_view kRefusal = "seal_refused_";
constexpr double kPerSecond = 1e6;  // microseconds

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / kPerSecond;
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void add_status_counters(const client::NodeStatus& status, MetricFamilies& out) {
  const auto& counters = status.counters();
  for (const CounterName& counter : kCounters) {
    const auto found = counters.find(counter.key);
    if (found == counters.end()) continue;
    std::string_view(counter.name).ends_with("_total") ? out.counters(counter.name, counter.help)
                                                       : out.gauges(counter.name, counter.help);
    out.add(static_cast<double>(found->second));
  }
  out.counters("seal_refused_total", "Frames refused, by reason.");
  for (const auto& [key, value] : counters)
    if (key.starts_with(kRefusal)) out.add(static_cast<double>(value), {{"reason", key.substr(kRefusal.size())}});
}

void add_process(double started_at, MetricFamilies& out) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  out.counters("process_cpu_seconds_total", "Processor time of the daemon, by kind.");
  out.add(seconds(usage.ru_utime), {{"mode", "user"}});
  out.add(seconds(usage.ru_stime), {{"mode", "system"}});
  out.counters("process_wakeups_total", "Times that the daemon blocked and was woken: voluntary context switches.");
  out.add(static_cast<double>(usage.ru_nvcsw));
  out.counters("process_preemptions_total", "Times that it lost its processor: involuntary context switches.");
  out.add(static_cast<double>(usage.ru_nivcsw));
  out.gauges("process_resident_memory_bytes", "Memory of the daemon that is resident.");
  out.add(resident_bytes());
  out.gauges("process_start_time_seconds", "When the daemon was started, Unix time.");
  out.add(started_at);
}

}  // namespace fibocast
