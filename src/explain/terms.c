// SPDX-License-Identifier: Apache-2.0
/* Words, parts of names and pairs of Chinese characters. */
#include "explain/terms.h"
#include "base/hash.h"
#include "explain/scan.h"

#include <pthread.h>
#include <string.h>

enum {
    TERM_BYTES = 40,
    WORD_MIN = 2,
    SAME_MAX = 20,
    WORD_SLOTS = 1024,
    FAMILY_BYTES = 5
};

/* Words that say nothing, as they are written. */
static const char *const stops[] = {
    "is",      "it",     "in",       "on",      "of",        "to",         "my",
    "an",      "at",     "by",       "be",      "do",        "or",         "if",
    "no",      "so",     "we",       "as",      "am",        "me",         "up",
    "us",      "the",    "and",      "for",     "with",      "that",       "this",
    "does",    "not",    "why",      "what",    "when",      "how",        "are",
    "was",     "but",    "has",      "have",    "can",       "you",        "its",
    "from",    "into",   "after",    "before",  "while",     "get",        "got",
    "gets",    "error",  "fails",    "fail",    "failed",    "cuda",       "graph",
    "graphs",  "all",    "our",      "please",  "help",      "during",     "there",
    "using",   "use",    "then",     "always",  "program",   "code",       "mean",
    "means",   "gph",    "explain",  "any",     "out",       "cannot",     "could",
    "will",    "would",  "should",   "only",    "same",      "one",        "two",
    "inside",  "cu",     "want",     "need",    "which",     "where",      "they",
    "them",    "been",   "were",     "did",     "used",      "through",    "like",
    "just",    "turn",   "together", "between", "much",      "mani",       "many",
    "work",    "who",    "her",      "his",     "cudagraph", "cudagraphs", "问题",
    "什么",    "为什",   "怎么",     "错误",    "请问",      "么办",       "我的",
    "这个",    "出现",   "怎样",     "如何",    "么样",      "可以",       "能不",
    "不能",    "用了",   "以后",     "之后",    "时候",      "么用",       "的图",
    "因为",    "应该",   "哪些",     "会引",    "起作",      "么会",       "在图",
    "图里",    "region", "section",  "side",    "take",      "takes",      "return",
    "returns", "given",  "whenever", "matter",  "stop",      "gives",      "make",
    "try",     "tried",  "happens",  "known",   "know",      "doing",      "let",
    "say",     "says",   "see",      "现在",    "为啥",      "咋办",       "咋回",
    "一次",    "是什",   "么回",     "回事",    "么做",      "么解",       "解决",
    "有什",    "报了",   "一个",     "我用",    "我在",      "说是",       "就是",
};

static bool is_vowel(char c)
{
    return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

static bool ends_as(const char *word, size_t bytes, const char *end)
{
    const size_t length = strlen(end);
    return bytes >= length + 4 && memcmp(word + bytes - length, end, length) == 0;
}

/* Cuts endings, so that "captured" and "capturing" are "capture", "copies" is "copy",
 * "instantiation" is "instantiate" and "dropped" is "drop". */
static size_t stem(char *word, size_t bytes)
{
    static const char *const ends[] = {"ing", "ed", "ion", "e"};
    if (ends_as(word, bytes, "ies"))
        bytes -= 2;
    else if (ends_as(word, bytes, "s") && word[bytes - 2] != 's')
        bytes--;
    if (ends_as(word, bytes, "ly"))
        bytes -= 2;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (!ends_as(word, bytes, ends[i]))
            continue;
        bytes -= strlen(ends[i]);
        const char last = word[bytes - 1];
        if (i < 2 && last == word[bytes - 2] && !is_vowel(last) && last != 'l' &&
            last != 's')
            bytes--;
        break;
    }
    if (bytes >= 4 && word[bytes - 1] == 'y')
        word[bytes - 1] = 'i';
    return bytes;
}

/* Words for the same thing, as stems; the first of a line stands for all of it. Entries
 * and questions are read alike, so which one it is does not matter. */
