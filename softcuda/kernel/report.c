// SPDX-License-Identifier: Apache-2.0
/* gph_softcuda_report_write(): how softcuda would run the kernels of a PTX file.
 *
 * The same way as a launch would go, up to machine code that nobody runs: parse, compile,
 * jit, load, disassemble. Text and JSON say the same; JSON has a member for each word. */
#include "softcuda/kernel/report.h"

#include <gph/softcuda.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/json.h"
#include "softcuda/kernel/load/code.h"
#include "softcuda/kernel/load/fatbin.h"
#include "softcuda/kernel/load/jitload.h"
#include "softcuda/kernel/run/rtcalls.h"

#define FLAGS_ALL                                                                        \
    (GPH_PTX_REPORT_IR | GPH_PTX_REPORT_ASM | GPH_PTX_REPORT_SLOW |                      \
     GPH_PTX_REPORT_NO_JIT | GPH_PTX_REPORT_JSON)

struct report {
    uint32_t flags;
    const ptx_module *module;
    const ptx_program *program;
    const soft_jit_api *jit; /* NULL: machine code is not wanted */
    soft_jit_result result;
    soft_image image;
    gphi_text text;
};

static const char *path_name(ptx_path path)
{
    return path == PTX_PATH_FAST   ? "fast"
           : path == PTX_PATH_SLOW ? "slow"
                                   : "unsupported";
}

/* A report without its assembly would look like one that was not asked for it. */
static void pass_failure(const gphi_text *from, gphi_text *to)
{
    if (from->status != GPH_OK)
        to->status = from->status;
}

/* Regions of large kernels are functions of their own, b.<kernel>.R<number>; so are the
 * forms for a warp and a block of a kernel that has both, w.<kernel> and n.<kernel>. */
static bool is_part(const char *name, const char *symbol)
{
    const size_t length = strlen(symbol);
    if (strncmp(name, symbol, length) == 0)
        return strncmp(name + length, ".R", 2) == 0;
    return symbol[0] == 'b' && (name[0] == 'w' || name[0] == 'n') &&
           strcmp(name + 1, symbol + 1) == 0;
}

static void add_parts(const struct report *r, const char *symbol, soft_machine_code *out)
{
    for (uint32_t i = 0; i < r->image.function_count; i++) {
        const soft_image_function *function = &r->image.functions[i];
        if (!is_part(function->name, symbol))
            continue;
        soft_machine_code part;
        soft_read_code(r->jit, &r->image, function, (r->flags & GPH_PTX_REPORT_ASM) != 0,
                       &part);
        out->code_bytes += part.code_bytes;
        if (part.vector_bits > out->vector_bits)
            out->vector_bits = part.vector_bits;
        if (part.assembly.length > 0)
            gphi_text_add(&out->assembly, "%s:\n%s", function->name, part.assembly.bytes);
        pass_failure(&part.assembly, &out->assembly);
        gphi_text_fini(&part.assembly);
    }
}

/* What the jit made of a kernel; false without machine code, and out is empty then. */
static bool read_code(const struct report *r, const ptx_kernel *kernel,
                      soft_machine_code *out)
{
    *out = (soft_machine_code){0};
    if (!r->jit || kernel->path == PTX_PATH_UNSUPPORTED)
        return false;
    char symbol[1024];
    snprintf(symbol, sizeof(symbol), "%c.%s", kernel->path == PTX_PATH_FAST ? 'b' : 't',
             kernel->name);
    const soft_image_function *function = soft_image_find(&r->image, symbol);
    if (!function)
        return false;
    soft_read_code(r->jit, &r->image, function, (r->flags & GPH_PTX_REPORT_ASM) != 0,
                   out);
    add_parts(r, symbol, out);
    return true;
}

