# The target workshop_build_info: version, commit, compilers and flags of this build, for result files.
# All but the commit is known now; write_commit.cmake adds it at every build, so that it is never old.
set(build_info_template ${CMAKE_CURRENT_LIST_DIR}/../common/harness/build_info.cpp.in)
set(build_info_dir ${PROJECT_BINARY_DIR}/build_info)

# Of the options every target has, those that can change a result: -f...
get_target_property(build_info_options workshop_options INTERFACE_COMPILE_OPTIONS)
string(REGEX MATCHALL "[;:]-f[^;>]+" build_info_options "${build_info_options}")
string(REGEX REPLACE "[;:]+-f" " -f" build_info_options "${build_info_options}")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_info_config)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_info_config}}${build_info_options}"
       build_info_flags)

if(WORKSHOP_CUDA)
  list(JOIN CMAKE_CUDA_ARCHITECTURES ", " build_info_cuda)
  string(PREPEND build_info_cuda "${CMAKE_CUDA_COMPILER_VERSION} for ")
endif()

set(WORKSHOP_COMMIT "@WORKSHOP_COMMIT@")
configure_file(${build_info_template} ${build_info_dir}/build_info.cpp.in @ONLY)

add_custom_target(workshop_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DFOLDER=${build_info_dir}
          -P ${CMAKE_CURRENT_LIST_DIR}/write_commit.cmake
  BYPRODUCTS ${build_info_dir}/build_info.cpp
  COMMENT "Looking up the commit" VERBATIM)
add_library(workshop_build_info STATIC ${build_info_dir}/build_info.cpp)
target_link_libraries(workshop_build_info PUBLIC workshop_options)
add_dependencies(workshop_build_info workshop_commit)
