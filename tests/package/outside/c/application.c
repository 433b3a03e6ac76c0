/* A barrier and a sum through the daemon of FIBOCAST_SOCKET, in C. */
#include <fibocast.h>
#include <inttypes.h>
#include <stdio.h>

static int die(void) {
  fprintf(stderr, "%s\n", fibocast_last_sentence());
  return 1;
}

int main(void) {
  fibocast_participant *me = NULL;
  fibocast_group *all = NULL;
  const int64_t mine = 42;
  fibocast_bytes sum;
  if (fibocast_connect(NULL, &me) || fibocast_open(me, "all", &all)) return die();
  if (fibocast_barrier(all, NULL, NULL)) return die();
  printf("passed as rank %" PRIu32 " of %" PRIu32 "\n", fibocast_rank(all), fibocast_size(all));
  if (fibocast_allreduce(all, &mine, 1, FIBOCAST_INT64, FIBOCAST_SUM, NULL, &sum)) return die();
  printf("the sum is %" PRId64 "\n", *(const int64_t *)sum.data);
  fibocast_leave(all);
  fibocast_close(me);
  return 0;
}
