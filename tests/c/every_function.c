/* Calls every function of the manifest, from functions.inc:
 * FUNCTION(name, class) with a class of the manifest, and OTHER(name) for those with an
 * answer of their own.
 *
 *   every_function CODE     what functions that answer in hipError_t answer
 *
 * Each is called with zeros and with pointers to a guarded buffer in every place an
 * argument may be in. Prints every function that answers otherwise than its class says,
 * or touches the buffer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hiplazy/hiplazy.h>


enum class { error, rtc, hsa, string, pointer, integer, boolean, nothing };

#define FUNCTION(name, class) extern void hiplazy_##name(void);
#define OTHER(name) extern void hiplazy_##name(void);
#include "functions.inc"
#undef FUNCTION
#undef OTHER

#define FUNCTION(name, class) {#name, class, hiplazy_##name},
#define OTHER(name)
static const struct {
    const char *name;
    enum class class;
    void (*function)(void);
} functions[] = {
#include "functions.inc"
};

typedef long long word;
/* Fourteen arguments: hipExtModuleLaunchKernel has the most. Those beyond what a
 * function declares are the caller's to pass and to remove. */
typedef word call(word, word, word, word, word, word, word, word, word, word, word, word, word,
                  word);

static unsigned char buffer[4096];
static int wrong;

static void report(const char *name, const char *what, word value)
{
    printf("%s: %s %lld\n", name, what, value);
    wrong++;
}

static void call_one(size_t number, word argument, int code)
{
    const char *name = functions[number].name;
    call *function = (call *)functions[number].function;
    word a = argument, value;
    value = function(a, a, a, a, a, a, a, a, a, a, a, a, a, a);
    switch (functions[number].class) {
    case error:
        if ((int)value != code)
            report(name, "answers", (int)value);
        break;
    case rtc:
        if ((int)value != 11)
            report(name, "answers", (int)value);
        break;
    case hsa:
        if ((int)value != 0x1000)
            report(name, "answers", (int)value);
        break;
    case string:
        if (!value || *(const char *)value)
            report(name, "answers other than an empty string", value);
        break;
    case pointer:
        if (value)
            report(name, "answers", value);
        break;
    case boolean:
        if ((unsigned char)value)
            report(name, "answers", value);
        break;
    case integer:
        if ((int)value != -1)
            report(name, "answers", (int)value);
        break;
    case nothing:
        break;
    }
    for (size_t i = 0; i < sizeof buffer; i++)
        if (buffer[i] != 0xC5) {
            report(name, "wrote to byte", (word)i);
            memset(buffer, 0xC5, sizeof buffer);
            break;
        }
    if (functions[number].class != nothing && strncmp(hiplazy_last_error(), name, strlen(name)))
        report(name, "is not the function of the last error", argument);
}

int main(int argc, char **argv)
{
    size_t count = sizeof functions / sizeof *functions;
    int code = argc > 1 ? atoi(argv[1]) : 0;
    alarm(60);
    memset(buffer, 0xC5, sizeof buffer);
    for (size_t i = 0; i < count; i++) {
        call_one(i, 0, code);
        call_one(i, (word)(buffer + sizeof buffer / 2), code);
    }
    printf("%zu functions, %d wrong\n", count, wrong);
    return 0;
}
