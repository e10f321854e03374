// SPDX-License-Identifier: Apache-2.0
/* A PTX module as data: what the parser produces and everything after it reads.
 *
 *   ptx_module ─┬─ variables   (.global, .const, module-level .shared)
 *               └─ functions ─┬─ parameters, return parameters
 *                             ├─ registers   %r<10> counts as ten; scopes { } are
 * flattened: │              every register of the function has one index ├─ variables
 * .local, .shared, .param of the body ├─ labels      -> index of the instruction that
 * follows └─ instructions, flat, in text order
 *
 * Everything lives in one arena: ptx_module_destroy() frees it all. Names are
 * NUL-terminated. The module is immutable once parsed, so any thread may read it. */
#ifndef SOFT_PTX_PTX_H
#define SOFT_PTX_PTX_H

#include <gph/base.h>
#include <stdbool.h>

/* Limits on hostile input; a module over one is refused by name and value. */
#define PTX_TEXT_BYTES_MAX (256u << 20)
#define PTX_REGISTERS_MAX (1u << 20)    /* a function */
#define PTX_INSTRUCTIONS_MAX (1u << 22) /* a function */
#define PTX_OPERANDS_MAX 256            /* an instruction, vectors counted by element */
#define PTX_TARGETS_MAX 65536           /* labels of a brx.idx, beside PTX_OPERANDS_MAX */

/* The newest PTX that parses; anything newer is refused with
 * CUDA_ERROR_UNSUPPORTED_PTX_VERSION. */
#define PTX_VERSION_MAJOR_MAX 9
#define PTX_VERSION_MINOR_MAX 0
#define PTX_TARGET_MAX 121

typedef enum ptx_type {
    PTX_NONE, /* no type written */
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_F32,
    PTX_F32X2,
    PTX_F64,
    PTX_U16X2,
    PTX_S16X2,
    PTX_PRED,
    PTX_TYPE_OTHER, /* known to PTX, unknown here: e2m1x2, texref ... */
    /* Of matrices and conversions alone: no register is of such a type. */
    PTX_TF32,
    PTX_E4M3,
    PTX_E5M2,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_B1,
    PTX_TYPE_COUNT
} ptx_type;

/* Bytes of one value; 1 for PTX_PRED, 0 for PTX_NONE and PTX_TYPE_OTHER. */
uint32_t ptx_type_bytes(ptx_type type);
const char *ptx_type_name(ptx_type type); /* "u32" */

typedef enum ptx_space {
    PTX_SPACE_GENERIC, /* none written */
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM, /* .param, .param::entry, .param::func */
    PTX_SPACE_SHARED /* .shared, .shared::cta; .shared::cluster is also a modifier */
} ptx_space;

