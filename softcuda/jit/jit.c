// SPDX-License-Identifier: Apache-2.0
/* softcuda-jit.so: textual LLVM IR to objects, through LLVM's C API.
 *
 *   IR --> part 0: context, module, passes, object      a thread each
 *      --> part 1: ...                                  kernels shared out by size
 *
 * A context is one thread's, so every part reads the whole text and drops what is not
 * its own. The text of one large kernel is cut into batches (split.c), a part each, which
 * a few threads make one after the other: what LLVM keeps of a batch is gone before the
 * next one. The library is apart from the driver so that a program that launches nothing
 * does not load LLVM. */
#include "softcuda/jit/jit.h"
#include "softcuda/jit/merge.h"
#include "softcuda/jit/split.h"

#include "softcuda/jit/interleave.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t started = PTHREAD_ONCE_INIT;
static struct host {
    bool ready;
    LLVMTargetRef target;
    char *triple, *cpu, *features;
} host; /* written once by start(), then read only */

/* One part of a compilation: what a thread works on. */
typedef struct part {
    const soft_jit_request *request;
    const soft_split *split; /* NULL: the whole text */
    uint32_t index;
    bool failed;
    soft_jit_object object;
    char *text; /* of the optimized IR, if wanted */
    bool want_text;
    char message[512];
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    jmp_buf fatal; /* where LLVM's fatal errors go */
} part;

static _Thread_local part *current; /* what this thread compiles */

/* LLVM ends the process on what it cannot do (an instruction it cannot select). Leaving
 * it by a jump loses its memory, and keeps the program. */
static void on_fatal(const char *reason)
{
    part *p = current;
    if (!p)
        return; /* another user of LLVM in this process */
    snprintf(p->message, sizeof(p->message), "LLVM: %s", reason);
    p->failed = true;
    longjmp(p->fatal, 1);
}

static void start(void)
{
    /* There are no other switches for these:
     * - loop strength reduction takes a third of the time and gains nothing measurable:
     *   kernels index from bases, which the CPU's addressing does by itself;
     * - the thread's index, 32 bits wide, would become one of 64 bits, since addresses are;
     *   then a comparison with it takes twice the vectors. */
    const char *const arguments[] = {"softcuda", "-disable-lsr",
                                     "-indvars-widen-indvars=false"};
    LLVMParseCommandLineOptions(3, arguments, NULL);
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    LLVMInitializeNativeDisassembler();
    LLVMInstallFatalErrorHandler(on_fatal);
    host.triple = LLVMGetDefaultTargetTriple();
    host.cpu = LLVMGetHostCPUName();
    host.features = LLVMGetHostCPUFeatures();
    char *why = NULL;
    host.ready = LLVMGetTargetFromTriple(host.triple, &host.target, &why) == 0;
    LLVMDisposeMessage(why);
}

static bool fail(part *p, const char *what, char *why)
{
    p->failed = true;
    if (p->message[0] == '\0')
        snprintf(p->message, sizeof(p->message), "%s: %s", what,
                 why ? why : "no reason given");
    LLVMDisposeMessage(why);
    return false;
}

/* Without a handler of ours, LLVM prints an error and ends the process. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    part *p = user;
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError)
        fail(p, "LLVM", LLVMGetDiagInfoDescription(info));
}

/* Asked between the steps: LLVM itself cannot be stopped in one. */
static bool goes_on(part *p)
{
    const _Atomic uint32_t *cancel = p->request->cancel;
    if (!cancel || atomic_load_explicit(cancel, memory_order_relaxed) == 0)
        return true;
    return fail(p, "canceled", NULL);
}

static bool parse(part *p)
{
    size_t bytes = p->request->ir_bytes;
    char *own = p->split ? soft_split_text(p->split, p->index, &bytes) : NULL;
    if (p->split && !own)
        return fail(p, "no memory for a part of the IR", NULL);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
        own ? own : p->request->ir, bytes, "ptx", 1);
    char *why = NULL;
    const bool is_bad = LLVMParseIRInContext(p->context, buffer, &p->module, &why);
    free(own);
    if (is_bad) {
        p->module = NULL;
        return fail(p, "the IR does not parse", why);
    }
    LLVMDisposeMessage(why);
    why = NULL;
    if (LLVMVerifyModule(p->module, LLVMReturnStatusAction, &why))
        return fail(p, "the IR is not valid", why);
    LLVMDisposeMessage(why);
    return true;
}