static const char *const same_words[][SAME_MAX] = {
    {"disabl", "off", "turnoff", "关闭", "禁用", "关掉", "停用"},
    {"slow", "slower", "expensiv", "long", "overhead", "latenci", "cost", "take", "很慢",
     "太慢", "变慢", "耗时", "多久", "开销", "延迟"},
    {"fast", "faster", "speedup", "quick", "quicker", "improv", "improvement", "gain",
     "benefit", "pay", "worth", "更快", "加速", "提速", "变快", "提升", "收益"},
    {"devic", "gpu", "设备"},
    {"pageabl", "unpin"},
    {"allocat", "alloc", "malloc", "reserv", "分配", "申请"},
    {"child", "nest", "subgraph", "embed", "子图", "嵌套"},
    {"collectiv", "allreduc", "allgather", "集合"},
    {"constant", "unchang", "identical", "repeat", "不变", "相同", "一样", "重复"},
    {"shar", "reus", "共享", "共用", "复用"},
    {"chang", "modifi", "edit", "replac", "swap", "修改", "更改", "改变", "替换"},
    {"differ", "different", "distinct", "variou", "vari", "不同"},
    {"crash", "segfault", "sigsegv", "seg", "segmentat", "abort", "segv", "core", "崩溃",
     "段错"},
    {"parameter", "param", "arg", "argument", "参数"},
    {"kernel", "内核", "核函"},
    {"memori", "vram", "内存", "显存"},
    {"random", "rng", "seed", "nois", "随机", "种子", "噪声"},
    {"draw", "visualiz", "plot", "visualis", "pictur", "dump", "export", "画出", "可视",
     "绘制", "导出", "图片"},
    {"warmup", "预热"},
    {"fragmentat", "fragment", "碎片"},
    {"synchroniz", "sync", "synchronis", "同步"},
    {"overwrit", "overwritten", "clobber", "覆盖"},
    {"grow", "increas", "rise", "grew", "rais", "up", "climb", "creep", "balloon", "增长",
     "上涨", "上升"},
    {"delet", "destroi", "destruct", "collect", "remov", "销毁", "删除", "回收"},
    {"callback", "回调"},
    {"refus", "reject", "forbid", "forbidden", "prohibit", "disallow", "deni", "拒绝",
     "禁止"},
    {"thread", "worker", "线程"},
    {"stal", "outdat", "old", "previou", "陈旧", "旧的"},
    {"dynamic", "variabl", "动态", "变长"},
    {"parallel", "concurrent", "simultaneou", "simultaneous", "overlap", "并行", "并发",
     "同时"},
    {"several", "multipl", "多个"},
    {"iterat", "step", "pass", "epoch", "每步", "迭代"},
    {"duplicat", "copi", "拷贝", "复制"},
    {"keep", "aliv", "lifetim", "outliv", "retain", "生命", "周期"},
    {"background", "prefetcher", "prefetch", "后台"},
    {"bigger", "larg", "big", "huge"},
    {"begin", "start", "开始"},
    {"end", "finish", "complet", "stop", "结束"},
    {"oom", "outofmemori", "爆显", "溢出"},
    {"join", "汇合"},
    {"instantiat", "实例"},
    {"launch", "启动", "发起", "发射"},
    {"replai", "rerun", "重放", "回放"},
    {"updat", "更新"},
    {"hang", "deadlock", "stuck", "freez", "stall", "hung", "halt", "卡住", "卡死",
     "死锁", "挂起", "不动", "停不"},
    {"executabl", "exec", "可执"},
    {"node", "节点"},
    {"loop", "循环"},
    {"branch", "分支"},
    {"event", "事件"},
    {"captur", "捕获"},
    {"input", "输入"},
    {"output", "输出"},
    {"shape", "形状"},
    {"wrong", "garbag", "garbl", "gibberish", "incorrect", "corrupt", "corruption",
     "nonsens", "不对", "乱码", "错乱"},
    {"forget", "forgot", "忘记", "忘了"},
    {"host", "cpu", "主机"},
    {"free", "releas", "dealloc"},
};

