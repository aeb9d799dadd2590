/* The part of a program that uses HIP, for a static library. */
int core_version(void);
int hipRuntimeGetVersion(int *version);

int core_version(void) {
    int version = 0;
    hipRuntimeGetVersion(&version);
    return version;
}
