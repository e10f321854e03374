# Finds LLVM's C API, 16 or later, as a shared library: sets GPH_LLVM_VERSION,
# GPH_LLVM_INCLUDE, GPH_LLVM_LIBRARY and GPH_LLVM_MAJOR. Where it is missing, or the CPU
# is one that softcuda has no code for, softcuda is left out (GPH_SOFTCUDA OFF), with a
# sentence. GPH_LLVM_STATIC: GPH_LLVM_LIBRARY is a list of archives, and GPH_LLVM_NEEDS, what those
# need beside the C library, is at its end.
set(GPH_LLVM_NEEDS stdc++ z zstd CACHE STRING "what LLVM's archives need: libraries to link")

function(gph_find_llvm)
  find_program(GPH_LLVM_CONFIG NAMES
    llvm-config-19 llvm-config-20 llvm-config-21 llvm-config-18 llvm-config-17
    llvm-config-16 llvm-config
    HINTS /usr/lib/llvm-19/bin DOC "llvm-config of LLVM 16 or later")
  if(NOT GPH_LLVM_CONFIG)
    set(why "llvm-config was not found (Debian: apt-get install llvm-19-dev)" PARENT_SCOPE)
    return()
  endif()
  foreach(what version includedir libdir)
    execute_process(COMMAND ${GPH_LLVM_CONFIG} --${what}
      OUTPUT_VARIABLE ${what} OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    if(failed)
      set(why "${GPH_LLVM_CONFIG} --${what} failed" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  string(REGEX MATCH "^[0-9]+" major "${version}")
  if(major LESS 16)
    set(why "${GPH_LLVM_CONFIG} is LLVM ${version}, 16 or later is needed" PARENT_SCOPE)
    return()
  endif()
  if(GPH_LLVM_STATIC)
    execute_process(COMMAND ${GPH_LLVM_CONFIG} --link-static --libfiles native passes irreader
      OUTPUT_VARIABLE archives OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
    if(failed)
      set(why "LLVM ${version} has no archives to link" PARENT_SCOPE)
      return()
    endif()
    separate_arguments(archives UNIX_COMMAND "${archives}")
    set(GPH_LLVM_LIBRARY ${archives} ${GPH_LLVM_NEEDS})
    set(GPH_LLVM_LIBRARY ${GPH_LLVM_LIBRARY} PARENT_SCOPE)
  else()
    find_library(GPH_LLVM_LIBRARY NAMES LLVM-${major} LLVM PATHS ${libdir} NO_DEFAULT_PATH
      NO_CMAKE_FIND_ROOT_PATH)
  endif()
  if(NOT GPH_LLVM_LIBRARY OR NOT EXISTS ${includedir}/llvm-c/Core.h)
    set(why "LLVM ${version} has no shared library or no C headers (llvm-${major}-dev)"
      PARENT_SCOPE)
    return()
  endif()
  set(GPH_LLVM_VERSION ${version} PARENT_SCOPE)
  set(GPH_LLVM_MAJOR ${major} PARENT_SCOPE)
  set(GPH_LLVM_INCLUDE ${includedir} PARENT_SCOPE)
endfunction()

if(GPH_SOFTCUDA)
  set(why "")
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
    set(why "there is no fiber code for ${CMAKE_SYSTEM_PROCESSOR}")
  else()
    gph_find_llvm()
  endif()
  if(why)
    message(STATUS "softcuda is left out: ${why}")
    set(GPH_SOFTCUDA OFF)
  else()
    message(STATUS "softcuda: LLVM ${GPH_LLVM_VERSION}")
  endif()
endif()
