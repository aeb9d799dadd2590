/* Calls functions of a shared hiplazy as lines on standard input say, and prints what the
 * fake runtime was given, what came back, and whether memory around the arguments changed.
 * It knows no function and no struct: those are the test's.
 *
 *   caller LIBHIPLAZY RUNTIME
 *
 * Lines in:
 *   answer FUNCTION ARGUMENT HEX        fakehip_answer
 *   fail FUNCTION CODE                  has the runtime's function fail in the next call
 *   memory BYTES                        the process gets no more address space than that
 *   call ENTRY FUNCTION ARGUMENT...     ENTRY is a name that hiplazy exports, FUNCTION the one
 *                                       of the runtime that is watched. Instead of a name also
 *                                       GETTER:SYMBOL:VERSION:FLAGS, the address that
 *                                       hipGetProcAddress or hipGetDriverEntryPoint gives.
 *                                       SYMBOL is a name, or NAME>NAME and so on: what the
 *                                       next name is looked up with, without FLAGS then
 *
 * An argument of up to eight is
 *   v<hex>                 a number or pointer as it is
 *   b<hex>{+<n>=<hex>}     a pointer to these bytes, where those from n on are in turn a
 *                          pointer to bytes
 *   u<n>                   a pointer to n bytes that nobody has written
 *   l<n>,<n>...            an array of pointers to so many such bytes
 *   m                      memory of the device
 *   h<hex>                 a struct of 64 bytes by value, as the second of three
 *
 * Lines out: one for each call,
 *   STATUS CALLS ANSWER BROKEN WHERE|last error|g<argument>=<hex> ... b<argument>=<hex> ...
 * CALLS of FUNCTION have reached the runtime, and its ANSWER to all was "success" or not,
 * BROKEN bytes around buffers have changed, WHERE is "own" if the address is the runtime's
 * own function, and "none" and the look-up's result if there is no address, whose STATUS is
 * that of the look-up. g is what the runtime was
 * given, b what is now in a buffer, and in those of an array one behind the other.
 */
#include <dlfcn.h>
#include <fakehip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define ARGUMENTS 8
#define BUFFERS 32
#define GUARD 512

typedef unsigned long long word;
typedef int any_function(word, word, word, word, word, word, word, word);
struct handle {
    char bytes[64];
};
typedef int with_handle(word, struct handle, word);
typedef int get_proc_address(const char *, void **, int, word, unsigned *);
typedef int get_entry_point(const char *, void **, word, unsigned *);

struct buffer {
    int argument; /* -1: something that another buffer points to */
    size_t size;
    unsigned char *bytes; /* GUARD canaries on either side */
};

static struct buffer buffers[BUFFERS];
static int buffer_count;

static struct {
    void *hiplazy, *runtime;
    void *memory;
    const char *(*last_error)(void);
    void (*reset)(void);
    uint64_t (*calls)(const char *);
    size_t (*log)(char *, size_t);
    size_t (*given)(const char *, unsigned, void *, size_t);
    int (*answer)(const char *, unsigned, const void *, size_t);
    int (*fail)(const char *, int, unsigned, unsigned);
} use;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "caller: %s: %s\n", what, which);
    exit(2);
}

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (!address)
        die("no such function", name);
    return address;
}

static size_t hex_length(const char *text)
{
    return strspn(text, "0123456789abcdef") / 2;
}