static bool is_kernel(const char *name)
{
    return (name[0] == 'b' || name[0] == 't') && name[1] == '.';
}

static uint64_t instruction_count(LLVMValueRef function)
{
    uint64_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
             i = LLVMGetNextInstruction(i))
            count++;
    return count;
}

struct sized {
    LLVMValueRef function;
    uint64_t instructions;
    uint32_t order;
};

static int compare_sized(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions > y->instructions ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Gives every kernel to the part with the least to do, the largest first: each part comes
 * to the same result by itself. The others' kernels are dropped by globaldce. */
static void share_out(const part *p, struct sized *kernels, uint32_t count)
{
    uint64_t load[SOFT_JIT_PARTS_MAX] = {0};
    qsort(kernels, count, sizeof(*kernels), compare_sized);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < p->request->part_count; k++)
            if (load[k] < load[least])
                least = k;
        load[least] += kernels[i].instructions;
        if (least != p->index)
            LLVMSetLinkage(kernels[i].function, LLVMInternalLinkage);
    }
}

/* Keeps this part's kernels; see soft_jit_result. */
static bool keep_own(part *p)
{
    uint32_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f; f = LLVMGetNextFunction(f))
        count++;
    struct sized *kernels = calloc(count + 1u, sizeof(*kernels));
    if (!kernels)
        return fail(p, "no memory to share out the kernels", NULL);
    count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f;
         f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMExternalLinkage)
            continue;
        if (is_kernel(name)) {
            kernels[count] = (struct sized){f, instruction_count(f), count};
            count++;
        } else if (p->index != 0) {
            LLVMSetLinkage(f, LLVMAvailableExternallyLinkage);
        }
    }
    share_out(p, kernels, count);
    free(kernels);
    return true;
}

/* But where the function says something else. */
static void add_attribute(part *p, LLVMValueRef function, const char *key,
                          const char *value)
{
    if (LLVMGetStringAttributeAtIndex(function,
                                      (LLVMAttributeIndex)LLVMAttributeFunctionIndex, key,
                                      (unsigned)strlen(key)))
        return;
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(p->context, key,
                                                      (unsigned)strlen(key), value,
                                                      (unsigned)strlen(value)));
}

static void add_attributes(part *p)
{
    char width[16];
    snprintf(width, sizeof(width), "%u", p->request->vector_bits);
    for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f;
         f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        if (p->request->vector_bits != 0)
            add_attribute(p, f, "prefer-vector-width", width);
        /* A frame of more than a page must not step over a fiber's guard page. */
        add_attribute(p, f, "probe-stack", "inline-asm");
    }
}

static bool make_machine(part *p)
{
    const LLVMCodeGenOptLevel level = p->request->optimize == SOFT_JIT_QUICK
                                          ? LLVMCodeGenLevelNone
                                          : LLVMCodeGenLevelDefault;
    p->machine =
        LLVMCreateTargetMachine(host.target, host.triple, host.cpu, host.features, level,
                                LLVMRelocPIC, LLVMCodeModelSmall);
    if (!p->machine)
        return fail(p, "no code generator for this CPU", NULL);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(p->machine);
    LLVMSetTarget(p->module, host.triple);
    LLVMSetModuleDataLayout(p->module, layout);
    LLVMDisposeTargetData(layout);
    return true;
}

/* One round of what the vectorizer needs before and leaves after it. Of a kernel in batches no
 * instructions are combined, which takes a tenth of the passes' time. */
#define QUICK_PASSES(simplify)                                                           \
    "globaldce,always-inline,function(sroa,early-cse,simplifycfg,loop-vectorize,"        \
    "early-cse<memssa>," simplify ",simplifycfg)"

static const char *quick_passes(const part *p)
{
    return p->split ? QUICK_PASSES("instsimplify")
                    : QUICK_PASSES("instcombine<max-iterations=1;no-verify-fixpoint>");
}

