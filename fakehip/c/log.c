#include "log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A long benchmark with recording left on must not eat the machine. */
#define LOG_LIMIT ((size_t)64 << 20)
static const char limit_text[] = "(log full: later calls are counted, not written)\n";

static char *text;
static size_t used, room;
static int full;
static int file = -1;

static void keep(const char *line, size_t length) {
  if (used + length > room) {
    size_t larger = room ? room * 2 : 1 << 16;
    while (larger < used + length) larger *= 2;
    char *moved = realloc(text, larger);
    if (!moved) return;
    text = moved;
    room = larger;
  }
  memcpy(text + used, line, length);
  used += length;
}

void log_line(const char *line, size_t length) {
  if (file >= 0) {
    /* One write per line: with O_APPEND, processes and libraries can share a file. */
    ssize_t written = write(file, line, length);
    (void)written;
  }
  if (full) return;
  if (used + length > LOG_LIMIT) {
    full = 1;
    keep(limit_text, sizeof limit_text - 1);
    return;
  }
  keep(line, length);
}

void log_clear(void) {
  free(text);
  text = NULL;
  used = room = 0;
  full = 0;
}

size_t log_copy(char *buffer, size_t size) {
  if (buffer && size) {
    size_t copied = used < size ? used : size - 1;
    if (copied) memcpy(buffer, text, copied);
    buffer[copied] = 0;
  }
  return used;
}

int log_open(const char *path) {
  int opened = -1;
  if (path) {
    opened = strcmp(path, "-") == 0
                 ? STDERR_FILENO
                 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (opened < 0) return -1;
  }
  if (file > STDERR_FILENO) close(file);
  file = opened;
  return 0;
}

int log_has_file(void) { return file >= 0; }
