/* Opens a library between two marks that a trace shows.
 *
 *   loading LIBRARY
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    void *library;
    if (argc < 2)
        return 2;
    access("/mark/before", F_OK);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    access("/mark/after", F_OK);
    if (!library)
        printf("%s\n", dlerror());
    return !library;
}
