# Fails if docs/ptx.md is not what ptx_forms --docs writes.
execute_process(COMMAND ${FORMS} --docs ${RECORDED} OUTPUT_VARIABLE wanted
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "ptx_forms --docs failed")
endif()
file(READ ${DOCS} found)
if(NOT found STREQUAL wanted)
  message(FATAL_ERROR "docs/ptx.md is stale: ptx_forms --docs recorded.bin > docs/ptx.md")
endif()
