// The same in C++, where hipMalloc is overloaded.
#include "dispatch.c"
