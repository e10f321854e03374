// SPDX-License-Identifier: Apache-2.0
/* The end of a module's text: what its functions refer to. */
#include "softcuda/ptx/shape/shape.h"

/* What all functions refer to: globals, attributes, metadata, the library. */
/* Numbers that the writers use: !1 and !2 mark accesses of threads as unordered, !3 is
 * the range of a number of threads, !4 says that budgets rarely end, !5 asks for vectors,
 * !8 keeps context arrays apart from all other memory, !9 has what the vectorizer leaves of
 * a warp's loop unrolled, !12 asks for vectors of eight; loops have theirs from 100 on, one
 * each, by kind: see ptx_loop_kind. */
void ptx_write_tail(ptx_build *p)
{
    const ptx_module *m = p->module;
    for (uint32_t v = 0; v < m->variable_count; v++)
        if (p->used_globals[v])
            gphi_text_add(&p->text, "@\"g.%s\" = external global i8\n",
                          m->variables[v].name);
    for (uint32_t n = 0; n < m->function_count; n++)
        if (p->used_functions[n] & FUNCTION_NAMED)
            gphi_text_add(&p->text, "@\"k.%s\" = external global i8\n",
                          m->functions[n].name);
    /* Blocks' own forms: a run of threads is often 32 bytes long, and with 512 bits all of it
     * is what is left over. */
    gphi_text_add(&p->text, "\nattributes #3 = { nounwind%s }\n",
                  p->options->vector_bits > 256 && p->has_byte_runs
                      ? " \"prefer-vector-width\"=\"256\""
                      : "");
    gphi_text_put(&p->text, "attributes #0 = { nounwind }\n"
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
                            "!11 = !{!\"llvm.loop.unroll.full\"}\n"
                            "!12 = !{!\"llvm.loop.vectorize.width\", i32 8}\n"
                            "!13 = !{}\n"
                            "!14 = !{!\"llvm.loop.vectorize.enable\", i1 false}\n");
    static const char *const kinds[PTX_LOOP_KINDS] = {
        [PTX_LOOP_BLOCK] = ", !2, !5",
        [PTX_LOOP_BLOCK_EIGHT] = ", !2, !5, !12",
        [PTX_LOOP_WARP] = ", !2, !5, !9",
        [PTX_LOOP_WARP_EIGHT] = ", !2, !5, !9, !12",
        [PTX_LOOP_PLAIN] = ", !14"};
    for (uint32_t kind = 0; kind < PTX_LOOP_KINDS; kind++)
        for (uint32_t i = 0; i < p->loop_nodes[kind]; i++) {
            const uint32_t node = 100 + kind + PTX_LOOP_KINDS * i;
            gphi_text_add(&p->text, "!%u = distinct !{!%u%s}\n", node, node, kinds[kind]);
        }
    ptx_lower_library(&p->text, p->options->half);
}
