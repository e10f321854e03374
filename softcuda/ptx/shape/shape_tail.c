// SPDX-License-Identifier: Apache-2.0
/* The end of a module's text: what its functions refer to. */
#include "softcuda/ptx/shape/shape.h"

/* What all functions refer to: globals, attributes, metadata, the library. */
/* Numbers that the writers use: !1 and !2 mark accesses of threads as unordered, !3 is
 * the range of a number of threads, !4 says that budgets rarely end, !5 asks for vectors,
 * !8 keeps context arrays apart from all other memory, !9 has what the vectorizer leaves of
 * a warp's loop unrolled; loops have theirs from 100 on, one each: even of a block, odd of a
 * warp. */
void ptx_write_tail(ptx_build *p)
{
    const ptx_module *m = p->module;
    for (uint32_t v = 0; v < m->variable_count; v++)
        if (p->used_globals[v])
            gphi_text_add(&p->text, "@\"g.%s\" = external global i8\n",
                          m->variables[v].name);
    gphi_text_put(&p->text, "\nattributes #0 = { nounwind }\n"
                            "attributes #1 = { nounwind alwaysinline }\n"
                            "attributes #2 = { nounwind alwaysinline }\n"
                            "!1 = distinct !{}\n"
                            "!2 = !{!\"llvm.loop.parallel_accesses\", !1}\n"
                            "!3 = !{i32 1, i32 1025}\n"
                            "!4 = !{!\"branch_weights\", i32 1, i32 100000}\n"
                            "!5 = !{!\"llvm.loop.vectorize.enable\", i1 true}\n"
                            "!6 = distinct !{!6}\n"
                            "!7 = distinct !{!7, !6}\n"
                            "!8 = !{!7}\n"
                            "!9 = !{!\"llvm.loop.vectorize.followup_vectorized\", !10, "
                            "!11}\n"
                            "!10 = !{!\"llvm.loop.isvectorized\", i32 1}\n"
                            "!11 = !{!\"llvm.loop.unroll.full\"}\n");
    for (uint32_t i = 0; i < p->loop_metadata; i++)
        gphi_text_add(&p->text, "!%u = distinct !{!%u, !2, !5}\n", 100 + 2 * i,
                      100 + 2 * i);
    for (uint32_t i = 0; i < p->warp_loop_metadata; i++)
        gphi_text_add(&p->text, "!%u = distinct !{!%u, !2, !5, !9}\n", 101 + 2 * i,
                      101 + 2 * i);
    ptx_lower_library(&p->text, p->options->half);
}
