# cmake -DPROGRAM=... [-DARGS="..."] -DEXPECTED=... -P golden.cmake: runs a program on softcuda
# and compares what it prints. A build without softcuda skips.
set(ENV{GPH_DRIVER} soft)
separate_arguments(ARGS)
execute_process(COMMAND ${PROGRAM} ${ARGS} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
if(err MATCHES "no softcuda: " OR out MATCHES "no softcuda: ")
  message("SKIPPED: this build has no softcuda")
  return()
endif()
file(READ ${EXPECTED} expected)
if(NOT code EQUAL 0 OR NOT out STREQUAL expected)
  message(FATAL_ERROR "exit ${code}\n${err}\nprinted:\n${out}\nexpected:\n${expected}")
endif()
