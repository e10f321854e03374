# Loops and dispatch on the device: on softcuda, or on the driver that GPH_DRIVER names; skipped where
# there is neither.
set(loop_libs test_shim gph_dispatch gph_loop gph_sentinel gph_slot gph_update gph_replay gph_device gph_memory gph_event
  gph_graph gph_cuda gph_symbol gph_base)
foreach(name loop loop_condition loop_fault loop_sleep dispatch dispatch_fault)
  gph_test(${name}_test ${name}_test.c LIBS ${loop_libs} TIMEOUT 240
    ENV GPH_SOFTCUDA_PATH=${PROJECT_BINARY_DIR}/lib/gph/soft/libcuda.so.1)
  if(TARGET softcuda)
    add_dependencies(${name}_test softcuda)
  endif()
endforeach()
