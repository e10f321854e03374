# Groups of ranks: processes that meet over shared memory; no driver.
gph_test(ranks_group_test ranks_group_test.c LIBS gph)