/* Both lists by the hash of their words, made once: every word of every entry is looked up. */
typedef struct known_word {
    uint64_t hash;  /* 0: free */
    uint64_t means; /* the hash of the word that stands for it; 0: it says nothing */
} known_word;

static known_word known_stops[WORD_SLOTS], known_same[WORD_SLOTS];
static pthread_once_t words_once = PTHREAD_ONCE_INIT;

static uint64_t hash_of(const char *word, size_t bytes)
{
    return gphi_hash_bytes(GPHI_HASH_START, word, bytes) | 1;
}

static known_word *word_slot(known_word *list, uint64_t hash)
{
    size_t at = (size_t)(hash >> 8) % WORD_SLOTS;
    while (list[at].hash != 0 && list[at].hash != hash)
        at = (at + 1) % WORD_SLOTS;
    return &list[at];
}

static void add_known(known_word *list, const char *word, uint64_t means)
{
    const uint64_t hash = hash_of(word, strlen(word));
    *word_slot(list, hash) = (known_word){.hash = hash, .means = means};
}

/* Characters that are between words, and 图, which is what all of it is about. */
static const char little[] = "的了吗呢吧啊和与或及在是有没能可会要想把被让给从到向"
                             "对用起一二两三个这那哪什么怎样为何时候后前里面中内外"
                             "上下不也都还就再又很太只请问我你他它们图做得着过去来"
                             "多少几点好最更先所以而且但因此其该每各之于按";
static uint8_t little_bits[1 << 13]; /* a bit a character */

