/* A runtime that prints the arguments of each call exactly. It is built with the nodes
 * of tiny_runtime.map and the SONAME libamdhip64.so.7. */
#include <stdio.h>

#include "shapes.h"

#define INNER(...) __VA_ARGS__

/* What each returns, by its type. */
static int answer_int(void) { return 17; }
static struct channel answer_channel(void) { return (struct channel){11, 12, 13, 14, 15}; }
static const char *answer_string(void) { return "a name"; }
static void **answer_pointer(void)
{
    static void *place;
    return &place;
}

#define ANSWER(type)                 \
    _Generic((type *)0,              \
        int *: answer_int,           \
        struct channel *: answer_channel, \
        const char **: answer_string, \
        void ***: answer_pointer)()

#define SHAPE(type, name, parameters, format, arguments)  \
    type name parameters                                  \
    {                                                     \
        printf(#name " " format "\n", INNER arguments);   \
        fflush(stdout);                                   \
        return ANSWER(type);                              \
    }
SHAPES(SHAPE)

int hipRuntimeGetVersion(int *version)
{
    *version = 71460850;
    return 0;
}
