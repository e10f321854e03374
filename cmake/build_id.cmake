cmake_minimum_required(VERSION 3.25)
# Writes OUT, a header with a hash of what decides over generated code: the sources of
# the PTX compiler, of the JIT and of the run time, and LLVM's version. It is part of the
# key of the disk cache, so that another build never takes this one's code.
file(GLOB_RECURSE sources
  ${SOURCE_DIR}/softcuda/ptx/*.[ch] ${SOURCE_DIR}/softcuda/ptx/*.inc
  ${SOURCE_DIR}/softcuda/jit/*.[ch] ${SOURCE_DIR}/softcuda/kernel/*.[chS])
list(SORT sources)
set(all "${LLVM_VERSION}")
foreach(source ${sources})
  file(SHA256 ${source} one)
  string(APPEND all ${one})
endforeach()
string(SHA256 id "${all}")
file(CONFIGURE OUTPUT ${OUT} CONTENT
  "/* Written by cmake/build_id.cmake. */\n#define SOFT_BUILD_ID \"@id@\"\n" @ONLY)