/* The number of a character of three bytes. */
static uint32_t number_of(const char *text)
{
    const uint8_t *c = (const uint8_t *)text;
    return (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
}

static bool is_little(const char *text)
{
    const uint32_t number = number_of(text);
    return (little_bits[number / 8] & 1u << number % 8) != 0;
}

/* As words of a text are hashed. */
static uint64_t stem_hash(const char *text, size_t bytes)
{
    char word[TERM_BYTES];
    bytes = bytes < TERM_BYTES ? bytes : TERM_BYTES;
    memcpy(word, text, bytes);
    return hash_of(word, (uint8_t)word[0] < 0x80 ? stem(word, bytes) : bytes);
}

static void make_words(void)
{
    gphi_alike_make(stem_hash);
    for (size_t at = 0; at + 3 < sizeof(little); at += 3)
        little_bits[number_of(little + at) / 8] |=
            (uint8_t)(1u << number_of(little + at) % 8);
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        add_known(known_stops, stops[i], 0);
    for (size_t i = 0; i < sizeof(same_words) / sizeof(same_words[0]); i++)
        for (size_t at = 1; at < SAME_MAX && same_words[i][at]; at++)
            add_known(known_same, same_words[i][at],
                      hash_of(same_words[i][0], strlen(same_words[i][0])));
}

static bool is_stop(const char *word, size_t bytes)
{
    return word_slot(known_stops, hash_of(word, bytes))->hash != 0;
}

/* What a word is like, by the hash of its stem: its groups, and its first letters where it
 * is long enough for a family ("instantiate", "instance"). */
static void set_like(const char *word, size_t bytes, gphi_term *out)
{
    uint8_t groups[GPHI_ALIKE_MAX];
    const size_t count = gphi_alike(hash_of(word, bytes), groups);
    for (size_t i = 0; i < count; i++)
        out->like[i] = gphi_hash_word(GPHI_HASH_START ^ 0x67726f7570, groups[i]) | 1;
    out->like_count = count;
    if (bytes > FAMILY_BYTES && (uint8_t)word[0] < 0x80)
        out->like[out->like_count++] =
            gphi_hash_bytes(GPHI_HASH_START ^ 0x66616d696c79, word, FAMILY_BYTES) | 1;
}

/* The hash of the word that stands for this one: its own, where it has no other. */
static uint64_t canonical(const char *word, size_t bytes)
{
    const uint64_t hash = hash_of(word, bytes);
    const known_word *same = word_slot(known_same, hash);
    return same->hash != 0 ? same->means : hash;
}

/* The bytes without case and underscores, and without their ending. */
static void set_word(const gphi_term_reader *reader, size_t begin, size_t end,
                     gphi_term_kind kind, gphi_term *out)
{
    char word[TERM_BYTES];
    size_t bytes = 0;
    bool is_number = true;
    for (size_t i = begin; i < end && bytes < TERM_BYTES; i++) {
        if (reader->text[i] != '_')
            word[bytes++] = gphi_lower(reader->text[i]);
        is_number &= gphi_is_digit(reader->text[i]);
    }
    /* A number would be a code, if anything. */
    const bool is_stopped =
        bytes < WORD_MIN || bytes == TERM_BYTES || is_number || is_stop(word, bytes);
    bytes = is_stopped ? bytes : stem(word, bytes);
    *out = (gphi_term){.hash = canonical(word, bytes),
                       .at = begin,
                       .bytes = end - begin,
                       .kind = kind,
                       .is_stop = is_stopped};
    if (!is_stopped)
        set_like(word, bytes, out);
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Where the part of a name that begins at `at` ends: before an underscore, before a
 * capital letter after a small one, before the last capital of several ("CUDAGraph"). */
static size_t part_end(const char *text, size_t at, size_t end)
{
    size_t to = at + 1;
    while (to < end && text[to] != '_' &&
           !(is_upper(text[to]) && !is_upper(text[to - 1])) &&
           !(is_upper(text[to]) && is_upper(text[to - 1]) && to + 1 < end &&
             gphi_lower(text[to + 1]) == text[to + 1] && text[to + 1] >= 'a'))
        to++;
    return to;
}

/* The three bytes of a common Chinese character. */
static bool is_chinese_at(const gphi_term_reader *reader, size_t at)
{
    if (at + 3 > reader->bytes)
        return false;
    const uint8_t *c = (const uint8_t *)reader->text + at;
    return c[0] >= 0xe4 && c[0] <= 0xe9 && (c[1] & 0xc0) == 0x80 && (c[2] & 0xc0) == 0x80;
}

/* A pair that begins at `at`, or false: no Chinese character follows. */
static bool read_pair(gphi_term_reader *reader, gphi_term *out)
{
    const size_t at = reader->at;
    reader->at += 3;
    if (!is_chinese_at(reader, reader->at))
        return false;
    *out = (gphi_term){
        .hash = canonical(reader->text + at, 6),
        .at = at,
        .bytes = 6,
        .kind = GPHI_TERM_CHINESE,
        .is_stop = is_stop(reader->text + at, 6) ||
                   (is_little(reader->text + at) && is_little(reader->text + at + 3)),
        .is_border = is_little(reader->text + at)};
    set_like(reader->text + at, 6, out);
    return true;
}

bool gphi_term_next(gphi_term_reader *reader, gphi_term *out)
{
    pthread_once(&words_once, make_words);
    while (reader->at < reader->bytes) {
        const size_t at = reader->at;
        if (reader->part_end <= at && is_chinese_at(reader, at)) {
            if (read_pair(reader, out))
                return true;
            continue;
        }
        if (!gphi_is_word(reader->text[at]) || reader->text[at] == '_') {
            reader->at++;
            continue;
        }
        if (reader->part_end > at) {
            reader->at = part_end(reader->text, at, reader->part_end);
            set_word(reader, at, reader->at, GPHI_TERM_PART, out);
            return true;
        }
        size_t end = at;
        while (end < reader->bytes && gphi_is_word(reader->text[end]))
            end++;
        const bool is_whole = part_end(reader->text, at, end) < end;
        reader->part_end = is_whole ? end : 0;
        reader->at = is_whole ? at : end;
        set_word(reader, at, end, is_whole ? GPHI_TERM_WHOLE : GPHI_TERM_WORD, out);
        return true;
    }
    return false;
}
