// SPDX-License-Identifier: Apache-2.0
/* Llama folders of odd shapes and every dtype, written here with random weights, loaded
 * and run on a driver: logits against the plain C forward pass. Sizes are not multiples of
 * the kernels' tiles. GPH_DRIVER says on which driver. */
#include "decode_reference.h"
#include "examples/decode/batch.h"
#include "fault.h"
#include "test.h"
#include <unistd.h>

static fault_heap heap = {.fail_at = -1};
static const gph_allocator allocator = {fault_realloc, &heap};
static const char *missing;

typedef struct shape {
    unsigned vocab, width, inner, layers, heads, kv_heads, head_dim;
    bool tied, llama3;
    tensor_type type;
} shape;

static uint32_t random_state = 1;
static float random_weight(float size)
{
    random_state = random_state * 1664525u + 1013904223u;
    return ((float)(random_state >> 8) / 8388608.0f - 1) * size;
}

/* Writes one tensor's header entry and appends its bytes. */
typedef struct writer {
    char header[16384];
    size_t header_bytes, data_bytes;
    unsigned char *data;
    tensor_type type;
} writer;

static void put_value(writer *w, float value)
{
    uint32_t bits;
    uint16_t half;
    memcpy(&bits, &value, 4);
    if (w->type == TENSOR_F32) {
        memcpy(w->data + w->data_bytes, &bits, 4);
        w->data_bytes += 4;
        return;
    }
    if (w->type == TENSOR_BF16)
        half = (uint16_t)(bits >> 16);
    else /* truncated; the values are normal halves or zero */
        half = (bits >> 23 & 255) < 113
                   ? 0
                   : (uint16_t)((bits >> 16 & 0x8000) |
                                ((bits >> 13 & 0x3ffff) - (112u << 10)));
    memcpy(w->data + w->data_bytes, &half, 2);
    w->data_bytes += 2;
}

static void put_tensor(writer *w, const char *name, unsigned rows, unsigned columns)
{
    const size_t begin = w->data_bytes;
    const size_t count = (size_t)rows * (columns ? columns : 1);
    const float size = columns ? 1.5f / sqrtf((float)columns) : 0.5f;
    for (size_t i = 0; i < count; i++)
        put_value(w, (columns ? 0 : 1) + random_weight(size));
    char dims[32];
    snprintf(dims, sizeof(dims), columns ? "%u,%u" : "%u", rows, columns);
    w->header_bytes += (size_t)snprintf(
        w->header + w->header_bytes, sizeof(w->header) - w->header_bytes,
        "%c\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
        w->header_bytes ? ',' : '{', name, tensor_type_name(w->type), dims, begin,
        w->data_bytes);
}

static void put_layer(writer *w, const shape *s, unsigned layer)
{
    const unsigned query = s->heads * s->head_dim, key = s->kv_heads * s->head_dim;
    const struct {
        const char *name;
        unsigned rows, columns;
    } parts[] = {
        {"input_layernorm", s->width, 0},      {"self_attn.q_proj", query, s->width},
        {"self_attn.k_proj", key, s->width},   {"self_attn.v_proj", key, s->width},
        {"self_attn.o_proj", s->width, query}, {"post_attention_layernorm", s->width, 0},
        {"mlp.gate_proj", s->inner, s->width}, {"mlp.up_proj", s->inner, s->width},
        {"mlp.down_proj", s->width, s->inner},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char name[96];
        snprintf(name, sizeof(name), "model.layers.%u.%s.weight", layer, parts[i].name);
        put_tensor(w, name, parts[i].rows, parts[i].columns);
    }
}

static bool write_files(const char *folder, const shape *s, writer *w)
{
    char path[128];
    put_tensor(w, "model.embed_tokens.weight", s->vocab, s->width);
    for (unsigned i = 0; i < s->layers; i++)
        put_layer(w, s, i);
    put_tensor(w, "model.norm.weight", s->width, 0);
    if (!s->tied)
        put_tensor(w, "lm_head.weight", s->vocab, s->width);
    w->header[w->header_bytes++] = '}';
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    FILE *file = fopen(path, "wb");
    const uint64_t bytes = w->header_bytes;
    if (file == NULL)
        return false;
    fwrite(&bytes, 8, 1, file);
    fwrite(w->header, 1, w->header_bytes, file);
    fwrite(w->data, 1, w->data_bytes, file);
    fclose(file);
    snprintf(path, sizeof(path), "%s/config.json", folder);
    file = fopen(path, "wb");
    if (file == NULL)
        return false;
    fprintf(file,
            "{\"vocab_size\":%u,\"hidden_size\":%u,\"intermediate_size\":%u,"
            "\"num_hidden_layers\":%u,\"num_attention_heads\":%u,"
            "\"num_key_value_heads\":%u,\"head_dim\":%u,\"tie_word_embeddings\":%s,"
            "\"rope_scaling\":%s}",
            s->vocab, s->width, s->inner, s->layers, s->heads, s->kv_heads, s->head_dim,
            s->tied ? "true" : "false",
            s->llama3 ? "{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
                        "\"high_freq_factor\":4,\"original_max_position_embeddings\":32}"
                      : "null");
    fclose(file);
    return true;
}

