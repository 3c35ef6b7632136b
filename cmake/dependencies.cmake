# The libraries: found on the system, else fetched at a pinned commit, whose hash is the checksum.
# With all of them found nothing touches the network.
# Boost.Context is optional and belongs to common/device/cpu.
include(FetchContent)
find_package(Threads REQUIRED)

# workshop_dependency(PACKAGE DEBIAN_PACKAGE REPOSITORY COMMIT)
# A macro: what a package's configuration sets (targets, CMAKE_MODULE_PATH) must reach our scope.
macro(workshop_dependency package debian_package repository commit)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    workshop_require_reachable(${package} ${debian_package} ${repository})
    # SYSTEM (no warnings from their headers) must stand first: CMake 3.25 misreads it elsewhere.
    FetchContent_Declare(${package} SYSTEM GIT_REPOSITORY ${repository} GIT_TAG ${commit})
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

# Stops with one sentence where CMake's own error would be a page: not installed, not reachable.
function(workshop_require_reachable package debian_package repository)
  string(TOLOWER ${package} name)
  string(TOUPPER ${package} upper_name)
  if(FETCHCONTENT_SOURCE_DIR_${upper_name} OR EXISTS ${FETCHCONTENT_BASE_DIR}/${name}-src/.git)
    return()
  endif()
  message(NOTICE "${package} is not installed: fetching it from ${repository}")
  execute_process(COMMAND git ls-remote --exit-code ${repository} HEAD TIMEOUT 60
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${package} is not installed and ${repository} cannot be reached: install "
      "it (Debian, Ubuntu: ${debian_package}), or give a copy of its source by "
      "-DFETCHCONTENT_SOURCE_DIR_${upper_name}=PATH.\n${error}")
  endif()
endfunction()

# fmt 11.0.2, CLI11 2.4.2, nlohmann-json 3.11.3, Catch2 3.7.1, Google Benchmark 1.8.3
workshop_dependency(fmt libfmt-dev https://github.com/fmtlib/fmt.git
  0c9fce2ffefecfdce794e1859584e25877b7b592)
workshop_dependency(CLI11 libcli11-dev https://github.com/CLIUtils/CLI11.git
  6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9)
workshop_dependency(nlohmann_json nlohmann-json3-dev https://github.com/nlohmann/json.git
  9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)
if(BUILD_TESTING)
  workshop_dependency(Catch2 catch2 https://github.com/catchorg/Catch2.git
    fa43b77429ba76c462b1898d6cd2f2d7a9416b14)
  if(catch2_SOURCE_DIR)
    list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)  # its module Catch.cmake
  endif()
endif()
if(WORKSHOP_BENCHMARKS)
  # Of a fetched copy the library alone, and warnings of it are not ours.
  foreach(part TESTING INSTALL WERROR)
    set(BENCHMARK_ENABLE_${part} OFF)
  endforeach()
  workshop_dependency(benchmark libbenchmark-dev https://github.com/google/benchmark.git
    344117638c8ff7e239044fd0fa7085839fc03021)
  if(NOT benchmark_VERSION)
    set(benchmark_VERSION 1.8.3)  # the fetched one
  endif()
endif()
