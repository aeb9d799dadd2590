/* The option arrays are plain arrays since the 7.1 release; the snapshot 7.1.25424 has one
 * indirection more. */
hipError_t hipLibraryLoadData__since_7_1(hipLibrary_t *library, const void *code,
                                         hipJitOption *jitOptions, void **jitOptionsValues,
                                         unsigned int numJitOptions,
                                         hipLibraryOption *libraryOptions,
                                         void **libraryOptionValues, unsigned int numLibraryOptions)
    __asm__("hipLibraryLoadData");
hipError_t hipLibraryLoadFromFile__since_7_1(hipLibrary_t *library, const char *fileName,
                                             hipJitOption *jitOptions, void **jitOptionsValues,
                                             unsigned int numJitOptions,
                                             hipLibraryOption *libraryOptions,
                                             void **libraryOptionValues,
                                             unsigned int numLibraryOptions)
    __asm__("hipLibraryLoadFromFile");