static void from_hex(unsigned char *bytes, const char *text)
{
    for (size_t i = 0; i < hex_length(text); i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
}

static void print_hex(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
}

static unsigned char *buffer(int argument, size_t size)
{
    if (buffer_count == BUFFERS)
        die("too many buffers", "");
    unsigned char *area = malloc(size + 2 * GUARD);
    memset(area, FAKEHIP_CANARY, size + 2 * GUARD);
    memset(area + GUARD, FAKEHIP_UNTOUCHED, size);
    buffers[buffer_count++] = (struct buffer){argument, size, area + GUARD};
    return area + GUARD;
}

static word argument(int number, char *text)
{
    unsigned char *bytes;
    char *end;
    switch (*text++) {
    case 'v':
        return strtoull(text, NULL, 16);
    case 'm':
        return (word)(uintptr_t)use.memory;
    case 'u':
        return (word)(uintptr_t)buffer(number, strtoul(text, NULL, 10));
    case 'b':
        bytes = buffer(number, hex_length(text));
        from_hex(bytes, text);
        for (text = strchr(text, '+'); text; text = strchr(text, '+')) {
            size_t offset = strtoul(text + 1, &end, 10);
            unsigned char *inner = buffer(-1, hex_length(end + 1));
            from_hex(inner, end + 1);
            memcpy(bytes + offset, &inner, sizeof inner);
            text = end + 1;
        }
        return (word)(uintptr_t)bytes;
    case 'l': {
        unsigned char **places = calloc(ARGUMENTS, sizeof *places);
        for (int i = 0; i < ARGUMENTS; i++, text = end + 1) {
            places[i] = buffer(number, strtoul(text, &end, 10));
            if (*end != ',')
                break;
        }
        return (word)(uintptr_t)places; /* not freed: the process is short */
    }
    default:
        die("no such argument", text - 1);
        return 0;
    }
}

/* The address that `entry` names, and its runtime's own one. */
struct found {
    void *address, *own;
    int status;
    unsigned result;
};

static struct found look_up(char *entry)
{
    struct found it = {NULL, NULL, 0, 0};
    char *name = strchr(entry, ':');
    if (!name) {
        it.address = symbol(use.hiplazy, entry);
        return it;
    }
    *name++ = 0;
    char *version = strchr(name, ':'), *save, *getter = entry;
    *version++ = 0;
    word flags = strtoull(strchr(version, ':') + 1, NULL, 10);
    void *get = symbol(use.hiplazy, entry);
    for (name = strtok_r(name, ">", &save); name; name = strtok_r(NULL, ">", &save)) {
        it.address = NULL;
        it.result = 1;
        it.status = strstr(getter, "hipGetProcAddress")
                        ? ((get_proc_address *)get)(name, &it.address, atoi(version), flags, &it.result)
                        : ((get_entry_point *)get)(name, &it.address, flags, &it.result);
        if (it.status || it.result) {
            it.address = NULL;
            break;
        }
        it.own = dlsym(use.runtime, name);
        get = it.address;
        getter = name;
        flags = 0;
    }
    return it;
}

static void call(char *line)
{
    char *save, *entry = strtok_r(line, " ", &save), *function = strtok_r(NULL, " ", &save);
    word values[ARGUMENTS] = {0};
    struct handle handle;
    int count = 0, by_value = 0;
    for (char *text; (text = strtok_r(NULL, " ", &save)); count++) {
        if (*text == 'h') {
            from_hex((unsigned char *)&handle, text + 1);
            by_value = 1;
        } else {
            values[count] = argument(count, text);
        }
    }
    struct found found = look_up(entry);
    void *address = found.address;
    if (!address) {
        printf("%d 0 failure 0 none%u|%s|\n", found.status, found.result, use.last_error());
        return;
    }
    uint64_t before = use.calls(function);
    int status = by_value ? ((with_handle *)address)(values[0], handle, values[2])
                          : ((any_function *)address)(values[0], values[1], values[2], values[3],
                                                      values[4], values[5], values[6], values[7]);
    uint64_t calls = use.calls(function) - before;
    char log[8192] = "";
    use.log(log, sizeof log);
    int succeeded = 0;
    size_t length = strlen(function);
    for (char *save_line, *it = strtok_r(log, "\n", &save_line); it; it = strtok_r(NULL, "\n", &save_line))
        if (strncmp(it, function, length) == 0 && it[length] == '(')
            succeeded = strstr(it, ") = hipSuccess") != NULL;
    size_t broken = 0;
    for (int i = 0; i < buffer_count; i++) {
        struct buffer *it = &buffers[i];
        broken += fakehip_changed(it->bytes - GUARD, FAKEHIP_CANARY, GUARD);
        broken += fakehip_changed(it->bytes + it->size, FAKEHIP_CANARY, GUARD);
    }
    printf("%d %llu %s %zu %s|", status, (word)calls, succeeded ? "success" : "failure", broken,
           address == found.own ? "own" : "other");
    for (const char *text = use.last_error(); *text; text++)
        putchar(*text == '\n' || *text == '|' ? ' ' : *text);
    putchar('|');
    for (unsigned i = 0; calls && i <= ARGUMENTS; i++) {
        unsigned char bytes[4096];
        unsigned number = i < ARGUMENTS ? i : FAKEHIP_POINTED_TO;
        size_t size = use.given(function, number, bytes, sizeof bytes);
        if (size) {
            printf(" g%u=", number);
            print_hex(bytes, size);
        }
    }
    for (int i = 0, last = -1; i < buffer_count; i++) {
        struct buffer *it = &buffers[i];
        if (it->argument < 0)
            continue;
        if (it->argument != last)
            printf(" b%d=", it->argument);
        print_hex(it->bytes, it->size);
        last = it->argument;
    }
    putchar('\n');
}

int main(int count, char **arguments)
{
    if (count != 3)
        die("wants", "LIBHIPLAZY RUNTIME");
    use.hiplazy = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    use.runtime = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    if (!use.hiplazy || !use.runtime)
        die("dlopen", dlerror());
    *(void **)&use.last_error = symbol(use.hiplazy, "hiplazy_last_error");
    *(void **)&use.reset = symbol(use.runtime, "fakehip_reset");
    *(void **)&use.log = symbol(use.runtime, "fakehip_log");
    *(void **)&use.calls = symbol(use.runtime, "fakehip_calls");
    *(void **)&use.given = symbol(use.runtime, "fakehip_given");
    *(void **)&use.answer = symbol(use.runtime, "fakehip_answer");
    *(void **)&use.fail = symbol(use.runtime, "fakehip_fail");
    int (*allocate)(void **, size_t);
    *(void **)&allocate = symbol(use.hiplazy, "hiplazy_hipMalloc");
    if (allocate(&use.memory, 4096))
        die("hipMalloc", use.last_error());
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "answer ", 7) == 0) {
            char *save, *function = strtok_r(line + 7, " ", &save);
            unsigned number = (unsigned)atoi(strtok_r(NULL, " ", &save));
            unsigned char bytes[4096];
            char *text = strtok_r(NULL, " ", &save);
            from_hex(bytes, text);
            if (use.answer(function, number, bytes, hex_length(text)))
                die("no such answer", function);
        } else if (strncmp(line, "fail ", 5) == 0) {
            char *save, *function = strtok_r(line + 5, " ", &save);
            if (use.fail(function, atoi(strtok_r(NULL, " ", &save)), 1, 0))
                die("cannot fail", function);
        } else if (strncmp(line, "memory ", 7) == 0) {
            rlim_t bytes = strtoull(line + 7, NULL, 10);
            struct rlimit limit = {bytes, bytes};
            if (setrlimit(RLIMIT_AS, &limit))
                die("setrlimit", line + 7);
        } else if (strncmp(line, "call ", 5) == 0) {
            call(line + 5);
            while (buffer_count > 0)
                free(buffers[--buffer_count].bytes - GUARD);
            use.reset();
        } else {
            die("no such line", line);
        }
    }
    return 0;
}
