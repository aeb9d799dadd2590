/* Two builds of hiplazy in one binary, of which the second wraps a function that the
 * first does not have. Whichever wrappers are taken, each goes through the table of its
 * own build: the last word of a line says whether that is the one that has the name
 * hiplazy_slots. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define JOINED(prefix, name) prefix##name
#define WRAPPER(prefix, name) JOINED(prefix, name)
#define get_version WRAPPER(PREFIX, hipRuntimeGetVersion)
#define added WRAPPER(PREFIX, hipAardvark)

int get_version(int *version);
int added(int *value);
extern void *const hiplazy_slots[];

/* Where a wrapper's one jump reads its target. */
static void *const *slot_of(int (*wrapper)(int *)) {
    const unsigned char *code = (const unsigned char *)wrapper;
    int offset;
    if (code[0] != 0xff || code[1] != 0x25)
        return NULL;
    memcpy(&offset, code + 2, sizeof offset);
    return (void *const *)(code + 6 + offset);
}

static const char *table_of(int (*wrapper)(int *), size_t place) {
    return slot_of(wrapper) == &hiplazy_slots[place] ? "named" : "other";
}

int main(void) {
    int version = -1, value = -1, status;
    void *before = *slot_of(added);
    status = get_version(&version);
    printf("%d %d %s\n", status, version, table_of(get_version, PLACE));
    /* A table is bound as a whole: what another build bound is not in this one. A slot
     * without a function of the runtime keeps its cold path. */
    status = added(&value);
    printf("%d %d %s %s\n", status, value, table_of(added, ADDED_PLACE),
           before == *slot_of(added) ? "cold" : "bound");
    status = get_version(&version);
    printf("%d %d\n", status, version);
    return 0;
}
