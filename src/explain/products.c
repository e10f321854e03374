// SPDX-License-Identifier: Apache-2.0
/* Whoever names vLLM does not want what PyTorch alone does. */
#include "explain/products.h"
#include "explain/scan.h"

#include <string.h>

enum { WORDS_MAX = 10 };

/* What its entries' slugs begin with, and how people write it. */
static const struct {
    const char *slug;
    bool is_engine;
    const char *words[WORDS_MAX];
} products[] = {
    {"torch",
     false,
     {"torch", "pytorch", "inductor", "dynamo", "reduce-overhead", "symint"}},
    {"vllm",
     true,
     {"vllm", "enforce_eager", "enforce-eager", "cudagraph_capture_sizes",
      "gpu_memory_utilization", "gpu-memory-utilization"}},
    {"sglang",
     true,
     {"sglang", "sgl", "cuda-graph-bs", "cuda-graph-max-bs", "disable-cuda-graph",
      "enable-torch-compile"}},
    {"llama",
     true,
     {"llama.cpp", "ggml", "gguf", "llama-", "ollama", "koboldcpp", "n-cpu-moe", "ngl"}},
    {"xla", true, {"xla", "jax", "jaxlib", "command buffer", "tensorflow"}},
    {"tensorrt", true, {"tensorrt", "trt", "trtexec", "enqueuev", "execute_async_v"}},
    {"onnxruntime",
     true,
     {"onnxruntime", "onnx", "ort", "enable_cuda_graph", "cuda provider",
      "execution provider"}},
    {"nccl",
     false,
     {"nccl", "rccl", "allreduce", "all_reduce", "all-reduce", "allgather"}},
    {"hip", true, {"hip", "rocm", "amd", "miopen", "rccl"}},
    {"cupy", true, {"cupy"}},
    {"python", true, {"numba", "cuda.core", "cuda-python"}},
    {"flashinfer", true, {"flashinfer"}},
};

/* Whether it is there and begins a word. */
static bool names_it(const char *text, size_t bytes, const char *word)
{
    const size_t length = strlen(word);
    for (size_t at = 0; at + length <= bytes; at++)
        if (gphi_lower(text[at]) == word[0] && gphi_is_same(text + at, word, length) &&
            (at == 0 || !gphi_is_word(text[at - 1])))
            return true;
    return false;
}

uint32_t gphi_products_of(const char *text, size_t bytes)
{
    uint32_t found = 0;
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        for (size_t w = 0; w < WORDS_MAX && products[i].words[w]; w++)
            if (names_it(text, bytes, products[i].words[w]))
                found |= 1u << i;
    return found;
}

uint32_t gphi_product_of_slug(const char *slug)
{
    const size_t bytes = strcspn(slug, "/.");
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        if (strlen(products[i].slug) == bytes &&
            memcmp(products[i].slug, slug, bytes) == 0)
            return 1u << i;
    return 0;
}

bool gphi_product_is_engine(uint32_t product)
{
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        if (product == 1u << i)
            return products[i].is_engine;
    return false;
}
