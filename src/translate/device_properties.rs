//! Device properties: the struct of HIP 6 and newer, filled by runtimes that have only the
//! older one.
//!
//! A function of another name tells the struct, so nothing here depends on the caller's
//! headers, and a runtime that exports the name is called directly.

use core::ffi::{c_int, c_uint};
use core::mem::{MaybeUninit, offset_of};
use core::ptr;

use super::{Real, SUCCESS, Status, call, layout};

/// `hipDeviceProp_t` of HIP 5, `hipDeviceProp_tR0000` since.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Legacy {
    name: [u8; 256],
    total_global_mem: usize,
    shared_mem_per_block: usize,
    regs_per_block: c_int,
    warp_size: c_int,
    max_threads_per_block: c_int,
    max_threads_dim: [c_int; 3],
    max_grid_size: [c_int; 3],
    clock_rate: c_int,
    memory_clock_rate: c_int,
    memory_bus_width: c_int,
    total_const_mem: usize,
    major: c_int,
    minor: c_int,
    multi_processor_count: c_int,
    l2_cache_size: c_int,
    max_threads_per_multi_processor: c_int,
    compute_mode: c_int,
    clock_instruction_rate: c_int,
    arch: u32,
    concurrent_kernels: c_int,
    pci_domain_id: c_int,
    pci_bus_id: c_int,
    pci_device_id: c_int,
    max_shared_memory_per_multi_processor: usize,
    is_multi_gpu_board: c_int,
    can_map_host_memory: c_int,
    gcn_arch: c_int,
    gcn_arch_name: [u8; 256],
    integrated: c_int,
    cooperative_launch: c_int,
    cooperative_multi_device_launch: c_int,
    max_texture_1d_linear: c_int,
    max_texture_1d: c_int,
    max_texture_2d: [c_int; 2],
    max_texture_3d: [c_int; 3],
    padding: u32,
    hdp_mem_flush_cntl: *mut c_uint,
    hdp_reg_flush_cntl: *mut c_uint,
    mem_pitch: usize,
    texture_alignment: usize,
    texture_pitch_alignment: usize,
    kernel_exec_timeout_enabled: c_int,
    ecc_enabled: c_int,
    tcc_driver: c_int,
    cooperative_multi_device_unmatched_func: c_int,
    cooperative_multi_device_unmatched_grid_dim: c_int,
    cooperative_multi_device_unmatched_block_dim: c_int,
    cooperative_multi_device_unmatched_shared_mem: c_int,
    is_large_bar: c_int,
    asic_revision: c_int,
    managed_memory: c_int,
    direct_managed_mem_access_from_host: c_int,
    concurrent_managed_access: c_int,
    pageable_memory_access: c_int,
    pageable_memory_access_uses_host_page_tables: c_int,
}
layout!(Legacy: 792 bytes, no padding; name at 0, total_global_mem at 256, shared_mem_per_block at 264, regs_per_block at 272, warp_size at 276, max_threads_per_block at 280, max_threads_dim at 284, max_grid_size at 296, clock_rate at 308, memory_clock_rate at 312, memory_bus_width at 316, total_const_mem at 320, major at 328, minor at 332, multi_processor_count at 336, l2_cache_size at 340, max_threads_per_multi_processor at 344, compute_mode at 348, clock_instruction_rate at 352, arch at 356, concurrent_kernels at 360, pci_domain_id at 364, pci_bus_id at 368, pci_device_id at 372, max_shared_memory_per_multi_processor at 376, is_multi_gpu_board at 384, can_map_host_memory at 388, gcn_arch at 392, gcn_arch_name at 396, integrated at 652, cooperative_launch at 656, cooperative_multi_device_launch at 660, max_texture_1d_linear at 664, max_texture_1d at 668, max_texture_2d at 672, max_texture_3d at 680, padding at 692, hdp_mem_flush_cntl at 696, hdp_reg_flush_cntl at 704, mem_pitch at 712, texture_alignment at 720, texture_pitch_alignment at 728, kernel_exec_timeout_enabled at 736, ecc_enabled at 740, tcc_driver at 744, cooperative_multi_device_unmatched_func at 748, cooperative_multi_device_unmatched_grid_dim at 752, cooperative_multi_device_unmatched_block_dim at 756, cooperative_multi_device_unmatched_shared_mem at 760, is_large_bar at 764, asic_revision at 768, managed_memory at 772, direct_managed_mem_access_from_host at 776, concurrent_managed_access at 780, pageable_memory_access at 784, pageable_memory_access_uses_host_page_tables at 788);