/* clang-format off */
/* Opcodes: the word before the first dot. */
#define PTX_OPCODES(X)                                                                    \
    X(ABS, "abs") X(ACTIVEMASK, "activemask") X(ADD, "add") X(ADDC, "addc")               \
    X(ALLOCA, "alloca") X(AND, "and") X(APPLYPRIORITY, "applypriority")                   \
    X(ATOM, "atom") X(BAR, "bar") X(BARRIER, "barrier") X(BFE, "bfe") X(BFI, "bfi")       \
    X(BFIND, "bfind") X(BMSK, "bmsk") X(BRA, "bra") X(BREV, "brev") X(BRKPT, "brkpt")     \
    X(BRX, "brx") X(CALL, "call") X(CLZ, "clz") X(CNOT, "cnot") X(COPYSIGN, "copysign")   \
    X(COS, "cos") X(CP, "cp") X(CREATEPOLICY, "createpolicy") X(CVT, "cvt")               \
    X(CVTA, "cvta") X(DISCARD, "discard") X(DIV, "div") X(DP2A, "dp2a")                   \
    X(DP4A, "dp4a") X(ELECT, "elect") X(EX2, "ex2") X(EXIT, "exit") X(FENCE, "fence")     \
    X(FMA, "fma") X(FNS, "fns") X(GETCTARANK, "getctarank")                               \
    X(GRIDDEPCONTROL, "griddepcontrol") X(ISSPACEP, "isspacep")                           \
    X(ISTYPEP, "istypep") X(LD, "ld") X(LDMATRIX, "ldmatrix") X(LDU, "ldu")               \
    X(LG2, "lg2") X(LOP3, "lop3") X(MAD, "mad") X(MAD24, "mad24") X(MADC, "madc")         \
    X(MAPA, "mapa") X(MATCH, "match") X(MAX, "max") X(MBARRIER, "mbarrier")               \
    X(MEMBAR, "membar") X(MIN, "min") X(MMA, "mma") X(MOV, "mov")                         \
    X(MOVMATRIX, "movmatrix") X(MUL, "mul") X(MUL24, "mul24") X(MULTIMEM, "multimem")     \
    X(NANOSLEEP, "nanosleep") X(NEG, "neg") X(NOT, "not") X(OR, "or")                     \
    X(PMEVENT, "pmevent") X(POPC, "popc") X(PREFETCH, "prefetch")                         \
    X(PREFETCHU, "prefetchu") X(PRMT, "prmt") X(RCP, "rcp") X(RED, "red")                 \
    X(REDUX, "redux") X(REM, "rem") X(RET, "ret") X(RSQRT, "rsqrt") X(SAD, "sad")         \
    X(SELP, "selp") X(SET, "set") X(SETMAXNREG, "setmaxnreg") X(SETP, "setp")             \
    X(SHF, "shf") X(SHFL, "shfl") X(SHL, "shl") X(SHR, "shr") X(SIN, "sin")               \
    X(SLCT, "slct") X(SQRT, "sqrt") X(ST, "st") X(STACKRESTORE, "stackrestore")           \
    X(STACKSAVE, "stacksave") X(STMATRIX, "stmatrix") X(SUB, "sub") X(SUBC, "subc")       \
    X(SULD, "suld") X(SUQ, "suq") X(SURED, "sured") X(SUST, "sust") X(SZEXT, "szext") X(TANH, "tanh")   \
    X(TESTP, "testp") X(TEX, "tex") X(TLD4, "tld4") X(TRAP, "trap") X(TXQ, "txq")         \
    X(VABSDIFF, "vabsdiff") X(VABSDIFF2, "vabsdiff2") X(VABSDIFF4, "vabsdiff4")           \
    X(VADD, "vadd") X(VADD2, "vadd2") X(VADD4, "vadd4") X(VAVRG2, "vavrg2")               \
    X(VAVRG4, "vavrg4") X(VMAD, "vmad") X(VMAX, "vmax") X(VMAX2, "vmax2")                 \
    X(VMAX4, "vmax4") X(VMIN, "vmin") X(VMIN2, "vmin2") X(VMIN4, "vmin4") X(VOTE, "vote") \
    X(VSET, "vset") X(VSET2, "vset2") X(VSET4, "vset4") X(VSHL, "vshl") X(VSHR, "vshr")   \
    X(VSUB, "vsub") X(VSUB2, "vsub2") X(VSUB4, "vsub4") X(WGMMA, "wgmma") X(WMMA, "wmma") X(XOR, "xor")

typedef enum ptx_opcode {
    PTX_OP_UNKNOWN, /* one we know by name only: its kernel cannot be launched */
#define X(name, text) PTX_OP_##name,
    PTX_OPCODES(X)
#undef X
    PTX_OP_COUNT
} ptx_opcode;

/* Modifiers: every dotted word after the opcode that is neither a type nor a state space,
 * in the order written. A word with "::" is one word. */
