// SPDX-License-Identifier: Apache-2.0
/* Reads config.json and refuses what the kernels cannot run. */
#include "weights.h"

#include "fail.h"
#include <math.h>

typedef struct config_reader {
    json doc;
    const json_node *root;
    gph_error *error;
} config_reader;

static const json_node *member(config_reader *r, const char *key)
{
    const json_node *node = json_member(&r->doc, r->root, key);
    return node != NULL && node->kind == JSON_NULL ? NULL : node;
}

/* A size from 1 to `most`; if it is missing, `otherwise`, where 0 means that it must be
 * there. */
static gph_status read_size(config_reader *r, const char *key, uint32_t most,
                            uint32_t otherwise, uint32_t *out)
{
    const json_node *node = member(r, key);
    uint64_t value = otherwise;
    if (node != NULL && !json_u64(node, &value))
        return fail(r->error, GPH_E_FORMAT, "config.json: %s is not a size", key);
    if (node == NULL && otherwise == 0)
        return fail(r->error, GPH_E_FORMAT, "config.json has no %s", key);
    if (value < 1 || value > most)
        return fail(r->error, GPH_E_FORMAT, "config.json: %s is %llu, 1 to %u can be",
                    key, (unsigned long long)value, most);
    *out = (uint32_t)value;
    return GPH_OK;
}

static gph_status read_real(config_reader *r, const json_node *node, const char *key,
                            double *out)
{
    double value;
    if (node == NULL)
        return GPH_OK;
    if (!json_double(node, &value) || !(value > 0))
        return fail(r->error, GPH_E_FORMAT, "config.json: %s is not a positive number",
                    key);
    *out = value;
    return GPH_OK;
}

static gph_status refuse_word(config_reader *r, const char *key, const char *wanted)
{
    const json_node *node = member(r, key);
    if (node != NULL && (node->kind != JSON_STRING || strcmp(node->text, wanted) != 0))
        return fail(r->error, GPH_E_UNSUPPORTED, "config.json: %s is %.40s, only %s runs",
                    key, node->kind == JSON_STRING ? node->text : "no text", wanted);
    return GPH_OK;
}

static gph_status refuse_true(config_reader *r, const char *key)
{
    const json_node *node = member(r, key);
    if (node != NULL && node->kind != JSON_FALSE)
        return fail(r->error, GPH_E_UNSUPPORTED, "config.json: %s is not false", key);
    return GPH_OK;
}

/* rope_theta and rope_scaling of old files, rope_parameters of new ones. */
static gph_status read_rope(config_reader *r, config *c)
{
    c->theta = 10000;
    TRY(read_real(r, member(r, "rope_theta"), "rope_theta", &c->theta));
    const json_node *rope = member(r, "rope_parameters");
    if (rope == NULL)
        rope = member(r, "rope_scaling");
    if (rope == NULL)
        return GPH_OK;
    TRY(read_real(r, json_member(&r->doc, rope, "rope_theta"), "rope_theta", &c->theta));
    const json_node *type = json_member(&r->doc, rope, "rope_type");
    if (type == NULL)
        type = json_member(&r->doc, rope, "type");
    if (type == NULL || type->kind != JSON_STRING)
        return fail(r->error, GPH_E_FORMAT, "config.json: the rope scaling has no type");
    if (strcmp(type->text, "default") == 0)
        return GPH_OK;
    if (strcmp(type->text, "llama3") != 0)
        return fail(r->error, GPH_E_UNSUPPORTED,
                    "config.json: rope scaling %.40s, only default and llama3 run",
                    type->text);
    static const char *const keys[] = {"factor", "low_freq_factor", "high_freq_factor",
                                       "original_max_position_embeddings"};
    double *const values[] = {&c->factor, &c->low, &c->high, &c->trained_positions};
    for (int i = 0; i < 4; i++) {
        const json_node *node = json_member(&r->doc, rope, keys[i]);
        if (node == NULL)
            return fail(r->error, GPH_E_FORMAT, "config.json: the rope scaling has no %s",
                        keys[i]);
        TRY(read_real(r, node, keys[i], values[i]));
    }
    if (c->high <= c->low)
        return fail(r->error, GPH_E_FORMAT,
                    "config.json: high_freq_factor %g is not above low_freq_factor %g",
                    c->high, c->low);
    return GPH_OK;
}

static gph_status read_end(config_reader *r, config *c)
{
    const json_node *node = member(r, "eos_token_id");
    uint64_t end;
    c->end = -1;
    if (node != NULL && node->kind == JSON_ARRAY && node->count > 0)
        node = &r->doc.node[node->first];
    if (node == NULL)
        return GPH_OK;
    if (!json_u64(node, &end) || end >= c->vocab)
        return fail(r->error, GPH_E_FORMAT,
                    "config.json: eos_token_id is not a token of %u", c->vocab);
    c->end = (int)end;
    return GPH_OK;
}

static gph_status read_config(config_reader *r, config *c)
{
    if (r->root->kind != JSON_OBJECT)
        return fail(r->error, GPH_E_FORMAT, "config.json is not a JSON object");
    TRY(refuse_word(r, "model_type", "llama"));
    TRY(refuse_word(r, "hidden_act", "silu"));
    TRY(refuse_true(r, "attention_bias"));
    TRY(refuse_true(r, "mlp_bias"));
    TRY(read_size(r, "vocab_size", 1 << 20, 0, &c->vocab));
    TRY(read_size(r, "hidden_size", 1 << 15, 0, &c->width));
    TRY(read_size(r, "intermediate_size", 1 << 17, 0, &c->inner));
    TRY(read_size(r, "num_hidden_layers", 512, 0, &c->layers));
    TRY(read_size(r, "num_attention_heads", 512, 0, &c->heads));
    TRY(read_size(r, "num_key_value_heads", 512, c->heads, &c->kv_heads));
    TRY(read_size(r, "max_position_embeddings", 1 << 24, 2048, &c->positions));
    if (c->heads % c->kv_heads != 0)
        return fail(r->error, GPH_E_FORMAT, "config.json: %u heads share %u key heads",
                    c->heads, c->kv_heads);
    if (member(r, "head_dim") == NULL && c->width % c->heads != 0)
        return fail(r->error, GPH_E_FORMAT, "config.json: hidden_size %u over %u heads",
                    c->width, c->heads);
    TRY(read_size(r, "head_dim", 1024, c->width / c->heads, &c->head_dim));
    if (c->head_dim % 2 != 0)
        return fail(r->error, GPH_E_FORMAT, "config.json: head_dim %u is odd",
                    c->head_dim);
    double eps = 1e-6;
    TRY(read_real(r, member(r, "rms_norm_eps"), "rms_norm_eps", &eps));
    c->eps = (float)eps;
    const json_node *tied = member(r, "tie_word_embeddings");
    c->tied = tied != NULL && tied->kind == JSON_TRUE;
    TRY(read_rope(r, c));
    return read_end(r, c);
}

gph_status config_read(const gph_allocator *heap, const char *text, size_t bytes,
                       config *out, gph_error *error)
{
    config_reader r = {.error = error};
    config c = {0};
    TRY(json_read(heap, text, bytes, &r.doc, error));
    r.root = &r.doc.node[0];
    const gph_status status = read_config(&r, &c);
    json_fini(&r.doc);
    if (status == GPH_OK)
        *out = c;
    return status;
}