/// `hipDeviceProp_tR0600`, of HIP 6 and newer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct R0600 {
    name: [u8; 256],
    uuid: [u8; 16],
    luid: [u8; 8],
    luid_device_node_mask: c_uint,
    padding: u32,
    total_global_mem: usize,
    shared_mem_per_block: usize,
    regs_per_block: c_int,
    warp_size: c_int,
    mem_pitch: usize,
    max_threads_per_block: c_int,
    max_threads_dim: [c_int; 3],
    max_grid_size: [c_int; 3],
    clock_rate: c_int,
    total_const_mem: usize,
    major: c_int,
    minor: c_int,
    texture_alignment: usize,
    texture_pitch_alignment: usize,
    device_overlap: c_int,
    multi_processor_count: c_int,
    kernel_exec_timeout_enabled: c_int,
    integrated: c_int,
    can_map_host_memory: c_int,
    compute_mode: c_int,
    max_texture_1d: c_int,
    max_texture_1d_mipmap: c_int,
    max_texture_1d_linear: c_int,
    max_texture_2d: [c_int; 2],
    max_texture_2d_mipmap: [c_int; 2],
    max_texture_2d_linear: [c_int; 3],
    max_texture_2d_gather: [c_int; 2],
    max_texture_3d: [c_int; 3],
    max_texture_3d_alt: [c_int; 3],
    max_texture_cubemap: c_int,
    max_texture_1d_layered: [c_int; 2],
    max_texture_2d_layered: [c_int; 3],
    max_texture_cubemap_layered: [c_int; 2],
    max_surface_1d: c_int,
    max_surface_2d: [c_int; 2],
    max_surface_3d: [c_int; 3],
    max_surface_1d_layered: [c_int; 2],
    max_surface_2d_layered: [c_int; 3],
    max_surface_cubemap: c_int,
    max_surface_cubemap_layered: [c_int; 2],
    surface_alignment: usize,
    concurrent_kernels: c_int,
    ecc_enabled: c_int,
    pci_bus_id: c_int,
    pci_device_id: c_int,
    pci_domain_id: c_int,
    tcc_driver: c_int,
    async_engine_count: c_int,
    unified_addressing: c_int,
    memory_clock_rate: c_int,
    memory_bus_width: c_int,
    l2_cache_size: c_int,
    persisting_l2_cache_max_size: c_int,
    max_threads_per_multi_processor: c_int,
    stream_priorities_supported: c_int,
    global_l1_cache_supported: c_int,
    local_l1_cache_supported: c_int,
    shared_mem_per_multiprocessor: usize,
    regs_per_multiprocessor: c_int,
    managed_memory: c_int,
    is_multi_gpu_board: c_int,
    multi_gpu_board_group_id: c_int,
    host_native_atomic_supported: c_int,
    single_to_double_precision_perf_ratio: c_int,
    pageable_memory_access: c_int,
    concurrent_managed_access: c_int,
    compute_preemption_supported: c_int,
    can_use_host_pointer_for_registered_mem: c_int,
    cooperative_launch: c_int,
    cooperative_multi_device_launch: c_int,
    shared_mem_per_block_optin: usize,
    pageable_memory_access_uses_host_page_tables: c_int,
    direct_managed_mem_access_from_host: c_int,
    max_blocks_per_multi_processor: c_int,
    access_policy_max_window_size: c_int,
    reserved_shared_mem_per_block: usize,
    host_register_supported: c_int,
    sparse_hip_array_supported: c_int,
    host_register_read_only_supported: c_int,
    timeline_semaphore_interop_supported: c_int,
    memory_pools_supported: c_int,
    gpu_direct_rdma_supported: c_int,
    gpu_direct_rdma_flush_writes_options: c_uint,
    gpu_direct_rdma_writes_ordering: c_int,
    memory_pool_supported_handle_types: c_uint,
    deferred_mapping_hip_array_supported: c_int,
    ipc_event_supported: c_int,
    cluster_launch: c_int,
    unified_function_pointers: c_int,
    reserved: [c_int; 63],
    hip_reserved: [c_int; 32],
    gcn_arch_name: [u8; 256],
    max_shared_memory_per_multi_processor: usize,
    clock_instruction_rate: c_int,
    arch: u32,
    hdp_mem_flush_cntl: *mut c_uint,
    hdp_reg_flush_cntl: *mut c_uint,
    cooperative_multi_device_unmatched_func: c_int,
    cooperative_multi_device_unmatched_grid_dim: c_int,
    cooperative_multi_device_unmatched_block_dim: c_int,
    cooperative_multi_device_unmatched_shared_mem: c_int,
    is_large_bar: c_int,
    asic_revision: c_int,
}
layout!(R0600: 1472 bytes, no padding; name at 0, uuid at 256, luid at 272, luid_device_node_mask at 280, padding at 284, total_global_mem at 288, shared_mem_per_block at 296, regs_per_block at 304, warp_size at 308, mem_pitch at 312, max_threads_per_block at 320, max_threads_dim at 324, max_grid_size at 336, clock_rate at 348, total_const_mem at 352, major at 360, minor at 364, texture_alignment at 368, texture_pitch_alignment at 376, device_overlap at 384, multi_processor_count at 388, kernel_exec_timeout_enabled at 392, integrated at 396, can_map_host_memory at 400, compute_mode at 404, max_texture_1d at 408, max_texture_1d_mipmap at 412, max_texture_1d_linear at 416, max_texture_2d at 420, max_texture_2d_mipmap at 428, max_texture_2d_linear at 436, max_texture_2d_gather at 448, max_texture_3d at 456, max_texture_3d_alt at 468, max_texture_cubemap at 480, max_texture_1d_layered at 484, max_texture_2d_layered at 492, max_texture_cubemap_layered at 504, max_surface_1d at 512, max_surface_2d at 516, max_surface_3d at 524, max_surface_1d_layered at 536, max_surface_2d_layered at 544, max_surface_cubemap at 556, max_surface_cubemap_layered at 560, surface_alignment at 568, concurrent_kernels at 576, ecc_enabled at 580, pci_bus_id at 584, pci_device_id at 588, pci_domain_id at 592, tcc_driver at 596, async_engine_count at 600, unified_addressing at 604, memory_clock_rate at 608, memory_bus_width at 612, l2_cache_size at 616, persisting_l2_cache_max_size at 620, max_threads_per_multi_processor at 624, stream_priorities_supported at 628, global_l1_cache_supported at 632, local_l1_cache_supported at 636, shared_mem_per_multiprocessor at 640, regs_per_multiprocessor at 648, managed_memory at 652, is_multi_gpu_board at 656, multi_gpu_board_group_id at 660, host_native_atomic_supported at 664, single_to_double_precision_perf_ratio at 668, pageable_memory_access at 672, concurrent_managed_access at 676, compute_preemption_supported at 680, can_use_host_pointer_for_registered_mem at 684, cooperative_launch at 688, cooperative_multi_device_launch at 692, shared_mem_per_block_optin at 696, pageable_memory_access_uses_host_page_tables at 704, direct_managed_mem_access_from_host at 708, max_blocks_per_multi_processor at 712, access_policy_max_window_size at 716, reserved_shared_mem_per_block at 720, host_register_supported at 728, sparse_hip_array_supported at 732, host_register_read_only_supported at 736, timeline_semaphore_interop_supported at 740, memory_pools_supported at 744, gpu_direct_rdma_supported at 748, gpu_direct_rdma_flush_writes_options at 752, gpu_direct_rdma_writes_ordering at 756, memory_pool_supported_handle_types at 760, deferred_mapping_hip_array_supported at 764, ipc_event_supported at 768, cluster_launch at 772, unified_function_pointers at 776, reserved at 780, hip_reserved at 1032, gcn_arch_name at 1160, max_shared_memory_per_multi_processor at 1416, clock_instruction_rate at 1424, arch at 1428, hdp_mem_flush_cntl at 1432, hdp_reg_flush_cntl at 1440, cooperative_multi_device_unmatched_func at 1448, cooperative_multi_device_unmatched_grid_dim at 1452, cooperative_multi_device_unmatched_block_dim at 1456, cooperative_multi_device_unmatched_shared_mem at 1460, is_large_bar at 1464, asic_revision at 1468);

