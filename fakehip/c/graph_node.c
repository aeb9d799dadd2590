/* Graph nodes whose parameters changed from version to version. Graphs are not
 * modelled: any handle that is not NULL passes, and a node does not remember what
 * it was given. */
#include "call.h"
#include "given.h"
#include "layouts.h"

#define CHECK_ADD(node, graph, dependencies, count, params)                            \
  do {                                                                                 \
    if (!(node) || !(graph) || (!(dependencies) && (count)) || !(params))              \
      return hipErrorInvalidValue;                                                     \
    given_array(2, dependencies, count, sizeof *(dependencies));                       \
  } while (0)

HIP(hipGraphNodeGetType, (in, hipGraphNode_t, node), (out, hipGraphNodeType, type)) {
  if (!node || !type) return hipErrorInvalidValue;
  *type = hipGraphNodeTypeKernel;
  return hipSuccess;
}

/* --- copies ------------------------------------------------------------------ */

static hipError_t check_copy(const HIP_MEMCPY3D *copy) {
  return copy && is_memory_type(copy->srcMemoryType) && is_memory_type(copy->dstMemoryType)
             ? hipSuccess
             : hipErrorInvalidValue;
}

HIP(hipDrvGraphAddMemcpyNode, (out, hipGraphNode_t, node), (in, hipGraph_t, graph),
    (raw, const hipGraphNode_t *, dependencies), (in, size_t, count),
    (given, HIP_MEMCPY3D, params), (in, hipCtx_t, context)) {
  (void)context;
  CHECK_ADD(node, graph, dependencies, count, params);
  if (check_copy(params) != hipSuccess) return hipErrorInvalidValue;
  *node = fake_opaque();
  return hipSuccess;
}

HIP(hipDrvGraphMemcpyNodeSetParams, (in, hipGraphNode_t, node), (given, HIP_MEMCPY3D, params)) {
  if (!node) return hipErrorInvalidValue;
  return check_copy(params);
}

HIP(hipDrvGraphExecMemcpyNodeSetParams, (in, hipGraphExec_t, exec), (in, hipGraphNode_t, node),
    (given, HIP_MEMCPY3D, params), (in, hipCtx_t, context)) {
  (void)context;
  if (!exec || !node) return hipErrorInvalidValue;
  return check_copy(params);
}

/* No two members are equal. */
static const HIP_MEMCPY3D own_copy = {
    .srcXInBytes = 0x3d01,
    .srcY = 0x3d02,
    .srcZ = 0x3d03,
    .srcLOD = 0x3d04,
    .srcMemoryType = hipMemoryTypeHost,
    .srcHost = (void *)0xfa4e3d0000001000,
    .srcDevice = (void *)0xfa4e3d0000002000,
    .srcArray = (void *)0xfa4e3d0000003000,
    .srcPitch = 0x3d05,
    .srcHeight = 0x3d06,
    .dstXInBytes = 0x3d07,
    .dstY = 0x3d08,
    .dstZ = 0x3d09,
    .dstLOD = 0x3d0a,
    .dstMemoryType = hipMemoryTypeDevice,
    .dstHost = (void *)0xfa4e3d0000004000,
    .dstDevice = (void *)0xfa4e3d0000005000,
    .dstArray = (void *)0xfa4e3d0000006000,
    .dstPitch = 0x3d0b,
    .dstHeight = 0x3d0c,
    .WidthInBytes = 0x3d0d,
    .Height = 0x3d0e,
    .Depth = 0x3d0f,
};

HIP(hipDrvGraphMemcpyNodeGetParams, (in, hipGraphNode_t, node), (fill, HIP_MEMCPY3D, params)) {
  if (!node || !params) return hipErrorInvalidValue;
  *params = own_copy;
  return hipSuccess;
}

/* --- fills -------------------------------------------------------------------- */

static hipError_t check_fill(const drv_memset_params *params) {
  if (!params) return hipErrorInvalidValue;
  return params->elementSize == 1 || params->elementSize == 2 || params->elementSize == 4
             ? hipSuccess
             : hipErrorInvalidValue;
}

HIP(hipDrvGraphAddMemsetNode, (out, hipGraphNode_t, node), (in, hipGraph_t, graph),
    (raw, const hipGraphNode_t *, dependencies), (in, size_t, count),
    (given, drv_memset_params, params), (in, hipCtx_t, context)) {
  (void)context;
  CHECK_ADD(node, graph, dependencies, count, params);
  if (check_fill(params) != hipSuccess) return hipErrorInvalidValue;
  *node = fake_opaque();
  return hipSuccess;
}

