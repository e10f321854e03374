// SPDX-License-Identifier: Apache-2.0
/* Writing compiled code as one block of bytes, and taking it apart again: see pack.h.
 *
 *   head | kernel ... | global ... | object ... | info
 *         record, texts, params, cuts
 *                      record, name, first values, relocations
 *
 * Every part begins at a multiple of 16. Records are written as they lie in memory: a
 * pack is read by the build that wrote it, or not at all (its key says which). The reader
 * trusts no count and no length: a file may be damaged. */
#include "softcuda/kernel/load/pack.h"

#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/text.h"
#include "softcuda/ptx/abi.h"

#define MAGIC "gphcode1"
#define NO_TEXT UINT32_MAX

struct head {
    char magic[8];
    uint32_t abi, head_bytes;
    uint64_t total;
    gphi_hash128 key, hash; /* hash: of all bytes but its own */
    uint32_t kernel_count, global_count, object_count, ptx_version, ptx_target,
        kernel_bytes;
};

static gphi_hash128 hash_of(struct head head, const unsigned char *data, size_t bytes)
{
    head.hash = (gphi_hash128){0};
    return gphi_hash128_bytes(gphi_hash128_bytes(head.key, &head, sizeof(head)),
                              data + sizeof(head), bytes - sizeof(head));
}

/* ---- writing ---------------------------------------------------------------------- */

static void put_u32(gphi_text *out, uint32_t value)
{
    gphi_text_put_bytes(out, (const char *)&value, sizeof(value));
}

/* To the next multiple of 16: records are read in place. */
static void put_align(gphi_text *writer)
{
    static const char zeros[16];
    gphi_text_put_bytes(writer, zeros, (16 - writer->length % 16) % 16);
}

static void put_text(gphi_text *writer, const char *text)
{
    if (!text) {
        put_u32(writer, NO_TEXT);
        return;
    }
    const size_t length = strlen(text);
    put_u32(writer, (uint32_t)length);
    gphi_text_put_bytes(writer, text, length + 1);
}

static void put_kernel(gphi_text *writer, const ptx_kernel *kernel)
{
    ptx_kernel record = *kernel;
    record.name = record.reason = NULL;
    record.params = NULL;
    record.cuts = NULL;
    record.costs = NULL; /* the kernel report's, which reads no packs */
    record.cost_count = 0;
    gphi_text_put_bytes(writer, (const char *)&record, sizeof(record));
    put_text(writer, kernel->name);
    put_text(writer, kernel->reason);
    put_align(writer);
    gphi_text_put_bytes(writer, (const char *)kernel->params,
                        kernel->param_count * sizeof(*kernel->params));
    for (uint32_t i = 0; i < kernel->cut_count; i++) {
        put_u32(writer, kernel->cuts[i].line);
        put_text(writer, kernel->cuts[i].reason);
    }
}

static bool is_kept(const ptx_variable *variable)
{
    return variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST;
}

/* Index among the kept variables. */
static uint32_t kept_index(const ptx_module *module, uint32_t variable)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < variable; i++)
        index += is_kept(&module->variables[i]);
    return index;
}

static void put_relocation(gphi_text *writer, const ptx_module *module,
                           const ptx_relocation *relocation)
{
    const soft_pack_relocation record = {
        .offset = relocation->offset,
        .bytes = relocation->bytes,
        .shift = relocation->shift,
        .global =
            relocation->is_function ? UINT32_MAX : kept_index(module, relocation->index),
        .addend = relocation->addend,
    };
    gphi_text_put_bytes(writer, (const char *)&record, sizeof(record));
    put_text(writer,
             relocation->is_function ? module->functions[relocation->index].name : NULL);
    put_align(writer);
}

static void put_global(gphi_text *writer, const ptx_module *module,
                       const ptx_variable *variable)
{
    const soft_code_global about = {
        .bytes = variable->bytes,
        .align = variable->align != 0 ? variable->align : 1,
        .space = variable->space,
        .is_visible = variable->is_visible,
        .is_extern = variable->is_extern,
        .is_managed = variable->is_managed,
        .reference = variable->reference,
    };
    gphi_text_put_bytes(writer, (const char *)&about, sizeof(about));
    put_u32(writer, variable->init != NULL);
    put_u32(writer, variable->relocation_count);
    put_text(writer, variable->name);
    if (variable->init)
        gphi_text_put_bytes(writer, (const char *)variable->init, variable->bytes);
    put_align(writer);
    for (uint32_t i = 0; i < variable->relocation_count; i++)
        put_relocation(writer, module, &variable->relocations[i]);
}

