/* The record of the last launch. */
#ifndef FAKEHIP_LAUNCH_RECORD_H
#define FAKEHIP_LAUNCH_RECORD_H

#include "../include/fakehip.h"

/* A zeroed record to fill in, with the lock held until launch_record_end. */
struct fakehip_launch *launch_record_begin(void);
void launch_record_end(void);
void launch_record_clear(void); /* lock held */
int launch_record_copy(struct fakehip_launch *launch);

#endif
