/* A failed call through the prefixed archive, then one through the drop-in archive, and
 * what the control functions of either say of them. */
#include <hiplazy/hiplazy.h>
#include <stdio.h>
#include <string.h>

int hiplazy_hipFree(void *pointer);
int hipFreeHost(void *pointer);
#ifdef VENDOR
const char *tl_last_error(void);
#endif

/* The function that a message is about. */
static void said(const char *text) {
    if (*text)
        printf(" %.*s", (int)strcspn(text, ":"), text);
    else
        printf(" -");
}

int main(void) {
    printf("%d", hiplazy_hipFree(0));
    said(hiplazy_last_error());
    printf("\n%d", hipFreeHost(0));
    said(hiplazy_last_error());
#ifdef VENDOR
    said(tl_last_error());
#endif
    puts("");
    return 0;
}