#define PTX_MODIFIERS(X)                                                                  \
    X(RN, "rn") X(RZ, "rz") X(RM, "rm") X(RP, "rp") X(RNA, "rna") X(RNI, "rni")           \
    X(RZI, "rzi") X(RMI, "rmi") X(RPI, "rpi") X(FTZ, "ftz") X(SAT, "sat")                 \
    X(SATFINITE, "satfinite") X(RELU, "relu") X(APPROX, "approx") X(FULL, "full")         \
    X(NAN, "NaN") X(ISNAN, "nan") X(XORSIGN, "xorsign") X(ABS, "abs") X(OOB, "oob")       \
    X(LO, "lo") X(HI, "hi") X(WIDE, "wide") X(CC, "cc")                                   \
    X(EQ, "eq") X(NE, "ne") X(LT, "lt") X(LE, "le") X(GT, "gt") X(GE, "ge")               \
    X(LS, "ls") X(HS, "hs") X(EQU, "equ") X(NEU, "neu") X(LTU, "ltu") X(LEU, "leu")       \
    X(GTU, "gtu") X(GEU, "geu") X(NUM, "num")                                             \
    X(AND, "and") X(OR, "or") X(XOR, "xor") X(POPC, "popc")                               \
    X(ADD, "add") X(INC, "inc") X(DEC, "dec") X(MIN, "min") X(MAX, "max")                 \
    X(EXCH, "exch") X(CAS, "cas") X(NOFTZ, "noftz")                                       \
    X(F4E, "f4e") X(B4E, "b4e") X(RC8, "rc8") X(ECL, "ecl") X(ECR, "ecr") X(RC16, "rc16") \
    X(LEFT, "l") X(RIGHT, "r") X(CLAMP, "clamp") X(WRAP, "wrap") X(SHIFTAMT, "shiftamt")  \
    X(UNI, "uni") X(IDX, "idx") X(UP, "up") X(DOWN, "down") X(BFLY, "bfly")               \
    X(SYNC, "sync") X(ARRIVE, "arrive") X(RED, "red") X(ALIGNED, "aligned")               \
    X(WARP, "warp") X(CTA, "cta") X(CLUSTER, "cluster") X(GPU, "gpu") X(SYS, "sys")       \
    X(GL, "gl") X(ALL, "all") X(ANY, "any") X(BALLOT, "ballot")                           \
    X(WEAK, "weak") X(VOLATILE, "volatile") X(RELAXED, "relaxed") X(ACQUIRE, "acquire")   \
    X(RELEASE, "release") X(ACQ_REL, "acq_rel") X(SC, "sc") X(MMIO, "mmio")               \
    X(CA, "ca") X(CG, "cg") X(CS, "cs") X(LU, "lu") X(CV, "cv") X(WB, "wb") X(WT, "wt")   \
    X(NC, "nc") X(V2, "v2") X(V4, "v4") X(V8, "v8")                                       \
    X(L1_EVICT_NORMAL, "L1::evict_normal") X(L1_EVICT_UNCHANGED, "L1::evict_unchanged")   \
    X(L1_EVICT_FIRST, "L1::evict_first") X(L1_EVICT_LAST, "L1::evict_last")               \
    X(L1_NO_ALLOCATE, "L1::no_allocate") X(L2_CACHE_HINT, "L2::cache_hint")               \
    X(L2_64B, "L2::64B") X(L2_128B, "L2::128B") X(L2_256B, "L2::256B")                    \
    X(L2_EVICT_LAST, "L2::evict_last") X(L2_EVICT_NORMAL, "L2::evict_normal")             \
    X(L2_EVICT_FIRST, "L2::evict_first") X(L1, "L1") X(L2, "L2") X(TO, "to")              \
    X(ASYNC, "async") X(COMMIT_GROUP, "commit_group") X(WAIT_GROUP, "wait_group")         \
    X(WAIT_ALL, "wait_all") X(BULK, "bulk") X(TENSOR, "tensor")                           \
    X(MBARRIER, "mbarrier") X(INIT, "init") X(INVAL, "inval")                             \
    X(TEST_WAIT, "test_wait") X(TRY_WAIT, "try_wait") X(PARITY, "parity")                 \
    X(PENDING_COUNT, "pending_count") X(EXPECT_TX, "expect_tx")                           \
    X(COMPLETE_TX, "complete_tx") X(NOINC, "noinc") X(NOCOMPLETE, "noComplete")           \
    X(ARRIVE_DROP, "arrive_drop") X(SHARED_CLUSTER, "shared::cluster")                    \
    X(MULTICAST_CLUSTER, "multicast::cluster")                                            \
    X(LAUNCH_DEPENDENTS, "launch_dependents") X(WAIT, "wait")                             \
    X(FINITE, "finite") X(INFINITE, "infinite") X(NUMBER, "number")                       \
    X(NOTANUMBER, "notanumber") X(NORMAL, "normal") X(SUBNORMAL, "subnormal")             \
    X(PROXY, "proxy") X(ALIAS, "alias") X(B0, "b0") X(B1, "b1") X(B2, "b2") X(B3, "b3")   \
    X(H0, "h0") X(H1, "h1") X(PO, "po") X(SHR7, "shr7") X(SHR15, "shr15")                 \
    X(PACK, "pack") X(U2, "u2") X(S2, "s2") X(U4, "u4") X(S4, "s4")                       \
    X(M8N8, "m8n8") X(M8N8K4, "m8n8k4") X(M8N8K16, "m8n8k16") X(M8N8K32, "m8n8k32")       \
    X(M8N8K128, "m8n8k128") X(M16N8K4, "m16n8k4") X(M16N8K8, "m16n8k8")                   \
    X(M16N8K16, "m16n8k16") X(M16N8K32, "m16n8k32") X(M16N8K64, "m16n8k64")               \
    X(M16N8K128, "m16n8k128") X(M16N8K256, "m16n8k256") X(M16N16K16, "m16n16k16")         \
    X(M32N8K16, "m32n8k16") X(M8N32K16, "m8n32k16") X(M16N16K8, "m16n16k8")               \
    X(BULK_GROUP, "bulk_group") X(READ, "read") X(MBARRIER_INIT, "mbarrier_init")         \
    X(COMPLETE_BYTES, "mbarrier::complete_tx::bytes")                                     \
    X(ROW, "row") X(COL, "col") X(X1, "x1") X(X2, "x2") X(X4, "x4") X(TRANS, "trans")     \
    X(LOAD, "load") X(STORE, "store") X(MMA, "mma") X(SP, "sp")                           \
    X(SP_ORDERED, "sp::ordered_metadata")                                                 \
    X(A, "a") X(B, "b") X(C, "c") X(D, "d")                                               \
    X(D1, "1d") X(D2, "2d") X(D3, "3d") X(A1D, "a1d") X(A2D, "a2d") X(CUBE, "cube")       \
    X(ACUBE, "acube") X(LEVEL, "level") X(GRAD, "grad") X(BASE, "base") X(GREEN, "g")     \
    X(ZERO, "zero") X(OUTSIDE_TRAP, "trap") X(SAMPLES, "p")                               \
    X(WIDTH, "width") X(HEIGHT, "height") X(DEPTH, "depth")                               \
    X(D4, "4d") X(D5, "5d") X(TILE, "tile") X(IM2COL, "im2col") X(PREFETCH, "prefetch")   \
    X(REDUCE, "reduce") X(TENSORMAP, "tensormap") X(IM2COL_NO_OFFS, "im2col_no_offs")

