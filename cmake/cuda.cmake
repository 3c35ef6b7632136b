# CUDA, where it is wanted and there. After this file WORKSHOP_CUDA is ON or OFF.
set(WORKSHOP_CUDA AUTO CACHE STRING "Build the CUDA half: ON, OFF, or AUTO (where nvcc is found)")
set_property(CACHE WORKSHOP_CUDA PROPERTY STRINGS AUTO ON OFF)

# Infinities and NaN carry meaning here: a kernel starts from -inf, an unwritten element is NaN.
set(all_flags "$ENV{NVCC_APPEND_FLAGS} $ENV{NVCC_PREPEND_FLAGS} ")
foreach(config "" _DEBUG _RELEASE _RELWITHDEBINFO _MINSIZEREL)
  string(APPEND all_flags "${CMAKE_CXX_FLAGS${config}} ${CMAKE_CUDA_FLAGS${config}} ")
endforeach()
string(APPEND all_flags "$ENV{CUDAFLAGS}")
if(all_flags MATCHES "-ffast-math|-Ofast|-funsafe-math-optimizations|-ffinite-math-only|-?-use_fast_math")
  message(FATAL_ERROR "${CMAKE_MATCH_0} among the compiler flags: the kernels and their checks need "
    "infinity, NaN and IEEE rounding, so no fast-math option can be used here.")
endif()

if(NOT WORKSHOP_CUDA STREQUAL "AUTO" AND NOT WORKSHOP_CUDA)
  set(WORKSHOP_CUDA OFF)
  message(NOTICE "CUDA off: WORKSHOP_CUDA is OFF")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(WORKSHOP_CUDA STREQUAL "AUTO")
    set(WORKSHOP_CUDA OFF)
    message(NOTICE "CUDA off: no working nvcc found")
    return()
  endif()
  message(FATAL_ERROR "WORKSHOP_CUDA is ON and no working nvcc was found: put the toolkit's bin folder "
    "on PATH or name nvcc by CUDACXX; if nvcc is there and refuses the host compiler, name an older "
    "one by CUDAHOSTCXX; or build without CUDA: -DWORKSHOP_CUDA=OFF.")
endif()

# Turing, Ampere and all later ones through its PTX, Hopper with its own instructions. Known to every
# toolkit from 12.4 on; never `native`, which fails where no GPU is.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES "75-real;80;90a-real" CACHE STRING "What the kernels are compiled for")
endif()
enable_language(CUDA)
set(WORKSHOP_CUDA ON)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
  message(FATAL_ERROR "The CUDA Toolkit is ${CMAKE_CUDA_COMPILER_VERSION} (${CMAKE_CUDA_COMPILER}) and must "
    "be 12.4 or newer: name a newer nvcc by CUDACXX, or build without CUDA: -DWORKSHOP_CUDA=OFF.")
endif()

# CMake before 3.25.2 does not know nvcc's C++20: it would drop CMAKE_CUDA_STANDARD without a word.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

# -lineinfo: profilers and the sanitizer name source lines; it changes no instruction.
target_compile_options(workshop_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:
  -lineinfo --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas>)
if(WORKSHOP_WARNINGS_AS_ERRORS)
  target_compile_options(workshop_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>)
endif()

set(host_compiler ${CMAKE_CUDA_HOST_COMPILER})
if(NOT host_compiler)
  set(host_compiler ${CMAKE_CUDA_HOST_LINK_LAUNCHER})  # what nvcc took by itself
endif()
message(NOTICE "CUDA on: nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${CMAKE_CUDA_COMPILER}), host compiler "
  "${host_compiler}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
