/* What TileLang's stub is to a search: a library with a runtime's file name and
 * functions and another SONAME. Its answers are wrong on purpose. */
int hipInit(unsigned flags)
{
    (void)flags;
    return 0;
}

int hipGetDeviceCount(int *count)
{
    *count = -66;
    return 0;
}

int hipRuntimeGetVersion(int *version)
{
    *version = -66;
    return 0;
}