static bool optimize_module(part *p)
{
    const uint32_t optimize = p->request->optimize;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, optimize != SOFT_JIT_QUICK);
    /* Loops over threads are independent rounds: the CPU overlaps them by itself, and
     * unrolling doubles the code and the time to compile it. */
    LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
    const char *const passes = optimize == SOFT_JIT_BEST    ? "globaldce,default<O3>"
                               : optimize == SOFT_JIT_QUICK ? quick_passes(p)
                                                            : "globaldce";
    LLVMErrorRef error = LLVMRunPasses(p->module, passes, p->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) {
        if (strncmp(host.triple, "x86_64", 6) == 0 && optimize != SOFT_JIT_NONE)
            soft_jit_interleave(p->module);
        return !p->failed;
    }
    char *why = LLVMGetErrorMessage(error);
    snprintf(p->message, sizeof(p->message), "LLVM's passes: %s", why);
    LLVMDisposeErrorMessage(why);
    p->failed = true;
    return false;
}

static bool emit(part *p)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *why = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(p->machine, p->module, LLVMObjectFile, &why,
                                            &buffer))
        return fail(p, "no machine code", why);
    LLVMDisposeMessage(why);
    const size_t bytes = LLVMGetBufferSize(buffer);
    unsigned char *copy = p->failed ? NULL : malloc(bytes);
    if (copy) {
        memcpy(copy, LLVMGetBufferStart(buffer), bytes);
        p->object = (soft_jit_object){copy, bytes};
    }
    LLVMDisposeMemoryBuffer(buffer);
    return copy ? true : fail(p, "no memory for the object", NULL);
}

static void compile_whole(part *p)
{
    p->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(p->context, on_diagnostic, p);
    if (goes_on(p) && parse(p) && make_machine(p) && (p->split || keep_own(p))) {
        add_attributes(p);
        if (goes_on(p) && optimize_module(p) && goes_on(p)) {
            if (p->want_text)
                p->text = LLVMPrintModuleToString(p->module);
            else
                emit(p);
        }
    }
    if (p->machine)
        LLVMDisposeTargetMachine(p->machine);
    if (p->module)
        LLVMDisposeModule(p->module);
    LLVMContextDispose(p->context);
}

static void *compile_part(void *argument)
{
    part *p = argument;
    current = p;
    if (setjmp(p->fatal) == 0)
        compile_whole(p);
    current = NULL;
    return NULL;
}

static void release(soft_jit_result *result)
{
    for (uint32_t i = 0; i < result->object_count; i++)
        free(result->objects[i].bytes);
    result->object_count = 0;
}

/* tsan does not see the locks of LLVM, which is built without it. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ONE_THREAD 1
#endif
#endif
#ifndef ONE_THREAD
#define ONE_THREAD 0
#endif

/* Of regions' IR. LLVM takes some 10 MB and 50 ms for so much; its best some 100 ms, and
 * a process that ends waits for it. */
#define QUICK_BATCH_BYTES ((size_t)128 << 10)
#define BATCH_BYTES ((size_t)64 << 10)

/* LLVM recurses; the program's threads may have small stacks. */
#define STACK_BYTES (16u << 20)

/* The parts of a compilation, of which each thread takes the next. */
typedef struct parts {
    soft_jit_request request;
    char *merged; /* the request's text then */
    soft_split *split;
    part *all;
    uint32_t count;
    atomic_uint next;
} parts;

static void *compile_next(void *argument)
{
    parts *p = argument;
    for (uint32_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;)
        compile_part(&p->all[i]);
    return NULL;
}