/// A field that both structs have: where it begins in each, and its bytes.
struct Common {
    legacy: u16,
    r0600: u16,
    size: u16,
}

impl Common {
    /// The fields are of the same type, or this does not compile.
    const fn new<F>(
        legacy: usize,
        _: fn(&Legacy) -> &F,
        r0600: usize,
        _: fn(&R0600) -> &F,
    ) -> Common {
        Common {
            legacy: legacy as u16,
            r0600: r0600 as u16,
            size: size_of::<F>() as u16,
        }
    }
}

macro_rules! common {
    ($($field:ident)+) => {
        /// A table, as the copies one by one are ten times its size.
        static COMMON: &[Common] = &[$(
            Common::new(
                offset_of!(Legacy, $field), |it| &it.$field,
                offset_of!(R0600, $field), |it| &it.$field,
            )
        ),+];
    };
}
common!(
    name total_global_mem shared_mem_per_block regs_per_block warp_size
    max_threads_per_block max_threads_dim max_grid_size clock_rate memory_clock_rate
    memory_bus_width total_const_mem major minor multi_processor_count l2_cache_size
    max_threads_per_multi_processor compute_mode clock_instruction_rate arch
    concurrent_kernels pci_domain_id pci_bus_id pci_device_id
    max_shared_memory_per_multi_processor is_multi_gpu_board can_map_host_memory
    gcn_arch_name integrated cooperative_launch cooperative_multi_device_launch
    max_texture_1d_linear max_texture_1d max_texture_2d max_texture_3d
    hdp_mem_flush_cntl hdp_reg_flush_cntl mem_pitch texture_alignment
    texture_pitch_alignment kernel_exec_timeout_enabled ecc_enabled tcc_driver
    cooperative_multi_device_unmatched_func cooperative_multi_device_unmatched_grid_dim
    cooperative_multi_device_unmatched_block_dim
    cooperative_multi_device_unmatched_shared_mem is_large_bar asic_revision
    managed_memory direct_managed_mem_access_from_host concurrent_managed_access
    pageable_memory_access pageable_memory_access_uses_host_page_tables
);

