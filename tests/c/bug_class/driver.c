/* Opens libraries in the order of its arguments and says what calls through them
 * give. Commands, each followed by its operands:
 *
 *   open NAME PATH FLAGS   dlopen; FLAGS are now, lazy, local, global, noload,
 *                          deepbind, with commas
 *   read NAME              what the library reads of device 0
 *   version NAME           the answer of hipRuntimeGetVersion through hiplazy
 *   bound NAME SYMBOL      the file that the library's reference to SYMBOL is bound to
 *   mapped STEM            the files mapped whose base names begin with STEM
 *   namespace NAME PATH    dlmopen in a namespace of its own
 *   wait                   says so, until standard input has a line or ends
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "reading.h"

static struct {
    const char *name;
    void *handle;
} libraries[8];

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why ? why : "not there");
    exit(2);
}

static void *library(const char *name)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (libraries[i].name && !strcmp(libraries[i].name, name))
            return libraries[i].handle;
    fail(name, "no library was opened under this name");
}

static int flag(const char *name)
{
    static const struct {
        const char *name;
        int value;
    } flags[] = {{"now", RTLD_NOW},       {"lazy", RTLD_LAZY},     {"local", RTLD_LOCAL},
                 {"global", RTLD_GLOBAL}, {"noload", RTLD_NOLOAD}, {"deepbind", RTLD_DEEPBIND}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(flags[i].name, name))
            return flags[i].value;
    fail(name, "no such flag");
}

static void open_library(const char *name, const char *path, char *flags)
{
    int value = 0;
    for (char *word = strtok(flags, ","); word; word = strtok(NULL, ","))
        value |= flag(word);
    void *handle = dlopen(path, value);
    if (!handle)
        fail(path, dlerror());
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (!libraries[i].name || !strcmp(libraries[i].name, name)) {
            libraries[i].name = name;
            libraries[i].handle = handle;
            return;
        }
    }
    fail(name, "too many libraries");
}

static void read_device(const char *name)
{
    struct reading reading;
    void (*own)(struct reading *) = dlsym(library(name), "read_device");
    if (own) {
        own(&reading);
    } else {
        /* hiplazy itself in the library's place: it is called from here. */
        int (*get)(void *, int) = dlsym(library(name), "hiplazy_hipGetDevicePropertiesR0600");
        if (!get)
            fail(name, "has neither read_device nor hiplazy_hipGetDevicePropertiesR0600");
        read_properties(&reading, get);
    }
    printf("read %s status=%d warpSize=%d maxThreadsPerBlock=%d multiProcessorCount=%d "
           "gcnArchName=%.255s written=%zu broken=%zu\n",
           name, reading.status, reading.warp_size, reading.max_threads_per_block,
           reading.multi_processor_count,
           (unsigned char)reading.gcn_arch_name[0] == FAKEHIP_UNTOUCHED ? "(untouched)"
                                                                        : reading.gcn_arch_name,
           reading.written, reading.broken);
}

static void version(const char *name)
{
    int number = -1;
    int (*get)(int *) = dlsym(library(name), "runtime_version");
    if (!get)
        get = dlsym(library(name), "hiplazy_hipRuntimeGetVersion");
    if (!get)
        fail(name, "has neither runtime_version nor hiplazy_hipRuntimeGetVersion");
    int status = get(&number);
    printf("version %s status=%d number=%d\n", name, status, number);
}

static const char *file_of(const void *address)
{
    static char real[PATH_MAX];
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname)
        return "(no file)";
    return realpath(info.dli_fname, real) ? real : info.dli_fname;
}

/* The dynamic linker binds a reference by writing the definition's address into a
 * word of the library that a relocation names. */
static const void *bound_in(const ElfW(Rela) *relocations, size_t bytes, const ElfW(Sym) *symbols,
                            const char *strings, ElfW(Addr) base, const char *symbol)
{
    for (size_t i = 0; i < bytes / sizeof *relocations; i++) {
        const ElfW(Rela) *relocation = relocations + i;
        unsigned type = ELF64_R_TYPE(relocation->r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
            continue;
        const char *name = strings + symbols[ELF64_R_SYM(relocation->r_info)].st_name;
        if (!strcmp(name, symbol))
            return *(const void *const *)(base + relocation->r_offset);
    }
    return NULL;
}

static void bound(const char *name, const char *symbol)
{
    struct link_map *map;
    if (dlinfo(library(name), RTLD_DI_LINKMAP, &map))
        fail(name, dlerror());
    uintptr_t entry[DT_NUM] = {0};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag < DT_NUM)
            entry[d->d_tag] = d->d_un.d_ptr;
    const ElfW(Sym) *symbols = (const void *)entry[DT_SYMTAB];
    const char *strings = (const void *)entry[DT_STRTAB];
    const void *address = bound_in((const void *)entry[DT_JMPREL], entry[DT_PLTRELSZ], symbols,
                                   strings, map->l_addr, symbol);
    if (!address)
        address = bound_in((const void *)entry[DT_RELA], entry[DT_RELASZ], symbols, strings,
                           map->l_addr, symbol);
    if (!address)
        fail(symbol, "the library has no reference to it");
    printf("bound %s %s %s\n", name, symbol, file_of(address));
}

static int print_mapped(struct dl_phdr_info *info, size_t size, void *stem)
{
    (void)size;
    const char *base = strrchr(info->dlpi_name, '/');
    base = base ? base + 1 : info->dlpi_name;
    if (!strncmp(base, stem, strlen(stem)))
        printf("mapped %s\n", info->dlpi_name);
    return 0;
}

static void open_namespace(const char *name, const char *path)
{
    void *handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    if (!handle)
        fail(path, dlerror());
    printf("opened %s\n", name);
}

static void wait_for_line(void)
{
    puts("waiting");
    fflush(stdout);
    for (int c = getchar(); c != EOF && c != '\n'; c = getchar())
        continue;
}

static int takes(const char *command, const char *name, int operands, int left)
{
    if (strcmp(command, name))
        return 0;
    if (left < operands)
        fail(command, "too few operands");
    return 1;
}

int main(int count, char **words)
{
    /* Where Yama restricts it, a process of the same user is read by its ancestors only,
     * unless it allows others. Without Yama this fails, and is not needed. */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    for (int i = 1; i < count;) {
        char **operands = words + i + 1;
        int left = count - i - 1;
        if (takes(words[i], "open", 3, left)) {
            open_library(operands[0], operands[1], operands[2]);
            i += 4;
        } else if (takes(words[i], "read", 1, left)) {
            read_device(operands[0]);
            i += 2;
        } else if (takes(words[i], "version", 1, left)) {
            version(operands[0]);
            i += 2;
        } else if (takes(words[i], "bound", 2, left)) {
            bound(operands[0], operands[1]);
            i += 3;
        } else if (takes(words[i], "namespace", 2, left)) {
            open_namespace(operands[0], operands[1]);
            i += 3;
        } else if (takes(words[i], "wait", 0, left)) {
            wait_for_line();
            i += 1;
        } else if (takes(words[i], "mapped", 1, left)) {
            dl_iterate_phdr(print_mapped, operands[0]);
            i += 2;
        } else {
            fail(words[i], "no such command");
        }
    }
    return 0;
}
