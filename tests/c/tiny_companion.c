/* A libhiprtc (-DHIPRTC) or libhsa-runtime64 (-DHSA) of one function, or a library
 * that a runtime depends on: its constructor calls the program's
 * in_constructor(WHO), if there is one. */
#ifndef TAG
#define TAG 1
#endif
#ifndef WHO
#define WHO "dependency"
#endif

#ifdef HIPRTC
int hiprtcVersion(int *major, int *minor)
{
    *major = TAG;
    *minor = 0;
    return 0;
}
#elif defined HSA
int hsa_init(void) { return TAG; }
#else
int tiny_companion = TAG;

extern void in_constructor(const char *) __attribute__((weak));

__attribute__((constructor)) static void build(void)
{
    if (in_constructor)
        in_constructor(WHO);
}
#endif
