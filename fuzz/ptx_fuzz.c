// SPDX-License-Identifier: Apache-2.0
/* Any bytes as PTX: the parser refuses them with a place, or gives a module in which
 * every index is in range and every instruction's text inside the text. Aborts otherwise.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(cond)                                                                     \
    do {                                                                                 \
        if (!(cond)) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                   \
            abort();                                                                     \
        }                                                                                \
    } while (0)

static void check_symbol(const ptx_module *m, const ptx_function *f, unsigned kind,
                         uint32_t index)
{
    switch (kind) {
    case PTX_OPERAND_REG: ENSURE(index < f->register_count); break;
    case PTX_OPERAND_SREG: ENSURE(index < PTX_SREG_COUNT); break;
    case PTX_OPERAND_FUNC: ENSURE(index < m->function_count); break;
    case PTX_OPERAND_LABEL: ENSURE(index < f->label_count); break;
    case PTX_OPERAND_VAR:
        if (index & PTX_VAR_LOCAL)
            ENSURE((index & ~PTX_VAR_LOCAL) < f->variable_count);
        else
            ENSURE(index < m->variable_count);
        break;
    default: break;
    }
}

static void check_operands(const ptx_module *m, const ptx_function *f,
                           const ptx_insn *insn)
{
    const ptx_operand *operands = f->operands + insn->operand;
    ENSURE(insn->operand_count <= f->operand_count &&
           insn->operand <= f->operand_count - insn->operand_count);
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const ptx_operand *o = &operands[i];
        const uint32_t after = insn->operand_count - i - 1;
        ENSURE(o->kind > PTX_OPERAND_NONE && o->kind <= PTX_OPERAND_SINK);
        ENSURE(o->kind != PTX_OPERAND_VECTOR || (o->index > 0 && o->index <= after));
        ENSURE(!o->pair || after > 0);
        check_symbol(m, f, o->kind == PTX_OPERAND_ADDRESS ? o->base : o->kind, o->index);
    }
}

static void check_insn(const ptx_module *m, const ptx_function *f, const ptx_insn *insn)
{
    char text[64];
    ENSURE(insn->opcode < PTX_OP_COUNT);
    ENSURE(insn->type_count <= PTX_INSN_TYPES_MAX &&
           insn->mod_count <= PTX_INSN_MODS_MAX);
    ENSURE((size_t)insn->text + insn->text_bytes < m->text_bytes);
    ENSURE(insn->line > 0 && insn->column > 0);
    ENSURE(!insn->guarded || (insn->guard < f->register_count &&
                              f->registers[insn->guard].type == PTX_PRED));
    ENSURE((uint32_t)insn->return_count + insn->argument_count <= insn->operand_count);
    ptx_insn_text(m, insn, text, sizeof(text));
    check_operands(m, f, insn);
}

static void check_variable(const ptx_module *m, const ptx_variable *v)
{
    ENSURE(v->name != NULL && v->align > 0 && (v->align & (v->align - 1)) == 0);
    for (uint64_t i = 0; v->init != NULL && i < v->bytes; i++)
        ENSURE(v->init[i] <= 255); /* asan looks */
    for (uint32_t i = 0; i < v->relocation_count; i++) {
        const ptx_relocation *r = &v->relocations[i];
        ENSURE(r->bytes <= v->bytes && r->offset <= v->bytes - r->bytes && r->shift < 64);
        ENSURE(r->index < (r->is_function ? m->function_count : m->variable_count));
    }
}

static void check_function(const ptx_module *m, const ptx_function *f)
{
    ENSURE(f->name != NULL);
    ENSURE(f->parameter_count + f->return_count <= f->variable_count);
    for (uint32_t i = 0; i < f->variable_count; i++)
        check_variable(m, &f->variables[i]);
    for (uint32_t i = 0; i < f->register_count; i++)
        ENSURE(f->registers[i].name != NULL && f->registers[i].type < PTX_TYPE_OTHER);
    for (uint32_t i = 0; i < f->label_count; i++)
        ENSURE(f->labels[i].insn <= f->insn_count);
    for (uint32_t i = 0; i < f->insn_count; i++)
        check_insn(m, f, &f->insns[i]);
    for (uint32_t i = 0;
         f->parameter_registers != NULL && i < f->parameter_count + f->return_count; i++)
        ENSURE(f->variables[i].space != PTX_SPACE_REG ||
               f->parameter_registers[i] < f->register_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    const gph_status status = ptx_parse((const char *)data, size, NULL, &module, &error);
    if (status != GPH_OK) {
        ENSURE(module == NULL && error.code == status);
        ENSURE(status == 218 || status == 222);
        ENSURE(strncmp(error.message, "line ", 5) == 0);
        return 0;
    }
    for (uint32_t i = 0; i < module->variable_count; i++)
        check_variable(module, &module->variables[i]);
    for (uint32_t i = 0; i < module->function_count; i++)
        check_function(module, &module->functions[i]);
    ptx_module_destroy(module);
    return 0;
}