typedef enum ptx_modifier {
    PTX_MOD_UNKNOWN, /* kept in the instruction's text only; the form is unsupported */
#define X(name, text) PTX_MOD_##name,
    PTX_MODIFIERS(X)
#undef X
    PTX_MOD_COUNT
} ptx_modifier;

/* Special registers. X, Y, Z follow each other. */
#define PTX_SREGS(X)                                                                      \
    X(TID_X, "%tid.x") X(TID_Y, "%tid.y") X(TID_Z, "%tid.z")                              \
    X(NTID_X, "%ntid.x") X(NTID_Y, "%ntid.y") X(NTID_Z, "%ntid.z")                        \
    X(CTAID_X, "%ctaid.x") X(CTAID_Y, "%ctaid.y") X(CTAID_Z, "%ctaid.z")                  \
    X(NCTAID_X, "%nctaid.x") X(NCTAID_Y, "%nctaid.y") X(NCTAID_Z, "%nctaid.z")            \
    X(LANEID, "%laneid") X(WARPID, "%warpid") X(NWARPID, "%nwarpid") X(SMID, "%smid")     \
    X(NSMID, "%nsmid") X(GRIDID, "%gridid")                                               \
    X(LANEMASK_EQ, "%lanemask_eq") X(LANEMASK_LE, "%lanemask_le")                         \
    X(LANEMASK_LT, "%lanemask_lt") X(LANEMASK_GE, "%lanemask_ge")                         \
    X(LANEMASK_GT, "%lanemask_gt")                                                        \
    X(CLOCK, "%clock") X(CLOCK_HI, "%clock_hi") X(CLOCK64, "%clock64")                    \
    X(GLOBALTIMER, "%globaltimer") X(GLOBALTIMER_LO, "%globaltimer_lo")                   \
    X(GLOBALTIMER_HI, "%globaltimer_hi")                                                  \
    X(TOTAL_SMEM_SIZE, "%total_smem_size") X(AGGR_SMEM_SIZE, "%aggr_smem_size")           \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size")                                            \
    X(CLUSTER_CTAID_X, "%cluster_ctaid.x") X(CLUSTER_CTAID_Y, "%cluster_ctaid.y")         \
    X(CLUSTER_CTAID_Z, "%cluster_ctaid.z")                                                \
    X(CLUSTER_NCTAID_X, "%cluster_nctaid.x") X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y")     \
    X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z")                                              \
    X(CLUSTERID_X, "%clusterid.x") X(CLUSTERID_Y, "%clusterid.y")                         \
    X(CLUSTERID_Z, "%clusterid.z")                                                        \
    X(NCLUSTERID_X, "%nclusterid.x") X(NCLUSTERID_Y, "%nclusterid.y")                     \
    X(NCLUSTERID_Z, "%nclusterid.z")                                                      \
    X(CLUSTER_CTARANK, "%cluster_ctarank") X(CLUSTER_NCTARANK, "%cluster_nctarank")       \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster")                                        \
    X(RESERVED_SMEM_BEGIN, "%reserved_smem_offset_begin")                                 \
    X(RESERVED_SMEM_END, "%reserved_smem_offset_end")                                     \
    X(RESERVED_SMEM_CAP, "%reserved_smem_offset_cap")                                     \
    X(RESERVED_SMEM_0, "%reserved_smem_offset_0")                                         \
    X(RESERVED_SMEM_1, "%reserved_smem_offset_1")                                         \
    X(CURRENT_GRAPH_EXEC, "%current_graph_exec")

