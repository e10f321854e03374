# Groups of ranks: processes that meet over shared memory; no driver.
gph_test(ranks_group_test ranks_group_test.c LIBS gph)
gph_test(ranks_stop_test ranks_stop_test.c LIBS gph)
# Communicators: on softcuda, or on the driver that GPH_DRIVER names.
gph_test(ranks_comm_test ranks_comm_test.c LIBS gph m TIMEOUT 240
  ENV SOFTCUDA_WORKERS=2)
if(TARGET softcuda)
  add_dependencies(ranks_comm_test softcuda softcuda_jit)
endif()
