# The HIP headers that a consumer is compiled with: real ones if HIP_INCLUDE names
# their folder, else those that come with the target it links.
function(use_hip_headers target)
  if(HIP_INCLUDE)
    target_include_directories(${target} SYSTEM BEFORE PRIVATE ${HIP_INCLUDE})
    target_compile_definitions(${target} PRIVATE __HIP_PLATFORM_AMD__)
    # Otherwise the compiler would find hiplazy's, which refuses to go with others.
    if(NOT EXISTS ${HIP_INCLUDE}/hip/hiprtc.h)
      target_compile_definitions(${target} PRIVATE WITHOUT_HIPRTC)
    endif()
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
endfunction()