typedef enum ptx_sreg {
    PTX_SREG_UNKNOWN,
#define X(name, text) PTX_SREG_##name,
    PTX_SREGS(X)
#undef X
    PTX_SREG_ENVREG0, /* %envreg1 ... %envreg31 follow */
    PTX_SREG_COUNT = PTX_SREG_ENVREG0 + 32
} ptx_sreg;
/* clang-format on */

typedef enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REG,     /* index; `negate` for !%p */
    PTX_OPERAND_SREG,    /* index is a ptx_sreg */
    PTX_OPERAND_INT,     /* imm: two's complement of the literal */
    PTX_OPERAND_FLOAT,   /* imm: bits of a float if `single` (0f...), else of a double */
    PTX_OPERAND_VAR,     /* the address of variable `index` + imm, as a value */
    PTX_OPERAND_FUNC,    /* function `index` of the module: address or callee */
    PTX_OPERAND_LABEL,   /* index */
    PTX_OPERAND_ADDRESS, /* [base + imm]: `base` says what `index` means */
    PTX_OPERAND_VECTOR,  /* {a, b, ...}: the next `index` operands are the elements */
    PTX_OPERAND_SINK     /* _ */
} ptx_operand_kind;

#define PTX_SELECT_DIGITS 255u

/* In an instruction's flat operand list a vector is followed by its elements. A pair
 * `p|q` (setp, shfl, elect, match) is two operands, the first with `pair` set. Vector
 * registers (.reg .v4 .f32 %v) are resolved by the parser to 2 or 4 scalar registers. */
