#ifndef FAKEHIP_ERROR_TABLE_H
#define FAKEHIP_ERROR_TABLE_H

struct error_entry {
  int code;
  const char *name, *text;
};

extern const struct error_entry hip_errors[], rtc_errors[];
extern const unsigned hip_error_count, rtc_error_count;
extern const struct error_entry hip_error_unknown; /* for all other codes */

#endif
