# Helpers that every CMakeLists.txt of the project uses.

add_library(gph_flags INTERFACE)
target_compile_options(gph_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wundef $<$<COMPILE_LANG_AND_ID:C,Clang>:-Wthread-safety> $<$<BOOL:${GPH_WERROR}>:-Werror>)
target_include_directories(gph_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
find_package(Threads REQUIRED)
target_link_libraries(gph_flags INTERFACE Threads::Threads)

# What makes a library's calls of its own functions stay in it, also where the program has one of
# that name. zig, which makes the wheels, knows the wider word alone.
include(CheckLinkerFlag)
set(GPH_BINDS_OWN -Wl,-Bsymbolic-functions)
check_linker_flag(C ${GPH_BINDS_OWN} GPH_KNOWS_BSYMBOLIC_FUNCTIONS)
if(NOT GPH_KNOWS_BSYMBOLIC_FUNCTIONS)
  set(GPH_BINDS_OWN -Wl,-Bsymbolic)
endif()

# gph_objects(NAME SOURCES... [LIBS ...]): position-independent objects of one folder.
# An object library, so that the shared libraries made of it keep every symbol.
function(gph_objects name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  add_library(${name} OBJECT ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC gph_flags ${arg_LIBS})
endfunction()

# gph_test(NAME SOURCES... [LIBS ...] [LABELS ...] [TIMEOUT s] [ENV VAR=value ...]):
# one test process under ctest; exit 77 means skipped.
# Labels: short (in `./test`) unless LABELS says long (only in `./test --all`).
function(gph_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "LIBS;LABELS;ENV" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS short)
  endif()
  foreach(lib ${arg_LIBS})
    if(lib MATCHES "^soft_" AND NOT TARGET ${lib})
      message(STATUS "${name} is left out: this build has no ${lib}")
      return()
    endif()
  endforeach()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE gph_flags ${arg_LIBS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
    ENVIRONMENT "${arg_ENV}")
endfunction()
