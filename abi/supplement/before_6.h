/* HIP 6 renamed the first two by macro, for their struct grew; both names are still exported and
 * take the old struct. The callbacks are gone since 5.4 (headers) and 5.7 (binaries). */

#undef hipDeviceProp_t
#undef hipGetDeviceProperties
#undef hipChooseDevice
typedef hipDeviceProp_tR0600 hipDeviceProp_t;

hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *prop, int deviceId);
hipError_t hipChooseDevice(int *device, const hipDeviceProp_tR0000 *prop);

hipError_t hipRegisterApiCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveApiCallback(uint32_t id);
hipError_t hipRegisterActivityCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveActivityCallback(uint32_t id);
