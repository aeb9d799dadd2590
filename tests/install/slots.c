/* Calls through the slot table by number, before anything is bound and after. */
#include <stdio.h>

typedef int (*get_version)(int *);
extern void *const SLOTS[];

static int call(int *version) {
    return ((get_version)*(void *const volatile *)&SLOTS[INDEX])(version);
}

int main(void) {
    int first = -1, second = -1;
    int first_status = call(&first);
    int second_status = call(&second);
    printf("%d %d %d %d\n", first_status, first, second_status, second);
    return 0;
}