HIP(hipDrvGraphExecMemsetNodeSetParams, (in, hipGraphExec_t, exec), (in, hipGraphNode_t, node),
    (given, drv_memset_params, params), (in, hipCtx_t, context)) {
  (void)context;
  if (!exec || !node) return hipErrorInvalidValue;
  return check_fill(params);
}

/* --- kernel attributes ---------------------------------------------------------- */

/* The numbers are those of hipLaunchAttributeID, not checked. */
HIP(hipGraphKernelNodeSetAttribute, (in, hipGraphNode_t, node), (in, unsigned, attribute),
    (given, hipLaunchAttributeValue, value)) {
  (void)attribute;
  return node && value ? hipSuccess : hipErrorInvalidValue;
}

/* The whole union, also where the attribute takes a part of it: since 7.0 64 bytes. */
HIP(hipGraphKernelNodeGetAttribute, (in, hipGraphNode_t, node), (in, unsigned, attribute),
    (fill, hipLaunchAttributeValue, value)) {
  (void)attribute;
  if (!node || !value) return hipErrorInvalidValue;
  unsigned char *bytes = (unsigned char *)value;
  for (size_t i = 0; i < sizeof *value; i++) bytes[i] = (unsigned char)(0xa0 + i);
  return hipSuccess;
}

/* --- allocations ------------------------------------------------------------------ */

HIP(hipGraphAddMemAllocNode, (out, hipGraphNode_t, node), (in, hipGraph_t, graph),
    (raw, const hipGraphNode_t *, dependencies), (in, size_t, count),
    (both, hipMemAllocNodeParams, params)) {
  CHECK_ADD(node, graph, dependencies, count, params);
  given_array(POINTED_TO, params->accessDescs, params->accessDescCount,
              sizeof *params->accessDescs);
  params->dptr = fake_opaque();
  *node = fake_opaque();
  return hipSuccess;
}

static const hipMemAccessDesc own_access = {{1, 0}, 3};

HIP(hipGraphMemAllocNodeGetParams, (in, hipGraphNode_t, node),
    (fill, hipMemAllocNodeParams, params)) {
  if (!node || !params) return hipErrorInvalidValue;
  *params = (hipMemAllocNodeParams){
      .poolProps = {.allocType = hipMemAllocationTypePinned,
                    .handleTypes = 1,
                    .location = {1, 0},
                    .win32SecurityAttributes = (void *)0xfa4ea10000001000,
#if HIP_SINCE(6, 2)
                    .maxSize = 0xa110000,
#endif
      },
      .accessDescs = &own_access,
      .accessDescCount = 1,
      .bytesize = 0xa120000,
      .dptr = (void *)0xfa4ea10000002000,
  };
  return hipSuccess;
}

/* --- nodes of any type -------------------------------------------------------------- */

static hipError_t check_node(hipGraphNodeParams *params) {
  if (!params || params->type >= hipGraphNodeTypeCount) return hipErrorInvalidValue;
#if HIP_SINCE(5, 5)
  switch (params->type) {
    case hipGraphNodeTypeExtSemaphoreSignal:
      given_array(POINTED_TO, params->extSemSignal.paramsArray, params->extSemSignal.numExtSems,
                  sizeof *params->extSemSignal.paramsArray);
      break;
    case hipGraphNodeTypeExtSemaphoreWait:
      given_array(POINTED_TO, params->extSemWait.paramsArray, params->extSemWait.numExtSems,
                  sizeof *params->extSemWait.paramsArray);
      break;
    default: break;
  }
#endif
  return hipSuccess;
}

HIP(hipGraphAddNode, (out, hipGraphNode_t, node), (in, hipGraph_t, graph),
    (raw, const hipGraphNode_t *, dependencies), (in, size_t, count),
    (both, hipGraphNodeParams, params)) {
  CHECK_ADD(node, graph, dependencies, count, params);
  if (check_node(params) != hipSuccess) return hipErrorInvalidValue;
#if HIP_SINCE(5, 5)
  if (params->type == hipGraphNodeTypeMemAlloc) params->alloc.dptr = fake_opaque();
#endif
  *node = fake_opaque();
  return hipSuccess;
}

HIP(hipGraphNodeSetParams, (in, hipGraphNode_t, node), (both, hipGraphNodeParams, params)) {
  return node ? check_node(params) : hipErrorInvalidValue;
}

HIP(hipGraphExecNodeSetParams, (in, hipGraphExec_t, exec), (in, hipGraphNode_t, node),
    (both, hipGraphNodeParams, params)) {
  return exec && node ? check_node(params) : hipErrorInvalidValue;
}
