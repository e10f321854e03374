// SPDX-License-Identifier: Apache-2.0
/* Groups of words that people use for the same thing. */
#include "explain/alike.h"

#include <string.h>

enum { WORD_SLOTS = 4096 }; /* four times the words */

/* A group each: words of English as they are written, and Chinese ones. A word may be
 * in several; more than GPHI_ALIKE_MAX are not kept. */
static const char *const groups[] = {
    "disable off turnoff deactivate disabling opt out suppress without 关闭 "
    "禁用 关掉 停用 关了",
    "enable on activate switch turned enabling 启用 开启 打开",
    "slow slower expensive overhead latency cost slowdown degrade regression "
    "poor sluggish costly spike 很慢 太慢 变慢 耗时 多久 开销 延迟 慢了 更慢",
    "fast faster speedup quick quicker improve improvement gain benefit worth "
    "speed performance throughput boost accelerate 更快 加速 提速 变快 提升 "
    "收益 性能",
    "long minutes takes forever seconds lengthy 很久 太久",
    "device gpu card 设备 显卡",
    "pageable unpinned",
    "pinned pagelocked page locked 锁页",
    "allocate alloc malloc allocation allocator reserve request 分配 申请",
    "child nested nest subgraph embed inner 子图 嵌套",
    "collective allreduce allgather all reduce scatter broadcast communication "
    "nccl rccl comm communicator alltoall 集合 通信",
    "constant unchanged identical same repeated repeat static baked fixed "
    "frozen freeze hardcoded 不变 相同 一样 重复 固定 固化",
    "share reuse common shared 共享 共用 复用",
    "change modify edit replace swap alter mutate changed differ vary adjust "
    "exchange 修改 更改 改变 替换 变化 更换 交换 改了",
    "different distinct various vary varying variable mismatch inconsistent "
    "不同 不一",
    "crash segfault abort segv core sigsegv segmentation segfaults dies kill "
    "killed crashed crashes coredump 崩溃 段错 闪退",
    "parameter param arg argument args kwargs 参数",
    "kernel kernels 内核 核函 算子",
    "memory vram mem 内存 显存",
    "random rng seed noise dropout philox sampling sample stochastic 随机 种子 "
    "噪声 采样",
    "draw visualize plot visualise picture dump export inspect print dot "
    "graphviz show 画出 可视 绘制 导出 图片 查看 打印",
    "warmup warm warming 预热",
    "fragmentation fragment fragmented 碎片",
    "synchronize sync synchronise synchronization barrier wait waits 同步 等待",
    "overwrite overwritten clobber clobbered 覆盖 改写",
    "grow increase rise grew raise growing leak leaks leaking leaked accumulate "
    "unbounded 增长 上涨 上升 泄漏 泄露 一直涨",
    "delete destroy destruct collect remove destructor del destroyed teardown "
    "dispose gc garbage collector 销毁 删除 回收 析构",
    "callback hostfunc 回调",
    "refuse reject forbid forbidden prohibit disallow deny prohibited illegal "
    "unsafe permitted allowed permit allow legal 拒绝 禁止 允许 不被",
    "thread worker threads multithreaded concurrent multithread threading "
    "threaded 线程",
    "stale outdated old previous former last earlier 陈旧 旧的 上次 上一",
    "dynamic variable varying arbitrary flexible 动态 变长 可变",
    "parallel concurrent simultaneous overlap concurrently simultaneously "
    "parallelism 并行 并发 同时",
    "several multiple many two various 多个 两个 多条",
    "iterate step pass epoch iteration loop cycle 每步 迭代 循环 每次",
    "duplicate copy clone memcpy copies copying transfer h2d d2h to 拷贝 复制",
    "keep alive lifetime outlive retain persist live 生命 周期 存活",
    "background prefetcher prefetch asynchronous async 后台 异步",
    "large big huge bigger larger massive giant excessive high 很大 太大 巨大",
    "small tiny little short smaller 很小 太小",
    "begin start initiate launch began started 开始",
    "end finish complete stop terminate 结束",
    "oom outofmemory exhausted insufficient 爆显 溢出 不足 爆了",
    "join rejoin merge merged joined unjoined 汇合 合并",
    "instantiate instantiation exec executable 实例 可执",
    "launch run execute enqueue start invoke 启动 执行 运行",
    "replay rerun relaunch replays replaying replayed 重放 回放",
    "record capture captured capturing recording trace 捕获 录制",
    "rerecord recapture re record capture recaptured rerecording recording "
    "recompile recompilation 重录 重新",
    "update updated updating upgrade 更新",
    "hang deadlock stuck freeze stall block halt hung hangs livelock "
    "unresponsive never returns 卡住 卡死 死锁 挂起 不动 阻塞",
    "wrong garbage incorrect corrupt garbled gibberish mismatch bad corruption "
    "corrupted invalid inaccurate nonsense broken diverge divergence accuracy "
    "numerical 不对 乱码 错误 错乱 损坏 精度 异常",
    "nan inf",
    "forget forgot missing lacks 忘记 忘了 缺少 遗漏",
    "host cpu 主机",
    "free release dealloc deallocate freed reclaim 释放",
    "pointer address addr ptr pointers buffer 指针 地址",
    "buffer tensor array storage variable 张量 缓冲",
    "shape size dimension length seqlen sizes lengths 形状 大小 长度 尺寸",
    "batch batchsize bs batches size 批次 批大",
    "stream streams queue 流上",
    "event events 事件",
    "node nodes 节点",
    "edge edges dependency dependencies depend dependent order ordering 依赖",
    "branch conditional condition if while switch control flow loop dynamic "
    "条件 分支 循环",
    "profile profiler nsys nsight ncu cupti profiling timeline kineto perfetto "
    "分析 性能",
    "debug diagnose troubleshoot investigate find trace locate why cause reason "
    "调试 排查 定位 原因",
    "option flag setting config configure configuration environment variable "
    "env parameter 选项 配置 设置 环境 参数",
    "default null legacy zero 默认 空流",
    "library libraries cublas cudnn cufft cusparse cusolver thrust cub 库函",
    "compile jit compilation inductor dynamo compiled 编译",
    "optimizer adam sgd adamw optim 优化",
    "gradient grad backward autograd 梯度 反向",
    "train training finetune 训练",
    "inference serving serve server deploy 推理 部署 服务",
    "weight weights parameter lora checkpoint 权重",
    "cache cached caching kvcache 缓存",
    "input inputs data 输入",
    "output outputs result results 输出 结果",
    "multi gpu multigpu gpus devices tp ranks rank distributed tensor parallel "
    "multinode node nodes world 多卡 分布 多机",
    "example tutorial sample demo snippet guide usage introduction basics 示例 "
    "例子 教程 入门 用法",
    "support supported compatible work supports compatibility unsupported "
    "incompatible 支持 兼容",
    "pad padding padded bucket buckets 填充 补齐 分桶",
    "skip skipped ignore skipping fallback bypass eager 跳过 忽略 回退",
    "assert assertion 断言",
    "timeout timed watchdog 超时 看门",
    "empty nothing zero none 空的 为空",
    "init initialize initialization initialise lazy first setup create 初始 "
    "首次 第一",
    "startup boot start launch load loading 启动 加载",
    "silent silently quietly unnoticed hidden 静默 悄悄",
    "limit maximum max limits exceed upper too many 上限 最大 限制",
    "save serialize serialise store disk file persist load dump 保存 序列",
    "process processes ipc fork subprocess 进程",
    "move moved relocate reallocate realloc resize repoint 移动",
    "count counter number 数量 计数",
    "scalar value number int float literal constant 标量 数值",
    "time timing measure benchmark duration elapsed 时间 测量 计时",
    "gap idle bubble utilization utilisation 空隙 空闲 利用",
    "fuse fusion merge fused 融合",
    "garbage collector gc 垃圾",
    "exception traceback raise error throw 异常 报错",
    "doc documentation meaning mean explain difference 文档 意思 区别 含义",
    "intermittent random sometimes occasionally sporadic flaky nondeterministic "
    "rarely 偶尔 偶发 随机 有时",
    "learning lr rate scheduler 学习 学习率",
    "amp autocast mixed precision fp16 bf16 gradscaler scaler 混合 精度",
    "workspace scratch temporary 工作 临时",
};