/// The newer struct; what HIP 5 does not tell is zero.
fn newer(legacy: &Legacy) -> R0600 {
    let mut properties = MaybeUninit::<R0600>::zeroed();
    let (from, to) = (
        ptr::from_ref(legacy).cast::<u8>(),
        properties.as_mut_ptr().cast::<u8>(),
    );
    for field in COMMON {
        // SAFETY: a field of each, of this size.
        unsafe {
            let (from, to) = (from.add(field.legacy.into()), to.add(field.r0600.into()));
            ptr::copy_nonoverlapping(from, to, field.size.into());
        }
    }
    // SAFETY: numbers and null pointers, or copies of a field.
    unsafe { properties.assume_init() }
}

/// The older struct; `gcnArch`, the number that was given up for a name, is zero.
fn older(properties: &R0600) -> Legacy {
    let mut legacy = MaybeUninit::<Legacy>::zeroed();
    let (from, to) = (
        ptr::from_ref(properties).cast::<u8>(),
        legacy.as_mut_ptr().cast::<u8>(),
    );
    for field in COMMON {
        // SAFETY: a field of each, of this size.
        unsafe {
            let (from, to) = (from.add(field.r0600.into()), to.add(field.legacy.into()));
            ptr::copy_nonoverlapping(from, to, field.size.into());
        }
    }
    // SAFETY: as in `newer`.
    unsafe { legacy.assume_init() }
}

