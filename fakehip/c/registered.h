/* What compiled host programs register before main (see registered.c). */
#ifndef FAKEHIP_REGISTERED_H
#define FAKEHIP_REGISTERED_H

#include "module.h"

/* The kernel behind a host function's address, NULL if nobody registered it. */
hipFunction_t registered_function(const void *host_function);

/* Address and size of the device variable behind a host variable's address. */
bool registered_variable(const void *host_variable, void **address, size_t *size);

#endif
