#include "check.h"

int main(void) {
  void *graph = (void *)1;
  IS(NOT_SUPPORTED, hipGraphCreate(&graph, 0));
  CHECK(graph == (void *)1);
  CHECK(hipApiName(3) != NULL);
  fakehip_record(1);
  hipGraphCreate(&graph, 0);
  CHECK(strcmp(log_text(), "hipGraphCreate = hipErrorNotSupported  {not modelled}\n") == 0);
  CHECK(fakehip_modelled("hipGraphCreate") == 0 && fakehip_modelled("hipMalloc") == 1);
  CHECK(fakehip_modelled("hipNoSuchFunction") == -1);
  CHECK(fakehip_calls("hipGraphCreate") == 1);
  return 0;
}
