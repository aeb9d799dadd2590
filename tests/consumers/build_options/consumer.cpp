// The C consumer as C++, where HIP's functions have overloads.
extern "C" int consume(void);
#undef _GNU_SOURCE // g++ defines it itself
#include "../source/consumer.c"
