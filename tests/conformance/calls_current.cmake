# Fails if docs/driver-calls.md is not what calls_list writes.
execute_process(COMMAND ${LIST} ${SOFTCUDA} OUTPUT_VARIABLE wanted RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "calls_list failed")
endif()
file(READ ${DOCS} found)
if(NOT found STREQUAL wanted)
  message(FATAL_ERROR "docs/driver-calls.md is stale: calls_list libcuda.so.1 > docs/driver-calls.md")
endif()