typedef struct ptx_operand {
    uint8_t kind;   /* ptx_operand_kind */
    uint8_t negate; /* !%p, and -%r of vmad */
    uint8_t pair;   /* p|q: the next operand is q */
    uint8_t single; /* PTX_OPERAND_FLOAT: imm is a float's bits in the low 32 */
    uint8_t base;   /* PTX_OPERAND_ADDRESS: REG, VAR, FUNC or INT (imm is absolute) */
    /* %r.b1, %r.h0 of video instructions: a ptx_modifier; PTX_SELECT_DIGITS: %r.h32,
     * %r.b7654, the digits in imm, a nibble each, the last lowest, their number in bits
     * 16 and up; else 0 */
    uint8_t select;
    uint8_t reserved[2];
    uint32_t index;
    uint32_t column;
    int64_t imm;
} ptx_operand;

/* A variable index with this bit names one of the function's own variables (parameters
 * included), without it one of the module's. */
#define PTX_VAR_LOCAL 0x80000000u

#define PTX_INSN_TYPES_MAX 4
#define PTX_INSN_MODS_MAX 12

typedef struct ptx_insn {
    uint16_t opcode;    /* ptx_opcode */
    uint8_t type_count; /* types as written: cvt.rn.f16.f32 has F16, F32 */
    uint8_t mod_count;
    uint8_t space;                     /* the first state space written, or GENERIC */
    uint8_t space2;                    /* the second: cp.async.ca.shared.global */
    uint8_t guarded;                   /* @%p or @!%p: `guard` below */
    uint8_t guard_negate;              /* @!%p */
    uint8_t types[PTX_INSN_TYPES_MAX]; /* ptx_type */
    uint8_t mods[PTX_INSN_MODS_MAX];   /* ptx_modifier, in the order written */
    uint32_t guard;                    /* register */
    uint32_t operand;                  /* the first in function->operands */
    uint32_t operand_count;            /* vector elements counted */
    /* call: operands are return_count return operands, the callee (FUNC or REG),
     * argument_count arguments; an indirect call has then a FUNC operand that names its
     * .callprototype, or the first function of its .calltargets. brx.idx: operands are
     * the index register, then every label of its .branchtargets. */
    uint16_t return_count, argument_count;
    uint32_t line, column;
    uint32_t text,
        text_bytes;       /* the instruction in module->text, without the semicolon */
    uint32_t source_line; /* of the last .loc, 0 if none */
    uint32_t source_file; /* index into module->files */
} ptx_insn;

typedef struct ptx_relocation {
    uint64_t offset; /* in init */
    uint32_t bytes;  /* 1, 2, 4 or 8 */
    uint8_t is_function;
    uint8_t is_generic; /* generic(name): the generic address, else the state space's */
    uint8_t shift; /* 0xff00(name): shift right by this many bits, then store `bytes` */
    uint8_t reserved;
    uint32_t index; /* of the module's variable or function */
    uint32_t reserved2;
    int64_t addend;
} ptx_relocation;

/* What a variable without a type of bits holds the handle of. */
typedef enum ptx_reference {
    PTX_REFERENCE_NONE,
    PTX_REFERENCE_TEXTURE,
    PTX_REFERENCE_SURFACE
} ptx_reference;

typedef struct ptx_variable {
    const char *name;
    uint8_t space;             /* ptx_space */
    uint8_t type;              /* of one element */
    uint8_t is_extern;         /* .extern; dynamic shared memory if SHARED with no size */
    uint8_t is_visible;        /* .visible, .weak or .common */
    uint32_t align;            /* bytes, a power of two */
    uint64_t bytes;            /* 0: extern [] */
    const unsigned char *init; /* `bytes` long, NULL: zero */
    /* Places in init that hold the address of a symbol, filled when the module is bound.
     */
    const ptx_relocation *relocations;
    uint32_t relocation_count;
    uint32_t line;
    uint8_t is_managed; /* .attribute(.managed): the host reads and writes it, too */
    uint8_t reference;  /* ptx_reference */
} ptx_variable;

