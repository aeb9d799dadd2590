/* Exported by real runtimes, declared by no public header. */

/* Called by code that clang generates for device code in an executable. */
void **__hipRegisterFatBinary(const void *data);
void __hipUnregisterFatBinary(void **modules);
void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction,
                           const char *deviceName, unsigned int threadLimit, void *tid, void *bid,
                           dim3 *blockDim, dim3 *gridDim, int *wSize);
void __hipRegisterManagedVar(void *hipModule, void **pointer, void *initValue, const char *name,
                             size_t size, unsigned int align);
void __hipRegisterSurface(void **modules, void *var, char *hostVar, char *deviceVar, int type,
                          int ext);
void __hipRegisterTexture(void **modules, void *var, char *hostVar, char *deviceVar, int type,
                          int norm, int ext);
void __hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext,
                      size_t size, int constant, int global);

/* Looked up by ROCm's tracing libraries. The tracer's callback is a function pointer
 * int (*)(int domain, uint32_t operation, void *data). */
void hipInitActivityCallback(void *idCallback, void *opCallback, void *arg);
bool hipEnableActivityCallback(unsigned int op, bool enable);
const char *hipGetCmdName(unsigned int op);
void hipRegisterTracerCallback(void *function);

/* Does nothing: a place for a debugger's breakpoint, called by the runtime on every error. */
void __hipOnError(void *errInfo);

/* Seen in one development snapshot of 6.3 (October 2024), in no release and no runtime. */
hipError_t hipExtHostAlloc(void **ptr, size_t size, unsigned int flags);
