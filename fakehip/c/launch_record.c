#include "launch_record.h"

#include "state.h"

static struct fakehip_launch last;
static uint64_t launches;

struct fakehip_launch *launch_record_begin(void) {
  fake_lock();
  memset(&last, 0, sizeof last);
  last.number = ++launches;
  return &last;
}

void launch_record_end(void) { fake_unlock(); }

void launch_record_clear(void) {
  memset(&last, 0, sizeof last);
  launches = 0;
}

int launch_record_copy(struct fakehip_launch *launch) {
  fake_lock();
  int recorded = last.number != 0;
  if (recorded) *launch = last;
  fake_unlock();
  return recorded;
}
