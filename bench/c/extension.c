/* An otherwise empty extension, to see how much a linked library adds to it.
 * EXTENSION_CALLS makes it call one function. */
#ifdef EXTENSION_CALLS
int hiplazy_hipGetDevice(int *device);
#endif

int extension(int *device)
{
#ifdef EXTENSION_CALLS
  return hiplazy_hipGetDevice(device);
#else
  return *device;
#endif
}