typedef struct alike_word {
    uint64_t hash; /* 0: free */
    uint8_t groups[GPHI_ALIKE_MAX];
    uint8_t count;
} alike_word;

static alike_word words[WORD_SLOTS];

static alike_word *slot_of(uint64_t hash)
{
    size_t at = (size_t)(hash >> 8) % WORD_SLOTS;
    while (words[at].hash != 0 && words[at].hash != hash)
        at = (at + 1) % WORD_SLOTS;
    return &words[at];
}

static void add(uint64_t hash, uint8_t group)
{
    alike_word *word = slot_of(hash);
    word->hash = hash;
    const bool is_known = word->count > 0 && word->groups[word->count - 1] == group;
    if (!is_known && word->count < GPHI_ALIKE_MAX)
        word->groups[word->count++] = group;
}

/* A Chinese word is the pairs of its characters, as in a text. */
static void add_word(const char *word, size_t bytes, uint8_t group,
                     uint64_t (*stem_hash)(const char *word, size_t bytes))
{
    if ((uint8_t)word[0] < 0x80) {
        add(stem_hash(word, bytes), group);
        return;
    }
    for (size_t at = 0; at + 6 <= bytes; at += 3)
        add(stem_hash(word + at, 6), group);
}

void gphi_alike_make(uint64_t (*stem_hash)(const char *word, size_t bytes))
{
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        for (const char *at = groups[i]; *at != '\0';) {
            const size_t bytes = strcspn(at, " ");
            add_word(at, bytes, (uint8_t)i, stem_hash);
            at += at[bytes] == ' ' ? bytes + 1 : bytes;
        }
}

size_t gphi_alike(uint64_t hash, uint8_t out[GPHI_ALIKE_MAX])
{
    const alike_word *word = slot_of(hash);
    memcpy(out, word->groups, sizeof(word->groups));
    return word->count;
}
