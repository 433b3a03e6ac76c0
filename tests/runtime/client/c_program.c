/* A program in C: a node alone in its cluster does each operation once. Ends with 0, or says what went wrong. */
#include <arpa/inet.h>
#include <fibocast.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static fibocast_group *all;
static int failures;

static void expect(int condition, const char *what) {
  if (condition) return;
  printf("%s; the last failure: %s\n", what, fibocast_last_sentence());
  ++failures;
}

static void expect_doubles(fibocast_code code, fibocast_bytes got, double first, double second, const char *what) {
  const double wanted[] = {first, second};
  expect(code == FIBOCAST_OK && got.size == sizeof wanted && memcmp(got.data, wanted, sizeof wanted) == 0, what);
}

static void keep_left(void *left, const void *right, size_t size, void *context) {
  (void)left, (void)right, (void)size, (void)context;
}

static void do_reductions(const fibocast_options *options) {
  const double mine[] = {1.5, -2.0};
  fibocast_bytes got;
  fibocast_code code = fibocast_reduce(all, 0, mine, 2, FIBOCAST_DOUBLE, FIBOCAST_SUM, options, &got);
  expect_doubles(code, got, 1.5, -2.0, "reduce");
  code = fibocast_allreduce(all, mine, 2, FIBOCAST_DOUBLE, FIBOCAST_MAX, options, &got);
  expect_doubles(code, got, 1.5, -2.0, "allreduce");
  code = fibocast_reduce_with(all, 0, mine, sizeof mine, keep_left, NULL, options, &got);
  expect_doubles(code, got, 1.5, -2.0, "reduce_with");
  code = fibocast_allreduce_with(all, mine, sizeof mine, keep_left, NULL, options, &got);
  expect_doubles(code, got, 1.5, -2.0, "allreduce_with");
  code = fibocast_divide(all, 0, mine, 2, FIBOCAST_DOUBLE, options, &got);
  expect_doubles(code, got, 1.5, -2.0, "divide");
  code = fibocast_conquer(all, 0, 2, mine, 2, FIBOCAST_DOUBLE, FIBOCAST_SUM, options, &got);
  expect_doubles(code, got, 1.5, -2.0, "conquer");
}

static void do_blocks(const fibocast_options *options) {
  const double mine[] = {3.0, 4.0};
  fibocast_bytes got;
  fibocast_code code = fibocast_scatter(all, 0, mine, sizeof mine, options, &got);
  expect_doubles(code, got, 3.0, 4.0, "scatter");
  code = fibocast_gather(all, 0, mine, sizeof mine, options, &got);
  expect_doubles(code, got, 3.0, 4.0, "gather");
  code = fibocast_allgather(all, mine, sizeof mine, options, &got);
  expect_doubles(code, got, 3.0, 4.0, "allgather");
  code = fibocast_alltoall(all, mine, sizeof mine, options, &got);
  expect_doubles(code, got, 3.0, 4.0, "alltoall");
  expect(fibocast_multicast(all, 0, mine, sizeof mine, options, NULL) == FIBOCAST_OK, "multicast");
}

static void do_messages(fibocast_participant *me) {
  uint32_t from = 7;
  fibocast_bytes got;
  expect(fibocast_send(me, 0, 1, "one", 3, 0) == FIBOCAST_OK, "send");
  expect(fibocast_try_send(me, 0, 1, "two", 3) == FIBOCAST_OK, "try_send");
  expect(fibocast_receive(me, 1, 0, &from, &got) == FIBOCAST_OK && from == 0 && got.size == 3 &&
             memcmp(got.data, "one", 3) == 0, "receive");
  expect(fibocast_receive(me, 1, 0, NULL, &got) == FIBOCAST_OK && memcmp(got.data, "two", 3) == 0, "receive again");
  expect(fibocast_receive(me, 1, 1000000, NULL, &got) == FIBOCAST_DEADLINE_EXCEEDED && got.size == 0, "no third");
}

/* One that is free at this moment. */
static int free_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  const int s = socket(AF_INET, SOCK_DGRAM, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  expect(bind(s, (struct sockaddr *)&address, size) == 0, "bind");
  expect(getsockname(s, (struct sockaddr *)&address, &size) == 0, "getsockname");
  close(s);
  return ntohs(address.sin_port);
}

int main(void) {
  char address[32];
  const char *const nodes[] = {address};
  const fibocast_node_options node = {.struct_size = sizeof node, .node_count = 1, .nodes = nodes};
  const fibocast_options options = {.struct_size = sizeof options, .deadline_ns = 20000000000};
  fibocast_participant *me = NULL;
  fibocast_straggler last = {0, 0};
  uint64_t first = 9, count = 9;
  snprintf(address, sizeof address, "127.0.0.1:%d", free_port());
  if (fibocast_start_node(&node, &me) != FIBOCAST_OK || fibocast_open(me, "all", &all) != FIBOCAST_OK) {
    puts(fibocast_last_sentence());
    return 1;
  }
  expect(fibocast_rank(all) == 0 && fibocast_size(all) == 1 && fibocast_node_count(me) == 1, "rank and size");
  expect(fibocast_barrier(all, &options, &last) == FIBOCAST_OK && last.rank == UINT32_MAX, "barrier");
  do_reductions(&options);
  do_blocks(&options);
  do_messages(me);
  expect(fibocast_share(all, 0, 5, &options, &first, &count) == FIBOCAST_OK && first == 0 && count == 5, "share");
  fibocast_leave(all);
  fibocast_close(me);
  return failures;
}
