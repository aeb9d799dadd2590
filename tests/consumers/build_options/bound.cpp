// The other half of it.
extern "C" int bound(void);
#include "../source/bound.c"