gph_status soft_pack_write(const soft_pack_input *input, gph_allocator heap,
                           unsigned char **out, size_t *bytes, gph_error *error)
{
    const ptx_module *module = input->module;
    gphi_text writer = {.heap = heap};
    struct head head = {.magic = MAGIC,
                        .abi = PTX_ABI_VERSION,
                        .head_bytes = sizeof(struct head),
                        .key = input->key,
                        .object_count = input->object_count,
                        .kernel_bytes = sizeof(ptx_kernel)};
    if (module) {
        head.kernel_count = input->program->kernel_count;
        head.global_count = kept_index(module, module->variable_count);
        head.ptx_version = module->version_major * 10 + module->version_minor;
        head.ptx_target = module->target;
    }
    gphi_text_put_bytes(&writer, (const char *)&head, sizeof(head));
    for (uint32_t i = 0; i < head.kernel_count; i++) {
        put_align(&writer);
        put_kernel(&writer, &input->program->kernels[i]);
    }
    for (uint32_t i = 0; module && i < module->variable_count; i++)
        if (is_kept(&module->variables[i])) {
            put_align(&writer);
            put_global(&writer, module, &module->variables[i]);
        }
    for (uint32_t i = 0; i < input->object_count; i++) {
        put_align(&writer);
        const uint64_t count = input->objects[i].count;
        gphi_text_put_bytes(&writer, (const char *)&count, sizeof(count));
        put_align(&writer);
        gphi_text_put_bytes(&writer, (const char *)input->objects[i].bytes, count);
    }
    put_text(&writer, input->info);
    unsigned char *const data = (unsigned char *)writer.bytes;
    unsigned char *exact = NULL;
    if (writer.status == GPH_OK) {
        head.total = writer.length;
        head.hash = hash_of(head, data, writer.length);
        memcpy(data, &head, sizeof(head));
        /* The size that is freed later must be the size that was asked for. */
        exact = heap.realloc(heap.user, data, writer.room, writer.length);
    }
    if (!exact) {
        gphi_text_fini(&writer);
        return gphi_fail(error, GPH_E_NO_MEMORY, "compiled code");
    }
    *out = exact;
    *bytes = writer.length;
    return GPH_OK;
}

/* ---- reading ---------------------------------------------------------------------- */

struct reader {
    const unsigned char *data;
    size_t bytes, at;
    bool bad, no_memory;
};

static const void *take(struct reader *reader, size_t count)
{
    if (reader->bad || count > reader->bytes - reader->at) {
        reader->bad = true;
        return NULL;
    }
    const void *here = reader->data + reader->at;
    reader->at += count;
    return here;
}

static void take_copy(struct reader *reader, void *to, size_t count)
{
    const void *from = take(reader, count);
    if (from)
        memcpy(to, from, count);
    else
        memset(to, 0, count);
}

static uint32_t take_u32(struct reader *reader)
{
    uint32_t value;
    take_copy(reader, &value, sizeof(value));
    return value;
}

/* As put_align() wrote it. */
static void take_align(struct reader *reader)
{
    take(reader, (16 - reader->at % 16) % 16);
}

static const char *take_text(struct reader *reader)
{
    const uint32_t length = take_u32(reader);
    if (length == NO_TEXT || reader->bad)
        return NULL;
    const char *text = take(reader, (size_t)length + 1);
    if (text && text[length] == '\0')
        return text;
    reader->bad = true;
    return NULL;
}

/* An array of items that take at least `least` bytes each in the file. */
static void *make_array(struct reader *reader, gph_allocator heap, uint32_t count,
                        size_t item, size_t least)
{
    if (count == 0 || reader->bad)
        return NULL;
    if (count > (reader->bytes - reader->at) / least) {
        reader->bad = true;
        return NULL;
    }
    void *array = gphi_heap_array(heap, count, item);
    if (!array)
        reader->bad = reader->no_memory = true;
    return array;
}

static void take_cuts(struct reader *reader, soft_pack *pack, ptx_kernel *kernel)
{
    const uint32_t count = kernel->cut_count;
    kernel->cut_count = 0;
    ptx_cut *cuts = make_array(reader, pack->heap, count, sizeof(*cuts), 8);
    if (!cuts)
        return;
    kernel->cuts = cuts;
    kernel->cut_count = count;
    for (uint32_t i = 0; i < count; i++) {
        cuts[i].line = take_u32(reader);
        cuts[i].reason = take_text(reader);
        if (!cuts[i].reason)
            cuts[i].reason = "";
    }
}

static void take_kernel(struct reader *reader, soft_pack *pack, ptx_kernel *kernel)
{
    take_align(reader);
    take_copy(reader, kernel, sizeof(*kernel));
    kernel->params = NULL;
    kernel->cuts = NULL;
    kernel->name = take_text(reader);
    kernel->reason = take_text(reader);
    take_align(reader);
    if (!kernel->name || (int)kernel->path < PTX_PATH_FAST ||
        kernel->path > PTX_PATH_UNSUPPORTED)
        reader->bad = true;
    if (kernel->param_count != 0)
        kernel->params = take(reader, (size_t)kernel->param_count * sizeof(ptx_param));
    take_cuts(reader, pack, kernel);
}