/// `hipDeviceProp_t_v2` of Hygon's DTK, a derivative of HIP: R0600 and eight bytes more, as
/// the Julia package AMDGPU.jl found it (its `src/hip/compat.jl`).
#[repr(C)]
pub(super) struct Derivative {
    properties: R0600,
    more: u64,
}
layout!(Derivative: 1480 bytes; properties at 0, more at 1472);

/// Whether the runtime is the derivative, which has both functions with that struct.
fn is_derivative() -> bool {
    let both = [Real::hipGetDeviceProperties_v2, Real::hipChooseDevice_v2];
    both.iter().all(|function| !function.address().is_null())
}

/// `hipGetDevicePropertiesR0600` by what the runtime has instead.
pub(super) unsafe extern "C" fn get_r0600(properties: *mut R0600, device: c_int) -> Status {
    if is_derivative() {
        let mut own = MaybeUninit::<Derivative>::zeroed();
        let place = match properties.is_null() {
            true => core::ptr::null_mut(),
            false => own.as_mut_ptr(),
        };
        // SAFETY: room for the derivative's struct, or null.
        let status =
            unsafe { call!(hipGetDeviceProperties_v2(place => *mut Derivative, device => c_int)) };
        if status == SUCCESS && !properties.is_null() {
            // SAFETY: zeroed at first, all bit patterns are valid; not null, hence writable.
            unsafe { properties.write(own.assume_init().properties) };
        }
        return status;
    }
    let mut own = MaybeUninit::<Legacy>::zeroed();
    let place = match properties.is_null() {
        true => core::ptr::null_mut(),
        false => own.as_mut_ptr(),
    };
    // SAFETY: room for the older struct, or null.
    let status = unsafe { call!(hipGetDeviceProperties(place => *mut Legacy, device => c_int)) };
    if status == SUCCESS && !properties.is_null() {
        // SAFETY: as above.
        unsafe { properties.write(newer(own.assume_init_ref())) };
    }
    status
}

/// `hipChooseDeviceR0600` by what the runtime has instead.
pub(super) unsafe extern "C" fn choose_r0600(
    device: *mut c_int,
    properties: *const R0600,
) -> Status {
    // SAFETY: null or the caller's struct.
    let given = unsafe { properties.as_ref() };
    if is_derivative() {
        let own = given.map(|given| Derivative {
            properties: *given,
            more: 0,
        });
        let place = own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: the derivative's struct, or null.
        return unsafe {
            call!(hipChooseDevice_v2(device => *mut c_int, place => *const Derivative))
        };
    }
    let own = given.map(older);
    let place = own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the older struct, or null.
    unsafe { call!(hipChooseDevice(device => *mut c_int, place => *const Legacy)) }
}

/// `hipGetDevicePropertiesR0000`: the older struct under the name that HIP 6 gave it.
pub(super) unsafe extern "C" fn get_r0000(properties: *mut Legacy, device: c_int) -> Status {
    // SAFETY: as the caller called it.
    unsafe { call!(hipGetDeviceProperties(properties => *mut Legacy, device => c_int)) }
}

/// `hipChooseDeviceR0000`, likewise.
pub(super) unsafe extern "C" fn choose_r0000(
    device: *mut c_int,
    properties: *const Legacy,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { call!(hipChooseDevice(device => *mut c_int, properties => *const Legacy)) }
}
