# Updates and slots: on softcuda, or on the driver that GPH_DRIVER names; skipped where
# there is neither.
set(update_libs test_shim gph_sentinel gph_slot gph_update gph_replay gph_device gph_memory gph_event gph_graph gph_cuda gph_symbol gph_base)
foreach(name update_predict update_exec update_fault slot slot_pull sentinel)
  gph_test(${name}_test ${name}_test.c LIBS ${update_libs}
    ENV GPH_SOFTCUDA_PATH=${PROJECT_BINARY_DIR}/lib/gph/soft/libcuda.so.1)
  if(TARGET softcuda)
    add_dependencies(${name}_test softcuda)
  endif()
endforeach()
