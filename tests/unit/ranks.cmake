# Groups of ranks: processes that meet over shared memory; no driver.
foreach(name group life transport)
  gph_test(ranks_${name}_test ranks_${name}_test.c LIBS gph gph_base)
endforeach()
gph_test(ranks_wait_test ranks_wait_test.c
  LIBS gph_ranks gph_callable gph_slot gph_update gph_replay gph_file gph_memory gph_plan gph_event
    gph_graph gph_device gph_cuda gph_symbol gph_base
  ENV GPH_SOFTCUDA_PATH=${PROJECT_BINARY_DIR}/lib/gph/soft/libcuda.so.1)
# Over MPI, where there is one.
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND AND MPIEXEC_EXECUTABLE AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_executable(ranks_mpi_test ranks_mpi_test.c)
  target_link_libraries(ranks_mpi_test PRIVATE gph_flags gph MPI::MPI_C)
  target_include_directories(ranks_mpi_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_include_directories(ranks_mpi_test SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  add_test(NAME ranks_mpi_test
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:ranks_mpi_test>)
  set_tests_properties(ranks_mpi_test PROPERTIES LABELS short TIMEOUT 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
else()
  message(STATUS "ranks_mpi_test is left out: no MPI was found, or a sanitizer is on")
endif()
gph_test(ranks_stop_test ranks_stop_test.c LIBS gph gph_base)
# Communicators: on softcuda, or on the driver that GPH_DRIVER names.
gph_test(ranks_comm_test ranks_comm_test.c LIBS gph gph_base m TIMEOUT 240
  ENV SOFTCUDA_WORKERS=2)
add_test(NAME ranks_comm_all_test COMMAND ranks_comm_test --all)
set_tests_properties(ranks_comm_all_test PROPERTIES SKIP_RETURN_CODE 77 LABELS long TIMEOUT 240
  ENVIRONMENT SOFTCUDA_WORKERS=2)
# Failures, in a group of one.
gph_test(ranks_fault_test ranks_fault_test.c
  LIBS test_shim gph_ranks gph_callable gph_slot gph_memory gph_event gph_replay gph_device gph_graph gph_cuda gph_symbol gph_base
  ENV GPH_SOFTCUDA_PATH=${PROJECT_BINARY_DIR}/lib/gph/soft/libcuda.so.1)
if(TARGET softcuda)
  add_dependencies(ranks_comm_test softcuda softcuda_jit)
  add_dependencies(ranks_wait_test softcuda)
  add_dependencies(ranks_fault_test softcuda softcuda_jit)
endif()
# NCCL's part, with the doctor's substitute for its library.
if(TARGET softcuda)
  add_library(ranks_nccl SHARED ranks_nccl.c)
  target_include_directories(ranks_nccl PRIVATE ${PROJECT_SOURCE_DIR}/tests
    ${PROJECT_SOURCE_DIR}/tests/doctor)
  target_link_libraries(ranks_nccl PRIVATE gph_flags gph_stub)
  set_target_properties(ranks_nccl PROPERTIES SKIP_BUILD_RPATH ON)
  gph_test(ranks_nccl_test ranks_nccl_test.c LIBS gph gph_base ${CMAKE_DL_LIBS} ENV SOFTCUDA_WORKERS=2)
  target_compile_definitions(ranks_nccl_test PRIVATE RANKS_NCCL="$<TARGET_FILE:ranks_nccl>")
  add_dependencies(ranks_nccl_test ranks_nccl softcuda softcuda_jit)
endif()
