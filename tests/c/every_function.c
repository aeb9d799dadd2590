/* Calls every entry of the slot table, from functions.inc: FUNCTION(entry, name, class) with
 * the function's link name and its class in the manifest, and OTHER(entry) for those with
 * an answer of their own. A function of class `made` is made of others where the runtime lacks
 * it, and answers with some error of theirs.
 *
 *   every_function CODE     what functions that answer in hipError_t answer
 *
 * Each is called with zeros and with pointers to a guarded buffer in every place an
 * argument may be in. Prints every entry that answers otherwise than its class says,
 * or touches the buffer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hiplazy/hiplazy.h>


enum class { error, made, rtc, hsa, string, pointer, integer, boolean, nothing };

#define FUNCTION(entry, name, class) extern void hiplazy_##entry(void);
#define OTHER(entry) extern void hiplazy_##entry(void);
#include "functions.inc"
#undef FUNCTION
#undef OTHER

#define FUNCTION(entry, name, class) {#entry, #name, class, hiplazy_##entry},
#define OTHER(entry)
static const struct {
    const char *entry;
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

static void report(const char *entry, const char *what, word value)
{
    printf("%s: %s %lld\n", entry, what, value);
    wrong++;
}

static void call_one(size_t number, word argument, int code)
{
    const char *entry = functions[number].entry, *name = functions[number].name;
    call *function = (call *)functions[number].function;
    word a = argument, value;
    value = function(a, a, a, a, a, a, a, a, a, a, a, a, a, a);
    switch (functions[number].class) {
    case error:
        if ((int)value != code)
            report(entry, "answers", (int)value);
        break;
    case made:
        if (!(int)value)
            report(entry, "answers", 0);
        break;
    case rtc:
        if ((int)value != 11)
            report(entry, "answers", (int)value);
        break;
    case hsa:
        if ((int)value != 0x1000)
            report(entry, "answers", (int)value);
        break;
    case string:
        if (!value || *(const char *)value)
            report(entry, "answers other than an empty string", value);
        break;
    case pointer:
        if (value)
            report(entry, "answers", value);
        break;
    case boolean:
        if ((unsigned char)value)
            report(entry, "answers", value);
        break;
    case integer:
        if ((int)value != -1)
            report(entry, "answers", (int)value);
        break;
    case nothing:
        break;
    }
    for (size_t i = 0; i < sizeof buffer; i++)
        if (buffer[i] != 0xC5) {
            report(entry, "wrote to byte", (word)i);
            memset(buffer, 0xC5, sizeof buffer);
            break;
        }
    if (functions[number].class != nothing && functions[number].class != made &&
        strncmp(hiplazy_last_error(), name, strlen(name)))
        report(entry, "is not the function of the last error", argument);
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
    printf("%zu entries, %d wrong\n", count, wrong);
    return 0;
}
