#define _GNU_SOURCE
#include "functions.h"

#include <dlfcn.h>
#include <hiplazy/hiplazy.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FOR_EACH_NAME(X): X(link name) for every function, written by the test from the
 * manifest. */
#include "names.h"

#define DECLARE(name) void hiplazy_##name(void);
FOR_EACH_NAME(DECLARE)

#define ENTRY(name) {#name, hiplazy_##name},
static const struct {
    const char *name;
    void (*wrapper)(void);
} entries[] = {FOR_EACH_NAME(ENTRY)};

static const char *file_of(const void *address)
{
    static char real[2][PATH_MAX];
    static int next;
    Dl_info info;
    if (!address)
        return "-";
    if (!dladdr(address, &info) || !info.dli_fname)
        return "(no file)";
    next = !next;
    return realpath(info.dli_fname, real[next]) ? real[next] : info.dli_fname;
}

/* What a wrapper, jmp *slot(%rip), jumps to at present. */
static const void *target(void (*wrapper)(void))
{
    const unsigned char *code = (const unsigned char *)(uintptr_t)wrapper;
    int32_t offset;
    if (code[0] != 0xff || code[1] != 0x25) {
        fprintf(stderr, "a wrapper is not jmp *slot(%%rip)\n");
        exit(2);
    }
    memcpy(&offset, code + 2, sizeof offset);
    return *(const void *const *)(code + 6 + offset);
}

void functions(void)
{
    const size_t count = sizeof entries / sizeof *entries;
    /* Binds the three libraries. */
    for (size_t i = 0; i < count; i++)
        hiplazy_has(entries[i].name);
    for (size_t i = 0; i < count; i++)
        printf("function %s | %d | %s | %s\n", entries[i].name, hiplazy_has(entries[i].name),
               file_of(hiplazy_symbol(entries[i].name)), file_of(target(entries[i].wrapper)));
}
