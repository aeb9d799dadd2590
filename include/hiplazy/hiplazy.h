/* hiplazy: the HIP API without linking HIP. The control functions.
 *
 * A wrapper hiplazy_<link name> exists for every function of HIP, hiprtc, and for
 * hsa_init and hsa_shut_down. It has the declaration that HIP's own headers give the
 * function. The first call of any of them finds a HIP runtime and binds all; where
 * there is none, each answers with an error:
 *
 *   hipInit, hipGetDeviceCount (writes 0)  100 hipErrorNoDevice
 *   other hipError_t                       303 hipErrorSharedObjectInitFailed;
 *                                          a version query writes 0
 *   hiprtcResult                           11 HIPRTC_ERROR_INTERNAL_ERROR
 *   hsa_status_t                           0x1000 HSA_STATUS_ERROR
 *   pointers, structs                      NULL, all zero
 *   names and texts of errors              the right ones; other strings ""
 *
 * A function that the runtime lacks answers 302, hipErrorSharedObjectSymbolNotFound,
 * for itself alone.
 *
 * Every function here may be called from any thread at any time. None throws, aborts
 * or takes a lock of its own; the dynamic linker takes its own while it loads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef HIPLAZY_HIPLAZY_H
#define HIPLAZY_HIPLAZY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Finds, opens and binds the runtime now rather than at the first call. Returns a
 * hipError_t: 0, or 303 if there is no runtime that can be used, or 2 without memory
 * to look for one. May be repeated: a failed search is repeated if something was
 * loaded into the process since. */
int hiplazy_load(void);

/* 1 if the runtime has a function of this link name ("hipMalloc",
 * "hipGetDevicePropertiesR0600", "hiprtcCompileProgram"), 0 if it has not or if there
 * is no runtime. Loads the runtime, and for hiprtc* and hsa_* their library. */
int hiplazy_has(const char *elf_name);

/* The runtime's own function of this link name, or NULL; also of names that are newer
 * than hiplazy. Loads as hiplazy_has does. */
void *hiplazy_symbol(const char *elf_name);

/* The real path of the bound runtime, or NULL while none is bound. Loads nothing. The
 * string stays valid. */
const char *hiplazy_runtime_path(void);

/* The bound runtime's version, major * 10000000 + minor * 100000 + patch, as
 * hipRuntimeGetVersion gives it; 0 while none is bound, and for what the runtime itself
 * calls while it is asked for this. Loads nothing. */
int hiplazy_runtime_version(void);

/* The HIP_VERSION that the caller was compiled with, 0 if unknown. */
int hiplazy_header_version(void);

/* This thread's last failure in full: the function that was called, and every
 * candidate that was tried, in order, with the reason against it. "" if there was
 * none. Valid until this thread's next call of this function. */
const char *hiplazy_last_error(void);

/* hiplazy's own version, "major.minor.patch". */
const char *hiplazy_version(void);

#ifdef __cplusplus
}
#endif

#endif /* HIPLAZY_HIPLAZY_H */