/* add_json() says the same, member by member. */
static void add_text(struct report *r, const ptx_kernel *k)
{
    gphi_text *text = &r->text;
    soft_machine_code code;
    const bool has_code = read_code(r, k, &code);
    gphi_text_add(text, "kernel %s (line %u): %s%s%s%s\n", k->name, k->line,
                  k->path == PTX_PATH_UNSUPPORTED ? "not supported" : path_name(k->path),
                  k->path == PTX_PATH_UNSUPPORTED ? "" : " path", k->reason ? ": " : "",
                  k->reason ? k->reason : "");
    for (uint32_t i = 0; i < k->cut_count; i++)
        gphi_text_add(text, "  cut at line %u: %s\n", k->cuts[i].line, k->cuts[i].reason);
    for (uint32_t i = 0; i < k->cost_count; i++)
        gphi_text_add(text, "  slow at line %u: %s\n", k->costs[i].line,
                      k->costs[i].reason);
    for (uint32_t i = 0; i < k->row_count; i++)
        gphi_text_add(text,
                      "  copy of rows at line %u: for threads whose indices rise by the "
                      "same step from each to the next\n",
                      k->rows[i]);
    for (uint32_t i = 0; i < k->rerolled_count; i++)
        gphi_text_add(text,
                      "  one loop at line %u: the next one does several of its rounds "
                      "in each\n",
                      k->rerolled[i]);
    if (k->by_warps != 0 && k->by_warps != 32)
        gphi_text_add(text,
                      "  %u threads at a time where rows of the block are multiples of "
                      "it\n",
                      k->by_warps);
    else if (k->by_warps != 0)
        gphi_text_add(text,
                      "  a warp at a time where rows of the block are whole warps%s\n",
                      k->uses_barrier ? ", from barrier to barrier" : "");
    if (k->long_rows)
        gphi_text_put(text, "  blocks that follow each other are run as one long row of "
                            "threads\n");
    if (k->path == PTX_PATH_FAST)
        gphi_text_add(
            text, "  registers live across cuts %u, context %u bytes a thread + %u\n",
            k->live_across_cuts, k->scratch_thread_bytes, k->scratch_fixed_bytes);
    if (has_code && code.vector_bits != 0)
        gphi_text_add(text, "  vectors of %u bits, %llu bytes of machine code\n",
                      code.vector_bits, (unsigned long long)code.code_bytes);
    else if (has_code)
        gphi_text_add(text, "  no vectors in loops, %llu bytes of machine code\n",
                      (unsigned long long)code.code_bytes);
    gphi_text_add(text,
                  "  parameters %u, shared %u, local %u bytes; registers about %u%s%s\n",
                  k->param_bytes, k->static_shared_bytes, k->local_bytes, k->registers,
                  k->uses_atomics ? "; atomics" : "",
                  k->uses_safepoints ? "; may wait: runs on a fiber" : "");
    if (code.assembly.bytes)
        gphi_text_put(text, code.assembly.bytes);
    pass_failure(&code.assembly, text);
    gphi_text_fini(&code.assembly);
}

static void add_lines(gphi_text *text, const ptx_cut *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        gphi_text_add(text, "%s{\"line\": %u, \"reason\": ", i ? ", " : "",
                      lines[i].line);
        gphi_json_text(text, lines[i].reason);
        gphi_text_put(text, "}");
    }
}

/* Members are only ever added: others read them. Those of machine code are left out where
 * there is none, so that 0 bytes cannot be taken for an answer. */
