/* A consumer that asks which HIP headers it was compiled with. */
#include <hiplazy/hiplazy.h>

int ASKED(void);
int ASKED(void) { return hiplazy_header_version(); }
