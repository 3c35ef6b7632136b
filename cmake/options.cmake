# Build type, standard and warnings for every target of the project.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

option(WORKSHOP_WARNINGS_AS_ERRORS "Warnings stop the build" OFF)
option(WORKSHOP_SANITIZE "Build with AddressSanitizer and UBSan" OFF)
option(WORKSHOP_BENCHMARKS "Build the benchmarks, which need Google Benchmark" OFF)
option(BUILD_TESTING "Build the tests" ${PROJECT_IS_TOP_LEVEL})

add_library(workshop_options INTERFACE)
target_compile_features(workshop_options INTERFACE cxx_std_20)
target_include_directories(workshop_options INTERFACE ${PROJECT_SOURCE_DIR})
# No fused multiply-add: the CPU device gives the same bits on every compiler and machine.
target_compile_options(workshop_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unknown-pragmas -ffp-contract=off>)
if(WORKSHOP_WARNINGS_AS_ERRORS)
  target_compile_options(workshop_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(WORKSHOP_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined
                 -fno-omit-frame-pointer)
  target_compile_options(workshop_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitizers}>)
  target_link_options(workshop_options INTERFACE ${sanitizers})
endif()