/* With threads of its own; what cannot get one runs on this thread. */
static void run_parts(parts *p, uint32_t thread_count)
{
    pthread_t threads[SOFT_JIT_PARTS_MAX];
    uint32_t made = 0;
    pthread_attr_t attributes;
    const bool sized = pthread_attr_init(&attributes) == 0;
    if (sized)
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (made < thread_count && !ONE_THREAD &&
           pthread_create(&threads[made], sized ? &attributes : NULL, compile_next, p) ==
               0)
        made++;
    if (sized)
        pthread_attr_destroy(&attributes);
    if (made == 0)
        compile_next(p);
    for (uint32_t i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
}

static bool begin_parts(parts *p, const soft_jit_request *asked)
{
    *p = (parts){.request = *asked};
    uint32_t count = asked->part_count ? asked->part_count : 1;
    count = count < SOFT_JIT_PARTS_MAX ? count : SOFT_JIT_PARTS_MAX;
    p->request.part_count = count;
    if (count == 1 && asked->optimize == SOFT_JIT_QUICK)
        p->merged = soft_merge(asked->ir, &p->request.ir_bytes);
    if (p->merged)
        p->request.ir = p->merged;
    if (count == 1)
        p->split = soft_split_create(p->request.ir, p->request.ir_bytes,
                                     asked->optimize == SOFT_JIT_QUICK ? QUICK_BATCH_BYTES
                                                                       : BATCH_BYTES,
                                     SOFT_JIT_PARTS_MAX);
    p->count = p->split ? soft_split_count(p->split) : count;
    p->all = calloc(p->count, sizeof(*p->all));
    for (uint32_t i = 0; p->all && i < p->count; i++)
        p->all[i] = (part){.request = &p->request, .split = p->split, .index = i};
    return p->all;
}

static int end_parts(parts *p, soft_jit_result *result)
{
    int status = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        result->objects[result->object_count++] = p->all[i].object;
        if (p->all[i].failed && status == 0) {
            memcpy(result->message, p->all[i].message, sizeof(p->all[i].message));
            status = -1;
        }
    }
    free(p->all);
    soft_split_destroy(p->split);
    free(p->merged);
    if (status != 0)
        release(result);
    return status;
}

static int compile(const soft_jit_request *asked, soft_jit_result *result)
{
    pthread_once(&started, start);
    memset(result, 0, sizeof(*result));
    parts p = {.split = NULL};
    if (!host.ready || !begin_parts(&p, asked)) {
        snprintf(result->message, sizeof(result->message), "%s",
                 host.ready ? "no memory"
                            : "LLVM has no code generator for this machine");
        soft_split_destroy(p.split);
        free(p.merged);
        return -1;
    }
    uint32_t threads = p.split ? asked->thread_count : p.count;
    threads = threads > p.count ? p.count : threads;
    static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
    if (ONE_THREAD) /* kernels are compiled by several threads, too */
        pthread_mutex_lock(&alone);
    run_parts(&p, threads > 0 ? threads : 1);
    if (ONE_THREAD)
        pthread_mutex_unlock(&alone);
    return end_parts(&p, result);
}

static char *optimized_ir(const soft_jit_request *asked)
{
    pthread_once(&started, start);
    soft_jit_request request = *asked;
    request.part_count = 1;
    part p = {.request = &request, .want_text = true};
    if (host.ready)
        compile_part(&p);
    return p.text;
}

static void free_text(char *text)
{
    LLVMDisposeMessage(text);
}

static int disassemble(const unsigned char *code, size_t bytes, soft_jit_line_fn *line,
                       void *user)
{
    pthread_once(&started, start);
    if (!host.ready)
        return -1;
    LLVMDisasmContextRef context = LLVMCreateDisasmCPUFeatures(
        host.triple, host.cpu, host.features, NULL, 0, NULL, NULL);
    if (!context)
        return -1;
    char text[256];
    for (size_t at = 0; at < bytes;) {
        uint8_t copy[16] = {0}; /* LLVM wants them writable */
        const size_t room = bytes - at < sizeof(copy) ? bytes - at : sizeof(copy);
        memcpy(copy, code + at, room);
        const size_t used =
            LLVMDisasmInstruction(context, copy, room, at, text, sizeof(text));
        line(user, at, used ? text : "\t(bad)");
        at += used ? used : 1;
    }
    LLVMDisasmDispose(context);
    return 0;
}

static const char *cpu_name(void)
{
    pthread_once(&started, start);
    return host.cpu ? host.cpu : "";
}

static const soft_jit_api api = {
    .version = SOFT_JIT_VERSION,
    .llvm_version = SOFT_LLVM_VERSION,
    .cpu_name = cpu_name,
    .compile = compile,
    .release = release,
    .optimized_ir = optimized_ir,
    .free_text = free_text,
    .disassemble = disassemble,
};

__attribute__((visibility("default"))) soft_jit_get_fn soft_jit_get;

const soft_jit_api *soft_jit_get(void)
{
    return &api;
}
