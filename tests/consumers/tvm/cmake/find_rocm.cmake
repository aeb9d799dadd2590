# find_rocm(path): ROCM_FOUND, ROCM_INCLUDE_DIRS, ROCM_HIPHCC_LIBRARY and
# ROCM_HSA_LIBRARY of a ROCm folder. find_library leaves a variable alone that the
# user has set, which is the seam.
macro(find_rocm path)
  set(rocm_folder "")
  foreach(candidate "${path}" "$ENV{ROCM_PATH}" /opt/rocm)
    if(NOT rocm_folder AND IS_DIRECTORY "${candidate}")
      set(rocm_folder "${candidate}")
    endif()
  endforeach()
  if(rocm_folder)
    set(ROCM_INCLUDE_DIRS "${rocm_folder}/include")
    find_library(ROCM_HIPHCC_LIBRARY amdhip64 "${rocm_folder}/lib")
    find_library(ROCM_HSA_LIBRARY hsa-runtime64 "${rocm_folder}/lib")
    if(ROCM_HIPHCC_LIBRARY)
      set(ROCM_FOUND TRUE)
    endif()
  endif()
endmacro()
