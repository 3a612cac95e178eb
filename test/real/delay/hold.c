/*
 * Holds every packet of an NFQUEUE back for a fixed time, then lets it go: distance for kernels without netem.
 *   hold QUEUE MICROSECONDS
 * Prints "ready" once it is bound. The delay is the same for all, so packets leave in the order in which they came.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <libnetfilter_queue/libnetfilter_queue.h>
#include <linux/netfilter.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define HELD_MAX (1u << 17)
static struct { uint32_t id; int64_t due; } held[HELD_MAX];
static uint64_t first, next;
static int64_t delay_ns;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int take(struct nfq_q_handle *queue, struct nfgenmsg *message, struct nfq_data *packet, void *data) {
  (void)message;
  (void)data;
  struct nfqnl_msg_packet_hdr *header = nfq_get_msg_packet_hdr(packet);
  if (!header) return 0;
  uint32_t id = ntohl(header->packet_id);
  if (next - first == HELD_MAX) return nfq_set_verdict(queue, id, NF_ACCEPT, 0, NULL);
  held[next % HELD_MAX].id = id;
  held[next++ % HELD_MAX].due = now() + delay_ns;
  return 0;
}

static void let_go(struct nfq_q_handle *queue) {
  int64_t at = now();
  while (first < next && held[first % HELD_MAX].due <= at)
    nfq_set_verdict(queue, held[first++ % HELD_MAX].id, NF_ACCEPT, 0, NULL);
}

static void set_alarm(int timer) {
  if (first == next) return;
  int64_t due = held[first % HELD_MAX].due;
  struct itimerspec when = {.it_value = {due / 1000000000, due % 1000000000}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  delay_ns = atoll(argv[2]) * 1000;
  struct nfq_handle *handle = nfq_open();
  struct nfq_q_handle *queue = handle ? nfq_create_queue(handle, atoi(argv[1]), take, NULL) : NULL;
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  if (!queue || nfq_set_mode(queue, NFQNL_COPY_META, 0) < 0 || timer < 0) {
    perror("hold");
    return 1;
  }
  nfq_set_queue_maxlen(queue, HELD_MAX);
  nfnl_rcvbufsiz(nfq_nfnlh(handle), 16 << 20);
  struct pollfd fds[2] = {{.fd = nfq_fd(handle), .events = POLLIN}, {.fd = timer, .events = POLLIN}};
  static char buffer[1 << 16] __attribute__((aligned(8)));
  printf("ready\n");
  fflush(stdout);
  for (;;) {
    set_alarm(timer);
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return 1;
    uint64_t ticks;
    if (fds[1].revents && read(timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN) return 1;
    if (fds[0].revents) {
      ssize_t size = recv(fds[0].fd, buffer, sizeof buffer, MSG_DONTWAIT);
      if (size > 0) nfq_handle_packet(handle, buffer, (int)size);
      else if (size < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EINTR) return 1;
    }
    let_go(queue);
  }
}
