// SPDX-License-Identifier: Apache-2.0
/* Words, parts of names and pairs of Chinese characters. */
#include "explain/terms.h"
#include "base/hash.h"
#include "explain/scan.h"

#include <string.h>

enum { TERM_BYTES = 40, WORD_MIN = 2 };

/* Sorted by nothing: looked through once a word. */
static bool is_stop(const char *word, size_t bytes)
{
    static const char *const stops[] = {
        "is",     "it",    "in",       "on",      "of",        "to",         "my",
        "an",     "at",    "by",       "be",      "do",        "or",         "if",
        "no",     "so",    "we",       "as",      "am",        "me",         "up",
        "us",     "the",   "and",      "for",     "with",      "that",       "this",
        "does",   "not",   "why",      "what",    "when",      "how",        "are",
        "was",    "but",   "has",      "have",    "can",       "you",        "its",
        "from",   "into",  "after",    "before",  "while",     "get",        "got",
        "gets",   "error", "fails",    "fail",    "failed",    "cuda",       "graph",
        "graphs", "all",   "our",      "please",  "help",      "during",     "there",
        "using",  "use",   "then",     "always",  "program",   "code",       "mean",
        "means",  "gph",   "explain",  "any",     "out",       "cannot",     "could",
        "will",   "would", "should",   "only",    "same",      "one",        "two",
        "inside", "cu",    "want",     "need",    "which",     "where",      "they",
        "them",   "been",  "were",     "did",     "used",      "through",    "like",
        "just",   "turn",  "together", "between", "much",      "mani",       "many",
        "work",   "who",   "her",      "his",     "cudagraph", "cudagraphs", "问题",
        "什么",   "为什",  "怎么",     "错误",    "请问",      "么办",       "我的",
        "这个",   "出现",  "怎样",     "如何",    "什么",      "么样",       "可以",
        "能不",   "不能",  "用了",     "以后",    "之后",      "时候",       "么用",
        "的图",   "因为",  "应该",     "哪些",    "会引",      "起作",       "么会",
        "在图",   "图里",
    };
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        if (stops[i][0] == word[0] && strlen(stops[i]) == bytes &&
            memcmp(stops[i], word, bytes) == 0)
            return true;
    return false;
}

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
static const char *const same_words[][8] = {
    {"hang", "deadlock", "stuck", "freez", "卡住", "卡死", "死锁", "挂起"},
    {"disabl", "off", "turnoff", "关闭", "禁用", "关掉", "停用"},
    {"wrong", "garbag", "incorrect", "corrupt", "不对"},
    {"slow", "expens", "long", "很慢", "太慢", "变慢", "耗时", "多久"},
    {"fast", "faster", "speedup", "quick", "更快", "加速", "提速", "变快"},
    {"host", "cpu", "主机"},
    {"device", "gpu", "设备"},
    {"pageabl", "unpinn", "unpin", "pageable"},
    {"allocat", "alloc", "malloc", "分配"},
    {"child", "nest", "subgraph", "子图"},
    {"collectiv", "allreduc", "allgather", "集合"},
    {"constant", "unchang", "identical", "不变", "相同", "一样"},
    {"shar", "reus", "共享", "共用", "复用"},
    {"chang", "modifi", "edit", "修改", "更改", "改变"},
    {"differ", "different", "distinct", "variou", "不同"},
    {"crash", "segfault", "abort", "崩溃"},
    {"parameter", "param", "arg", "argument", "参数"},
    {"kernel", "内核", "核函"},
    {"memori", "vram", "内存", "显存"},
    {"random", "rng", "seed", "随机", "种子"},
    {"draw", "visualiz", "plott", "画出", "可视", "绘制"},
    {"warmup", "预热"},
    {"fragmentat", "fragment", "碎片"},
};

/* The word that stands for this one: itself, where it has no other. */
static const char *canonical(const char *word, size_t *bytes)
{
    for (size_t i = 0; i < sizeof(same_words) / sizeof(same_words[0]); i++)
        for (size_t at = 1; at < 8 && same_words[i][at]; at++)
            if (same_words[i][at][0] == word[0] && strlen(same_words[i][at]) == *bytes &&
                memcmp(same_words[i][at], word, *bytes) == 0) {
                *bytes = strlen(same_words[i][0]);
                return same_words[i][0];
            }
    return word;
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
    const char *text = canonical(word, &bytes);
    *out = (gphi_term){.hash = gphi_hash_bytes(GPHI_HASH_START, text, bytes) | 1,
                       .at = begin,
                       .bytes = end - begin,
                       .kind = kind,
                       .is_stop = is_stopped};
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

/* Characters that stand between words, and 图, which is what all of it is about. */
static bool is_little(const char *text)
{
    static const char little[] =
        "的了吗呢吧啊和与或及在是有没能可会要想把被让给从到向对用起一二两三个这那哪什么怎"
        "样为何时候后前里面中内外上下不也都还就再又很太只请问我你他它们图做得着过去来多少"
        "几"
        "点好最"
        "更先所以而且但因此其该每各之于按";
    for (size_t at = 0; at + 3 < sizeof(little); at += 3)
        if (memcmp(little + at, text, 3) == 0)
            return true;
    return false;
}

/* A pair that begins at `at`, or false: no Chinese character follows. */
static bool read_pair(gphi_term_reader *reader, gphi_term *out)
{
    const size_t at = reader->at;
    reader->at += 3;
    if (!is_chinese_at(reader, reader->at))
        return false;
    size_t bytes = 6;
    const char *text = canonical(reader->text + at, &bytes);
    *out = (gphi_term){
        .hash = gphi_hash_bytes(GPHI_HASH_START, text, bytes) | 1,
        .at = at,
        .bytes = 6,
        .kind = GPHI_TERM_CHINESE,
        .is_stop = is_stop(reader->text + at, 6) ||
                   (is_little(reader->text + at) && is_little(reader->text + at + 3)),
        .is_border = is_little(reader->text + at)};
    return true;
}

bool gphi_term_next(gphi_term_reader *reader, gphi_term *out)
{
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
