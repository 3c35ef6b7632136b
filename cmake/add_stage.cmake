# add_stage(FOLDER [NAME name] [AFTER previous])
# The targets of a stage, each once for the CPU device (suffix _cpu) and once for a GPU:
#   NAME_lib    its kernels and launcher, for tests, benchmarks and a program of your own
#   NAME        its program
#   NAME_test   its tests; they compare it with the stage before it, if one is named
#   NAME_bench  its benchmark (NAME_cpu_bench for the CPU device), if WORKSHOP_BENCHMARKS is ON
# NAME is the folder's, if none is given.

# kernel_for_cpu_device(RESULT name FILE): the CPU device compiles a .cu file as C++, through one line
# that includes it. RESULT becomes the name of that source.
function(kernel_for_cpu_device result name file)
  set(wrapper ${PROJECT_BINARY_DIR}/cpu_kernels/${name}.cpp)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${file}\"\n")
  set(${result} ${wrapper} PARENT_SCOPE)
endfunction()

# add_stage_on(name suffix source device label): the targets of one device.
function(add_stage_on folder name suffix source device label previous)
  add_library(${name}${suffix}_lib STATIC ${source})
  target_include_directories(${name}${suffix}_lib PRIVATE ${PROJECT_SOURCE_DIR}/${folder})
  target_link_libraries(${name}${suffix}_lib PUBLIC workshop_attention ${device})

  add_executable(${name}${suffix} ${folder}/main.cpp)
  target_link_libraries(${name}${suffix} PRIVATE ${name}${suffix}_lib workshop_harness ${device})
  if(device STREQUAL simt_cpu)
    set_property(GLOBAL APPEND PROPERTY WORKSHOP_CPU_PROGRAMS ${name}${suffix})
  endif()

  if(WORKSHOP_BENCHMARKS)
    add_executable(${name}${suffix}_bench ${folder}/bench.cpp)
    target_link_libraries(${name}${suffix}_bench PRIVATE
      ${name}${suffix}_lib workshop_bench ${device})
  endif()

  set(compared)
  if(previous)
    set(compared ${previous}${suffix}_lib)
  endif()
  set(contract_tests workshop_contract_tests)
  if(device STREQUAL simt_cpu)
    list(APPEND contract_tests workshop_contract_tests_cpu)
  endif()
  add_case_tests(${name}${suffix}_test ${folder}/test.cpp LABEL ${label}
    LINK ${name}${suffix}_lib ${compared} ${contract_tests} workshop_harness ${device})
  if(BUILD_TESTING)
    add_dependencies(${name}${suffix}_test ${name}_cpu)  # tests run this program
  endif()
  if(BUILD_TESTING AND device STREQUAL simt_cpu)
    target_compile_definitions(${name}${suffix}_test PRIVATE WORKSHOP_CPU_DEVICE=1)
  endif()
endfunction()

function(add_stage folder)
  cmake_parse_arguments(arg "" "NAME;AFTER" "" ${ARGN})
  set(name ${folder})
  if(arg_NAME)
    set(name ${arg_NAME})
  endif()

  kernel_for_cpu_device(wrapper ${name} ${folder}/attention.cu)
  add_stage_on(${folder} ${name} _cpu ${wrapper} simt_cpu cpu "${arg_AFTER}")

  if(WORKSHOP_CUDA)
    add_stage_on(${folder} ${name} "" ${folder}/attention.cu simt_cuda gpu "${arg_AFTER}")
  elseif(BUILD_TESTING)
    # So that what was left out is listed: skipped, not passed.
    add_test(NAME "${name}_test: all cases on a GPU"
             COMMAND ${CMAKE_COMMAND} -E echo "skipped: no GPU programs in this build")
    set_tests_properties("${name}_test: all cases on a GPU" PROPERTIES
      LABELS gpu SKIP_REGULAR_EXPRESSION "skipped: no GPU")
  endif()
endfunction()