static void add_json(struct report *r, const ptx_kernel *k)
{
    gphi_text *text = &r->text;
    soft_machine_code code;
    const bool has_code = read_code(r, k, &code);
    gphi_text_put(text, "    {\"name\": ");
    gphi_json_text(text, k->name);
    gphi_text_add(text, ", \"line\": %u, \"path\": \"%s\", \"reason\": ", k->line,
                  path_name(k->path));
    gphi_json_text(text, k->reason);
    gphi_text_put(text, ",\n     \"cuts\": [");
    add_lines(text, k->cuts, k->cut_count);
    gphi_text_put(text, "],\n     \"costs\": [");
    add_lines(text, k->costs, k->cost_count);
    gphi_text_put(text, "],\n     \"rows\": [");
    for (uint32_t i = 0; i < k->row_count; i++)
        gphi_text_add(text, "%s%u", i ? ", " : "", k->rows[i]);
    gphi_text_put(text, "],\n     \"rerolled\": [");
    for (uint32_t i = 0; i < k->rerolled_count; i++)
        gphi_text_add(text, "%s%u", i ? ", " : "", k->rerolled[i]);
    gphi_text_add(text, "],\n     \"by_warps\": %s, \"long_rows\": %s",
                  k->by_warps ? "true" : "false", k->long_rows ? "true" : "false");
    gphi_text_add(text,
                  ",\n     \"live_across_cuts\": %u, \"scratch_thread_bytes\": %u, "
                  "\"scratch_fixed_bytes\": %u,\n     \"param_bytes\": %u, "
                  "\"shared_bytes\": %u, \"local_bytes\": %u, \"registers\": %u,\n"
                  "     \"barriers\": %s, \"atomics\": %s, \"safepoints\": %s",
                  k->live_across_cuts, k->scratch_thread_bytes, k->scratch_fixed_bytes,
                  k->param_bytes, k->static_shared_bytes, k->local_bytes, k->registers,
                  k->uses_barrier ? "true" : "false", k->uses_atomics ? "true" : "false",
                  k->uses_safepoints ? "true" : "false");
    if (has_code)
        gphi_text_add(text, ",\n     \"vector_bits\": %u, \"code_bytes\": %llu",
                      code.vector_bits, (unsigned long long)code.code_bytes);
    if (code.assembly.bytes) {
        gphi_text_put(text, ",\n     \"assembly\": ");
        gphi_json_text(text, code.assembly.bytes);
    }
    gphi_text_put(text, "}");
    pass_failure(&code.assembly, text);
    gphi_text_fini(&code.assembly);
}

static void add_all(struct report *r)
{
    const ptx_module *m = r->module;
    const ptx_program *p = r->program;
    if (r->flags & GPH_PTX_REPORT_JSON) {
        gphi_text_add(&r->text,
                      "{\"version\": \"%u.%u\", \"target\": %u, \"kernels\": [\n",
                      m->version_major, m->version_minor, m->target);
        for (uint32_t i = 0; i < p->kernel_count; i++) {
            add_json(r, &p->kernels[i]);
            gphi_text_put(&r->text, i + 1 < p->kernel_count ? ",\n" : "\n");
        }
        gphi_text_put(&r->text, "  ]");
        if (r->flags & GPH_PTX_REPORT_IR) {
            gphi_text_put(&r->text, ",\n  \"ir\": ");
            gphi_json_text(&r->text, p->ir);
        }
        gphi_text_put(&r->text, "}\n");
        return;
    }
    for (uint32_t i = 0; i < p->kernel_count; i++)
        add_text(r, &p->kernels[i]);
    if (r->flags & GPH_PTX_REPORT_IR)
        gphi_text_add(&r->text, "\n%s", p->ir);
}

/* Nothing of it runs: any address does for what it would call. */
static uint64_t resolve(void *user, const char *name)
{
    const uint64_t call = soft_rtcall_find(name);
    (void)user;
    if (call == 0 && strncmp(name, "g.", 2) != 0 && strncmp(name, "f.", 2) != 0)
        return 0;
    return call != 0 ? call : 4096;
}