static bool load(const shape *s, weights *out)
{
    static writer w;
    char folder[64], path[128];
    gph_error error = {0};
    snprintf(folder, sizeof(folder), "decode_shapes_XXXXXX");
    if (!CHECK(mkdtemp(folder) != NULL))
        return false;
    w = (writer){.type = s->type, .data = malloc(64 << 20)};
    bool good = w.data != NULL && write_files(folder, s, &w);
    free(w.data);
    if (good)
        good = CHECK_OK(weights_load(&allocator, folder, out, &error), error);
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/config.json", folder);
    unlink(path);
    rmdir(folder);
    return good;
}

enum { SEQUENCES = 3, NEW = 12 };

/* The largest difference of logits along what was generated, and that every token is the
 * plain pass's best, or as good as. */
static float compare(const weights *w, const decoder *m, const sequence *list,
                     uint32_t slots)
{
    static reference_cache past;
    static float logits[2048];
    float apart = 0;
    for (uint32_t s = 0; s < SEQUENCES; s++) {
        uint32_t position = 0;
        for (; position < list[s].prompt_count; position++)
            reference_forward(w, &past, list[s].prompt[position], position, logits);
        for (uint32_t k = 0; k < list[s].out_count; k++) {
            const float *got =
                k == 0 ? m->kept + s * w->c.vocab
                       : m->kept + (SEQUENCES + (size_t)(k - 1) * slots + s) * w->c.vocab;
            float best = -INFINITY;
            for (uint32_t v = 0; v < w->c.vocab; v++) {
                const float d = fabsf(got[v] - logits[v]);
                apart = d <= apart ? apart : d;
                best = fmaxf(best, logits[v]);
            }
            CHECK(logits[list[s].out[k]] > best - 1e-3f);
            reference_forward(w, &past, list[s].out[k], position++, logits);
        }
    }
    return apart;
}

static void run_shape(const shape *s, uint32_t slots)
{
    static int out[SEQUENCES][NEW];
    static const int prompts[SEQUENCES][7] = {{1, 2, 3, 4, 5, 6, 7}, {9}, {8, 8, 1}};
    static const uint32_t counts[SEQUENCES] = {7, 1, 3};
    weights w;
    device d;
    decoder m;
    gph_error error = {0};
    batch_stats stats;
    sequence list[SEQUENCES];
    const device_options how = {.kernels = KERNELS_DIR};
    const decoder_options what = {
        .slots = slots, .context = 7 + NEW, .queue = 3, .keep_logits = true};
    if (!load(s, &w))
        return;
    const gph_status status = device_open(&allocator, &how, &d, &error);
    if (status == GPH_E_UNSUPPORTED) {
        missing = "no driver here";
    } else if (CHECK_OK(status, error)) {
        for (int i = 0; i < SEQUENCES; i++)
            list[i] = (sequence){prompts[i], counts[i], NEW, out[i], 0};
        for (int mode = MODE_EAGER; mode < MODE_COUNT; mode++)
            if (CHECK_OK(mode == MODE_EAGER ? decoder_init(&m, &d, &w, &what, &error) : 0,
                         error) &&
                CHECK_OK(batch_run(&m, &(batch_options){.mode = (decode_mode)mode}, list,
                                   SEQUENCES, &stats, &error),
                         error)) {
                const float apart = compare(&w, &m, list, slots);
                printf("# logits differ by at most %g\n", (double)apart);
                CHECK(apart < 1e-3f);
            }
        decoder_fini(&m);
        device_close(&d);
    }
    weights_fini(&w);
}

static void sizes_that_fit_no_tile(void)
{
    run_shape(&(shape){131, 72, 100, 2, 4, 2, 18, true, false, TENSOR_F32}, SEQUENCES);
    if (missing)
        SKIP(missing);
}

static void wide_heads_and_an_own_output_matrix(void)
{
    run_shape(&(shape){1009, 96, 160, 1, 2, 1, 80, false, true, TENSOR_BF16}, 5);
    if (missing)
        SKIP(missing);
}

static void one_weight_more_than_a_tile(void)
{
    run_shape(&(shape){65, 65, 33, 3, 1, 1, 66, false, false, TENSOR_F16}, 9);
    if (missing)
        SKIP(missing);
}

int main(void)
{
    RUN(sizes_that_fit_no_tile);
    RUN(wide_heads_and_an_own_output_matrix);
    RUN(one_weight_more_than_a_tile);
    if (atomic_load(&heap.live_bytes) != 0) {
        printf("not ok leaks %ld bytes\n", atomic_load(&heap.live_bytes));
        return 1;
    }
    return test_done();
}
