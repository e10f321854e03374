# Trees: their logic on a backend that is made up.
foreach(name tree_path tree_output tree_input tree_fault tree_random)
  gph_test(${name}_test ${name}_test.c
    LIBS gph_tree gph_callable gph_slot gph_memory gph_event gph_replay gph_device gph_graph gph_cuda gph_symbol gph_base)
endforeach()
add_test(NAME tree_random_more COMMAND tree_random_test)
set_tests_properties(tree_random_more PROPERTIES
  LABELS long TIMEOUT 300 ENVIRONMENT TREE_SEEDS=1000:3000)

# On a driver, with internal headers.
gph_test(tree_driver_test tree_driver_test.c
  LIBS test_shim gph_tree gph_callable gph_slot gph_memory gph_event gph_replay gph_device gph_graph gph_cuda gph_symbol gph_base
  ENV GPH_SOFTCUDA_PATH=${PROJECT_BINARY_DIR}/lib/gph/soft/libcuda.so.1)
target_compile_definitions(tree_driver_test PRIVATE
  TREE_PTX="${PROJECT_BINARY_DIR}/kernels/tree.ptx")
add_dependencies(tree_driver_test kernels)
if(TARGET softcuda)
  add_dependencies(tree_driver_test softcuda)
endif()
