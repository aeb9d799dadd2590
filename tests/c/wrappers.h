/* The wrappers that the loader's tests call. */
#ifndef WRAPPERS_H
#define WRAPPERS_H

#include <stddef.h>

struct channel {
    int x, y, z, w, kind;
};

extern int hiplazy_hipInit(unsigned);
extern int hiplazy_hipGetDeviceCount(int *);
extern int hiplazy_hipRuntimeGetVersion(int *);
extern int hiplazy_hipDriverGetVersion(int *);
extern int hiplazy_hipGetDevice(int *);
extern int hiplazy_hipMalloc(void **, size_t);
extern int hiplazy_hipGetDevicePropertiesR0600(void *, int);
extern int hiplazy_hipGetLastError(void);
extern int hiplazy_hipPeekAtLastError(void);
extern int hiplazy_hipExtGetLastError(void);
extern const char *hiplazy_hipGetErrorName(int);
extern const char *hiplazy_hipGetErrorString(int);
extern const char *hiplazy_hiprtcGetErrorString(int);
extern const char *hiplazy_hipApiName(unsigned);
extern int hiplazy_hiprtcVersion(int *, int *);
extern int hiplazy_hsa_init(void);
extern int hiplazy_hsa_shut_down(void);
extern struct channel hiplazy_hipCreateChannelDesc(int, int, int, int, int);

#endif
