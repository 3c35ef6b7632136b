# cmake -DSOURCE=... -DFOLDER=... -P write_commit.cmake
# Writes FOLDER/build_info.cpp from FOLDER/build_info.cpp.in, only if it changes.
set(WORKSHOP_COMMIT "$ENV{WORKSHOP_COMMIT}")  # for a copy without its repository
# Only our own: around an unpacked archive may be the repository of another project.
if(NOT WORKSHOP_COMMIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE WORKSHOP_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT WORKSHOP_COMMIT)
  set(WORKSHOP_COMMIT unknown)
endif()
configure_file(${FOLDER}/build_info.cpp.in ${FOLDER}/build_info.cpp @ONLY)