typedef struct ptx_register {
    const char *name; /* "%r7" */
    uint32_t type;    /* ptx_type */
} ptx_register;

typedef struct ptx_label {
    const char *name;
    uint32_t insn; /* index of the instruction after it; insn_count at the end */
} ptx_label;

typedef struct ptx_function {
    const char *name;
    uint8_t is_entry;
    uint8_t is_extern;    /* declared, never defined in this module (vprintf ...) */
    uint8_t is_prototype; /* .callprototype: no body */
    uint8_t is_noreturn;
    /* Parameters are the first `parameter_count` of `variables`, then `return_count`
     * return parameters. A parameter of a device function may be a register: space is
     * PTX_SPACE_REG then, and parameter_registers[i] its register. */
    uint32_t parameter_count, return_count;
    const uint32_t *parameter_registers; /* parameter_count + return_count, or NULL */
    ptx_variable *variables;
    uint32_t variable_count;
    ptx_register *registers;
    uint32_t register_count;
    ptx_label *labels;
    uint32_t label_count;
    ptx_insn *insns;
    uint32_t insn_count;
    ptx_operand *operands;
    uint32_t operand_count;
    uint32_t line;
    /* Directives, 0 where absent. */
    uint32_t max_threads[3], required_threads[3], required_cluster[3];
    uint32_t min_blocks, max_registers, max_cluster;
    uint8_t explicit_cluster;
} ptx_function;

typedef struct ptx_module {
    const char *text; /* a private copy of the source, NUL-terminated */
    size_t text_bytes;
    uint32_t version_major, version_minor; /* .version */
    uint32_t target;                       /* .target sm_70 -> 70 */
    uint32_t target_is_arch_specific;      /* sm_90a, sm_100f */
    uint32_t address_bits;                 /* 64 */
    ptx_variable *variables;
    uint32_t variable_count;
    ptx_function *functions;
    uint32_t function_count;
    const char **files; /* of .file, by index, with NULL holes */
    uint32_t file_count;
    struct ptx_arena *arena;
} ptx_module;

/* Parses PTX text into a module.
 *
 *  text       borrowed for the call; `bytes` long; one NUL at the end is fine.
 *  allocator  copied; NULL means malloc.
 *  out        owned by the caller on success: ptx_module_destroy(). Untouched on failure.
 *
 *  Fails with CUDA_ERROR_INVALID_PTX and "line 12, column 5: ...", with
 *  CUDA_ERROR_UNSUPPORTED_PTX_VERSION for a version or target that is too new, with
 *  GPH_E_NO_MEMORY. No recursion on input depth. Unknown opcodes, modifiers and special
 *  registers parse: a kernel that holds them cannot be launched. Thread: any. */
GPH_CHECKED gph_status ptx_parse(const char *text, size_t bytes,
                                 const gph_allocator *allocator, ptx_module **out,
                                 gph_error *error);
void ptx_module_destroy(ptx_module *module); /* takes NULL */

/* A function of the run time that PTX declares and calls without a body. */
typedef struct ptx_signature {
    const char *name;
    ptx_type result; /* PTX_NONE: none */
    uint32_t count;
    ptx_type arguments[8]; /* PTX_NONE: bytes that lie in the argument's slot, so many: */
    uint8_t bytes[8];
    uint32_t nested; /* PTX_NESTED_: of dynamic parallelism; 0: another */
} ptx_signature;
const ptx_signature *ptx_intrinsic(const char *name); /* NULL: it is not one */
/* A function of CUDA's device library (libcudadevrt.a) that softcuda has as PTX. */
bool ptx_is_device_runtime(const char *name);
/* What to add to a sentence about a function that is not there; empty: nothing. */
const char *ptx_why_missing(const char *name);

bool ptx_has(const ptx_insn *insn, ptx_modifier modifier);
const char *ptx_opcode_name(ptx_opcode opcode);
const char *ptx_modifier_name(ptx_modifier modifier);
/* The instruction as written, cut to fit. */
void ptx_insn_text(const ptx_module *module, const ptx_insn *insn, char *buffer,
                   size_t bytes);

#endif
