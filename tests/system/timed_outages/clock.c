// The wall clock of a server whose time a test moves on: LD_PRELOAD puts these functions in front of libc's. The file
// MOVED_MS_FILE says how many milliseconds the clock is ahead. The monotonic clock is left alone.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *moved_ms;

__attribute__((constructor)) static void open_file(void) {
  const char *path = getenv("MOVED_MS_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof *moved_ms, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) moved_ms = memory;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (failed || !moved_ms || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
  int64_t moved = *moved_ms, ns = now->tv_nsec + moved % 1000 * 1000000;
  now->tv_sec += moved / 1000 + ns / 1000000000;
  now->tv_nsec = ns % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  int failed = clock_gettime(CLOCK_REALTIME, &exact);
  if (failed) return failed;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (seconds) *seconds = exact.tv_sec;
  return exact.tv_sec;
}
