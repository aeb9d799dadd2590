/* The call log: in memory, and in a file if one is set. Lock held by callers. */
#ifndef FAKEHIP_LOG_H
#define FAKEHIP_LOG_H

#include <stddef.h>

void log_line(const char *text, size_t length);
void log_clear(void);
size_t log_copy(char *buffer, size_t size);
/* NULL closes, "-" is stderr. 0 or -1 with errno. */
int log_open(const char *path);
int log_has_file(void);

#endif
