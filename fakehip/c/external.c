/* External memory and semaphores, and the graph nodes for them. Handles are
 * checked for presence only. */
#include "call.h"
#include "given.h"
#include "layouts.h"
#include "stream.h"

HIP(hipImportExternalMemory, (out, hipExternalMemory_t, memory),
    (given, hipExternalMemoryHandleDesc, description)) {
  /* The handle types are numbered from 1. */
  if (!memory || !description || description->type < 1) return hipErrorInvalidValue;
  *memory = fake_opaque();
  return hipSuccess;
}

HIP(hipExternalMemoryGetMappedBuffer, (out, void *, pointer), (in, hipExternalMemory_t, memory),
    (given, hipExternalMemoryBufferDesc, description)) {
  if (!pointer || !memory || !description) return hipErrorInvalidValue;
  *pointer = fake_opaque();
  return hipSuccess;
}

HIP(hipImportExternalSemaphore, (out, hipExternalSemaphore_t, semaphore),
    (given, hipExternalSemaphoreHandleDesc, description)) {
  if (!semaphore || !description || description->type < 1) return hipErrorInvalidValue;
  *semaphore = fake_opaque();
  return hipSuccess;
}

HIP(hipSignalExternalSemaphoresAsync, (raw, const hipExternalSemaphore_t *, semaphores),
    (raw, const hipExternalSemaphoreSignalParams *, params), (in, unsigned, count),
    (in, hipStream_t, stream)) {
  if (!semaphores || !params || count == 0) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  given_array(0, semaphores, count, sizeof *semaphores);
  given_array(1, params, count, sizeof *params);
  return hipSuccess;
}

HIP(hipWaitExternalSemaphoresAsync, (raw, const hipExternalSemaphore_t *, semaphores),
    (raw, const hipExternalSemaphoreWaitParams *, params), (in, unsigned, count),
    (in, hipStream_t, stream)) {
  if (!semaphores || !params || count == 0) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  given_array(0, semaphores, count, sizeof *semaphores);
  given_array(1, params, count, sizeof *params);
  return hipSuccess;
}

/* --- graph nodes ------------------------------------------------------------ */

/* Keeps what the params point to, for signal and wait alike. */
#define CHECK_NODE_PARAMS(params)                                                        \
  do {                                                                                   \
    if (!(params) || !(params)->extSemArray || !(params)->paramsArray ||                 \
        (params)->numExtSems == 0)                                                       \
      return hipErrorInvalidValue;                                                       \
    given_array(POINTED_TO, (params)->paramsArray, (params)->numExtSems,                 \
                sizeof *(params)->paramsArray);                                          \
  } while (0)

#define ADD_SEMAPHORES_NODE(node, graph, dependencies, count, params)                    \
  if (!(node) || !(graph) || (!(dependencies) && (count))) return hipErrorInvalidValue;  \
  given_array(2, dependencies, count, sizeof *(dependencies));                           \
  CHECK_NODE_PARAMS(params);                                                             \
  *(node) = fake_opaque();                                                               \
  return hipSuccess

HIP(hipGraphAddExternalSemaphoresSignalNode, (out, hipGraphNode_t, node), (in, hipGraph_t, graph),
    (raw, const hipGraphNode_t *, dependencies), (in, size_t, count),
    (given, hipExternalSemaphoreSignalNodeParams, params)) {
  ADD_SEMAPHORES_NODE(node, graph, dependencies, count, params);
}

HIP(hipGraphAddExternalSemaphoresWaitNode, (out, hipGraphNode_t, node), (in, hipGraph_t, graph),
    (raw, const hipGraphNode_t *, dependencies), (in, size_t, count),
    (given, hipExternalSemaphoreWaitNodeParams, params)) {
  ADD_SEMAPHORES_NODE(node, graph, dependencies, count, params);
}

HIP(hipGraphExternalSemaphoresSignalNodeSetParams, (in, hipGraphNode_t, node),
    (given, hipExternalSemaphoreSignalNodeParams, params)) {
  if (!node) return hipErrorInvalidValue;
  CHECK_NODE_PARAMS(params);
  return hipSuccess;
}

HIP(hipGraphExternalSemaphoresWaitNodeSetParams, (in, hipGraphNode_t, node),
    (given, hipExternalSemaphoreWaitNodeParams, params)) {
  if (!node) return hipErrorInvalidValue;
  CHECK_NODE_PARAMS(params);
  return hipSuccess;
}

HIP(hipGraphExecExternalSemaphoresSignalNodeSetParams, (in, hipGraphExec_t, exec),
    (in, hipGraphNode_t, node), (given, hipExternalSemaphoreSignalNodeParams, params)) {
  if (!exec || !node) return hipErrorInvalidValue;
  CHECK_NODE_PARAMS(params);
  return hipSuccess;
}

HIP(hipGraphExecExternalSemaphoresWaitNodeSetParams, (in, hipGraphExec_t, exec),
    (in, hipGraphNode_t, node), (given, hipExternalSemaphoreWaitNodeParams, params)) {
  if (!exec || !node) return hipErrorInvalidValue;
  CHECK_NODE_PARAMS(params);
  return hipSuccess;
}

/* What a node that was not set answers: two semaphores, no two members equal. */
static hipExternalSemaphore_t own_semaphores[2] = {(void *)0xfa4e5e0000001000,
                                                   (void *)0xfa4e5e0000002000};
#if HIP_SINCE(6, 0)
#define SYNC(number) .nvSciSync.reserved = 0x510000 + (number),
#else
#define SYNC(number)
#endif
#define OWN_SIGNAL(number)                                                              \
  {.params = {.fence.value = 0x5100 + (number), SYNC(number).keyedMutex.key = 0x5110 + (number)}, \
   .flags = 0x5120 + (number)}
#define OWN_WAIT(number)                                                                \
  {.params = {.fence.value = 0x5200 + (number),                                         \
              SYNC(0x100 + (number)).keyedMutex = {0x5210 + (number), 0x5220 + (number)}}, \
   .flags = 0x5230 + (number)}
static const hipExternalSemaphoreSignalParams own_signals[2] = {OWN_SIGNAL(0), OWN_SIGNAL(1)};
static const hipExternalSemaphoreWaitParams own_waits[2] = {OWN_WAIT(0), OWN_WAIT(1)};

HIP(hipGraphExternalSemaphoresSignalNodeGetParams, (in, hipGraphNode_t, node),
    (fill, hipExternalSemaphoreSignalNodeParams, params)) {
  if (!node || !params) return hipErrorInvalidValue;
  *params = (hipExternalSemaphoreSignalNodeParams){own_semaphores, own_signals, 2};
  return hipSuccess;
}

HIP(hipGraphExternalSemaphoresWaitNodeGetParams, (in, hipGraphNode_t, node),
    (fill, hipExternalSemaphoreWaitNodeParams, params)) {
  if (!node || !params) return hipErrorInvalidValue;
  *params = (hipExternalSemaphoreWaitNodeParams){own_semaphores, own_waits, 2};
  return hipSuccess;
}
