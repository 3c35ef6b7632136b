# add_case_tests(TARGET SOURCE... [LINK library...] [LABEL label])
# A Catch2 program whose every case is a ctest entry of its own, named "TARGET: case".
if(BUILD_TESTING)
  include(Catch)  # from Catch2, which only tests need
endif()

function(add_case_tests target)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(arg "" "LABEL" "LINK" ${ARGN})
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE workshop_options Catch2::Catch2WithMain ${arg_LINK})
  if(NOT arg_LABEL)
    set(arg_LABEL cpu)
  endif()
  set_property(GLOBAL APPEND PROPERTY WORKSHOP_TEST_PROGRAMS ${target})
  set(properties LABELS ${arg_LABEL} TIMEOUT 300)
  if(arg_LABEL STREQUAL gpu)
    # A test that finds no GPU prints this line and stops: skipped, never passed.
    list(APPEND properties SKIP_REGULAR_EXPRESSION "skipped: no GPU")
  endif()
  catch_discover_tests(${target} TEST_PREFIX "${target}: " PROPERTIES ${properties})
endfunction()