static void take_relocations(struct reader *reader, soft_pack *pack,
                             soft_pack_global *global, uint32_t count)
{
    soft_pack_relocation *relocations =
        make_array(reader, pack->heap, count, sizeof(*relocations), sizeof(*relocations));
    if (!relocations)
        return;
    global->relocations = relocations;
    global->relocation_count = count;
    for (uint32_t i = 0; i < count; i++) {
        soft_pack_relocation *r = &relocations[i];
        take_copy(reader, r, sizeof(*r));
        r->function = take_text(reader);
        take_align(reader);
        const bool fits = r->bytes <= 8 && r->offset <= global->about.bytes &&
                          r->bytes <= global->about.bytes - r->offset && r->shift < 64;
        const bool named = r->global == UINT32_MAX ? r->function != NULL
                                                   : r->global < pack->global_count;
        if (!fits || !named)
            reader->bad = true;
    }
}

static void take_global(struct reader *reader, soft_pack *pack, soft_pack_global *global)
{
    take_align(reader);
    take_copy(reader, &global->about, sizeof(global->about));
    const uint32_t has_init = take_u32(reader);
    const uint32_t relocation_count = take_u32(reader);
    global->about.name = take_text(reader);
    if (!global->about.name)
        reader->bad = true;
    if (has_init)
        global->init = take(reader, global->about.bytes);
    take_align(reader);
    take_relocations(reader, pack, global, relocation_count);
}

/* In the order of soft_pack_write(). */
static void take_all(struct reader *reader, const struct head *head, soft_pack *pack)
{
    pack->kernels = make_array(reader, pack->heap, head->kernel_count,
                               sizeof(*pack->kernels), sizeof(ptx_kernel));
    if (pack->kernels)
        pack->kernel_count = head->kernel_count;
    for (uint32_t i = 0; i < pack->kernel_count; i++)
        take_kernel(reader, pack, &pack->kernels[i]);
    pack->globals = make_array(reader, pack->heap, head->global_count,
                               sizeof(*pack->globals), sizeof(soft_code_global));
    if (pack->globals)
        pack->global_count = head->global_count;
    for (uint32_t i = 0; i < pack->global_count; i++)
        take_global(reader, pack, &pack->globals[i]);
    pack->objects =
        make_array(reader, pack->heap, head->object_count, sizeof(*pack->objects), 16);
    if (pack->objects)
        pack->object_count = head->object_count;
    for (uint32_t i = 0; i < pack->object_count; i++) {
        uint64_t count;
        take_align(reader);
        take_copy(reader, &count, sizeof(count));
        take_align(reader);
        pack->objects[i].bytes = take(reader, count);
        pack->objects[i].count = count;
    }
    pack->info = take_text(reader);
    if (!pack->info)
        reader->bad = true;
    pack->ptx_version = head->ptx_version;
    pack->ptx_target = head->ptx_target;
}

gph_status soft_pack_read(unsigned char *data, size_t bytes, gphi_hash128 key,
                          gph_allocator heap, soft_pack *out)
{
    struct head head;
    if (bytes < sizeof(head))
        return GPH_E_FORMAT;
    memcpy(&head, data, sizeof(head));
    if (memcmp(head.magic, MAGIC, sizeof(head.magic)) != 0 ||
        head.abi != PTX_ABI_VERSION || head.head_bytes != sizeof(head) ||
        head.total != bytes || head.kernel_bytes != sizeof(ptx_kernel) ||
        head.key.low != key.low || head.key.high != key.high)
        return GPH_E_FORMAT;
    const gphi_hash128 hash = hash_of(head, data, bytes);
    if (hash.low != head.hash.low || hash.high != head.hash.high)
        return GPH_E_FORMAT;
    struct reader reader = {.data = data, .bytes = bytes, .at = sizeof(head)};
    soft_pack pack = {.heap = heap};
    take_all(&reader, &head, &pack);
    if (reader.bad) {
        soft_pack_fini(&pack); /* `data` stays the caller's */
        return reader.no_memory ? GPH_E_NO_MEMORY : GPH_E_FORMAT;
    }
    pack.data = data;
    pack.bytes = bytes;
    *out = pack;
    return GPH_OK;
}

void soft_pack_fini(soft_pack *pack)
{
    for (uint32_t i = 0; i < pack->kernel_count; i++)
        gphi_heap_free(pack->heap, (void *)(uintptr_t)pack->kernels[i].cuts,
                       pack->kernels[i].cut_count * sizeof(ptx_cut));
    for (uint32_t i = 0; i < pack->global_count; i++)
        gphi_heap_free(pack->heap, pack->globals[i].relocations,
                       pack->globals[i].relocation_count * sizeof(soft_pack_relocation));
    gphi_heap_free(pack->heap, pack->kernels, pack->kernel_count * sizeof(ptx_kernel));
    gphi_heap_free(pack->heap, pack->globals,
                   pack->global_count * sizeof(soft_pack_global));
    gphi_heap_free(pack->heap, pack->objects, pack->object_count * sizeof(soft_object));
    gphi_heap_free(pack->heap, pack->data, pack->bytes);
    *pack = (soft_pack){.heap = pack->heap};
}
