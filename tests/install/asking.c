/* Two consumers in one process. */
#include <stdio.h>

int asked_first(void);
int asked_second(void);

int main(void) {
    printf("%d %d\n", asked_first(), asked_second());
    return 0;
}