/* One part: the report is of the whole text, and nobody waits for it. */
static gph_status make_code(struct report *r, gph_error *error)
{
    bool any = false;
    for (uint32_t i = 0; i < r->program->kernel_count; i++)
        any |= r->program->kernels[i].path != PTX_PATH_UNSUPPORTED;
    if (!any || (r->flags & GPH_PTX_REPORT_NO_JIT))
        return GPH_OK;
    const soft_jit_api *jit;
    /* Without the jit's library everything but machine code is known; the caller can ask
     * for that with GPH_PTX_REPORT_NO_JIT. */
    if (soft_jit_load(&jit, error) != GPH_OK)
        return GPH_E_UNSUPPORTED;
    const soft_jit_request request = {.ir = r->program->ir,
                                      .ir_bytes = r->program->ir_bytes,
                                      .vector_bits = soft_code_host_vectors(),
                                      .part_count = 1,
                                      .optimize = 1};
    if (jit->compile(&request, &r->result) != 0)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "no machine code could be made: %.400s", r->result.message);
    r->jit = jit;
    soft_object objects[SOFT_JIT_PARTS_MAX];
    for (uint32_t i = 0; i < r->result.object_count; i++)
        objects[i] =
            (soft_object){r->result.objects[i].bytes, r->result.objects[i].count};
    const soft_loader_input input = {
        .objects = objects, .object_count = r->result.object_count, .resolve = resolve};
    return soft_image_load(&input, NULL, &r->image, error);
}

/* One order for all, as a launch has it. A kernel that cannot run does not end the
 * report; what cannot be parsed or compiled at all does. */
static gph_status run_report(struct report *r, const soft_ptx_text *ptx, gph_error *error)
{
    ptx_module *module;
    GPHI_TRY(ptx_parse(ptx->text, ptx->bytes, NULL, &module, error));
    const ptx_compile_options options = {.force_slow =
                                             (r->flags & GPH_PTX_REPORT_SLOW) != 0,
                                         .half = soft_code_host_half(),
                                         .vector_bits = soft_code_host_vectors(),
                                         .costs = 1};
    ptx_program *program;
    gph_status status = ptx_compile(module, &options, &program, error);
    if (status != GPH_OK) {
        ptx_module_destroy(module);
        return status;
    }
    r->module = module;
    r->program = program;
    status = make_code(r, error);
    if (status == GPH_OK)
        add_all(r);
    if (status == GPH_OK && gphi_text_end(&r->text, NULL) != GPH_OK)
        status = gphi_fail(error, GPH_E_NO_MEMORY, "a report of %u kernels",
                           program->kernel_count);
    if (r->jit) {
        soft_image_unload(&r->image);
        r->jit->release(&r->result);
    }
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    return status;
}

/* A CUresult of the compiler is not a status of this call's list. */
static gph_status own_status(gph_status status, gph_error *error)
{
    if (status <= 0)
        return status;
    const gph_status own = status == SOFT_ERROR_OUT_OF_MEMORY ? GPH_E_NO_MEMORY
                           : status == SOFT_ERROR_JIT_COMPILER_NOT_FOUND
                               ? GPH_E_UNSUPPORTED
                               : GPH_E_FORMAT;
    if (error)
        error->code = own;
    return own;
}

gph_status gph_softcuda_report_write(const char *ptx, size_t bytes, uint32_t flags,
                                     gph_write_fn *write, void *user, gph_error *error)
{
    if (!ptx || !write || bytes == 0)
        return gphi_fail(error, GPH_E_INVALID, "%zu bytes are not PTX", bytes);
    if ((flags & ~(uint32_t)FLAGS_ALL) != 0)
        return gphi_fail(error, GPH_E_INVALID, "report flags 0x%x, known are 0x%x", flags,
                         FLAGS_ALL);
    soft_ptx_text text;
    gph_status status = soft_ptx_find(ptx, bytes, NULL, &text, error);
    if (status != GPH_OK)
        return own_status(status, error);
    struct report r = {.flags = flags, .image.heap = gphi_heap(NULL)};
    status = run_report(&r, &text, error);
    soft_ptx_text_fini(&text);
    if (status != GPH_OK)
        status = own_status(status, error);
    else if (r.text.bytes)
        status = write(user, r.text.bytes, r.text.length);
    gphi_text_fini(&r.text);
    return status;
}
