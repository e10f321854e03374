// SPDX-License-Identifier: Apache-2.0
/* The command `gph`: the table of commands, and how each is called.
 *
 *     main.c      the table, and main()
 *     cmd_*.c     one command each; doctor, explain, inspect and plan have more files
 *     option.c    parser, help and man page of a table
 *     launch.c    starting other programs, and their environment
 *     output.c    messages, rows, streams
 *
 * Files call those below them. Exit status: 0, 1 after a failure, 2 for wrong use; diff,
 * explain, run and doctor have their own, which their help texts describe. */
#define _GNU_SOURCE
#include "commands.h"
#include "option.h"
#include "output.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#define DRIVER_OPTION                                                                    \
    {                                                                                    \
        "driver", "auto|cuda|soft",                                                      \
            "which driver: NVIDIA's, softcuda, or whichever there is",                   \
            "GPH_DRIVER, else auto"                                                      \
    }

/* The order is that of gph help; options are indexed by the enums of commands.h. */
static const command commands[] = {
    {.name = "run",
     .operands = "[--] PROGRAM [ARGUMENT...]",
     .summary = "run a CUDA program on the chosen driver",
     .text =
         "Runs PROGRAM so that its libcuda.so.1 is the chosen driver. The program may "
         "use libgph or the driver API itself; it is not changed. The exit status is "
         "PROGRAM's own, 128 + n after signal n, 127 if it is not found. If softcuda "
         "refused every call, that is reported at the end. Programs that use the CUDA "
         "runtime run, too, even when nvcc linked it statically: softcuda replaces it "
         "with its own. For stripped programs, static_runtime.py, which is installed "
         "with softcuda, must have read the toolkit's libcudart_static.a once.",
     .options =
         {DRIVER_OPTION,
          {"summary", NULL,
           "end with a table of launches, graphs, host time and memory, on standard "
           "error (softcuda only)",
           NULL}},
     .stops_early = true,
     .run = cmd_run},
    {.name = "env",
     .operands = "",
     .summary = "show driver, devices, versions and settings",
     .text = "Shows the driver in use and why, its devices, and every setting with its "
             "value or default.",
     .options = {DRIVER_OPTION},
     .run = cmd_env},
    {.name = "inspect",
     .operands = "FILE",
     .summary = "describe a graph file, a recipe, or what softcuda makes of PTX",
     .text =
         "Describes the graph in FILE (- is standard input), in JSON as gph_json_save() "
         "writes it: nodes by "
         "kind, kernels, regions of recordings, edges, the longest path. For a recipe, "
         "as "
         "gph_recipe_save() writes it: graphs, kernels, memory ranges, and what was "
         "refused and why. With --ptx, FILE is PTX, and the report says, per kernel, "
         "which path it took, where it is "
         "cut and why, which lines are slow, its vector width and the registers that "
         "live across cuts.",
     .options = {{"dot", "OUT", "also draw the graph into OUT, for Graphviz", NULL},
                 {"ptx", NULL, "FILE is PTX", NULL},
                 {"ir", NULL, "with --ptx: show the LLVM IR", NULL},
                 {"asm", NULL, "with --ptx: show the machine code", NULL},
                 {"slow", NULL, "with --ptx: force the slow path", NULL},
                 {"quick", NULL, "with --ptx: only path and cuts, without machine code",
                  NULL},
                 {"json", NULL, "with --ptx: report in JSON", NULL}},
     .run = cmd_inspect},
    {.name = "diff",
     .operands = "A B",
     .summary = "show what differs between two graph files",
     .text =
         "Compares the graphs in A and B (- is standard input), in JSON as "
         "gph_json_save() writes it: first "
         "nodes, field by field with both values, then edges. Nodes are paired as an "
         "update of an executable graph would pair them, or, where the topology "
         "differs, by kind and function. Lines begin with ~ (changed), - (only in A) or "
         "+ (only in B). The exit status is 0 if nothing differs, 1 if something does, "
         "2 after a failure.",
     .options = {{"handles", NULL,
                  "also compare handles and contexts, which differ by process", NULL},
                 {"quiet", NULL, "show nothing, only set the exit status", NULL}},
     .run = cmd_diff},
    {.name = "bench",
     .operands = "launch",
     .summary = "measure what launches cost the host",
     .text =
         "Measures host time: a chain of empty kernels launched one by one, the same "
         "chain as a graph by cuGraphLaunch, and by gph_exec_launch. Shows medians of "
         "alternating runs, so that disturbances affect all of them alike.",
     .options = {DRIVER_OPTION,
                 {"nodes", "N", "kernels in the chain", "20"},
                 {"launches", "N", "launches of each kind", "10000"}},
     .run = cmd_bench},
    {.name = "plan",
     .operands = "FILE",
     .summary = "lay out buffers of known lifetimes, or choose buckets for sizes",
     .text =
         "Reads a table of buffers, in CSV with the columns id, lower, upper, size and, "
         "optionally, alignment, offset (which pins a buffer) and bodies, and finds "
         "addresses such that no two buffers overlap that live at the same time, in "
         "as few bytes as it can. bodies is the path to the branch or loop that a buffer "
         "belongs to, from the outside, with steps joined by /: CHOICE:CASE (a name and "
         "a number) or LOOP@LOWER-UPPER (a name and the times of its rounds). Cases of "
         "one choice share memory; a buffer that lives when a loop's rounds begin, and "
         "ends during them, is kept until they end. A buffer lives from lower up to, but "
         "not at, upper. "
         "With --ladder, FILE is a histogram with the columns size, count and, "
         "optionally, cost (of a replay), eager (of a call without a graph), bytes and "
         "seconds (of a bucket), and the output is the sizes for which graphs should be "
         "recorded. FILE - is standard input.",
     .options =
         {{"capacity", "BYTES",
           "stop as soon as a plan fits, fail if none does; with --ladder: for all "
           "buckets",
           "the lowest plan found"},
          {"time-limit", "SECONDS", "how long to search", "60"},
          {"out", "OUT",
           "write the table with the offsets to OUT; - is standard "
           "output, without the summary",
           NULL},
          {"ladder", NULL, "FILE is a histogram of sizes: choose buckets", NULL},
          {"buckets", "N", "with --ladder: at most this many",
           "one for every size, if that costs least"},
          {"multiple", "N", "with --ladder: buckets are multiples of it", "1"}},
     .run = cmd_plan},
    {.name = "doctor",
     .operands = "[--] PROGRAM [ARGUMENT...]",
     .summary = "say what is wrong with a program's use of CUDA graphs",
     .text =
         "Runs PROGRAM, unchanged, and says what is wrong with its use of CUDA graphs: "
         "the first cause, evidence, what helps and what does not. Findings go to "
         "standard error: errors, warnings, infos, then a line with their count. Exit "
         "status: PROGRAM's own if that is not 0, 128 + n after signal n; else 1 if "
         "there are errors or warnings, 125 if PROGRAM could not be observed, else 0. "
         "Processes that PROGRAM starts are examined too.",
     .options =
         {DRIVER_OPTION,
          {"tier", "0|1", "0: what the driver itself logs; 1: every driver call", "1"},
          {"nodes", NULL,
           "name the line that made each node, also inside libraries (CUPTI)", NULL},
          {"kernels", NULL, "measure the GPU's time of kernels, copies and fills (CUPTI)",
           NULL},
          {"advise", NULL,
           "say whether graphs would pay, and how much, from what was measured", NULL},
          {"capturable", NULL,
           "list what would break a capture, escape it or be frozen, by source line",
           NULL},
          {"json", "FILE", "write the findings as JSON into FILE, - is standard output",
           NULL},
          {"save-events", "FILE", "save what was seen to FILE, for --events", NULL},
          {"events", "FILE",
           "examine a FILE of --save-events instead of a program, - is standard "
           "input; or the folder that a killed gph doctor left in TMPDIR",
           NULL},
          {"lang", "en|zh", "English or Chinese",
           "zh where LC_ALL, LC_MESSAGES or LANG says so, else en"},
          {"quiet", NULL, "print only the count of findings", NULL},
          {"report", "FILE.html",
           "write a page that shows what happened: timelines, findings, graphs, memory",
           NULL},
          {"trace", "FILE.json", "write a trace for ui.perfetto.dev", NULL},
          {"summary", NULL, "end with tables of calls, graphs and memory", NULL},
          {"grace", "SECONDS", "how long to read processes that outlive PROGRAM", "5"},
          {"watch", "SECONDS",
           "end a process in which a driver call has not returned for this long while "
           "a graph is being replayed, and say what it waited for; on softcuda also "
           "which nodes of the graph had ended, were running or were waiting",
           NULL},
          {"sentinels", NULL,
           "give the program's executable graphs sentinels, so that on a GPU, too, "
           "--watch, a fault and a crash say which nodes had ended, were running or "
           "were waiting",
           NULL},
          {"leave", NULL,
           "with --watch: report the hang, but let the program run on; what it does "
           "from then on is not examined, and the exit status is its own",
           NULL},
          {"check", NULL,
           "run PROGRAM on softcuda and watch every access of kernels, copies and "
           "host code (SOFTCUDA_CHECK=all, unless that is set): finds races, reads "
           "that come too early, use of freed memory; slower. On NVIDIA's driver: "
           "host code that uses pinned memory before the copy",
           NULL}},
     .stops_early = true,
     .locale = locale_language,
     .run = cmd_doctor},
    {.name = "explain",
     .operands = "[WORD...]",
     .summary = "explain an error text: why, what helps, what does not",
     .text = "Explains what WORDs are about: an error code (910), a name "
             "(cudaErrorStreamCaptureUnjoined), a slug or a rule of gph doctor "
             "(capture.unjoined-fork), an interface (cudaGraphExecUpdate), or a "
             "few words. Without WORDs, or for -, a log or "
             "traceback is read from standard input, and the line that matters is found "
             "in it. Works without a GPU and without a network. The exit status is 0 if "
             "something was found, 1 if not, 2 after a failure.",
     .options = {{"lang", "en|zh", "English or Chinese",
                  "zh for words in Chinese, or where LC_ALL, LC_MESSAGES or LANG says "
                  "so, else en"},
                 {"json", NULL, "answer in JSON", NULL},
                 {"list", NULL, "list all entries", NULL},
                 {"markdown", NULL, "write all entries as a page in Markdown", NULL}},
     .locale = locale_language,
     .run = cmd_explain},
    {.name = "version",
     .operands = "",
     .summary = "show the version",
     .text = "Shows the version of the command and of the library it uses.",
     .run = cmd_version},
    {.name = "help",
     .operands = "[COMMAND]",
     .summary = "show help on a command",
     .text = "Lists the commands, or explains one.",
     .options = {{"scdoc", NULL,
                  "write the man page of COMMAND up to its examples, or a list of the "
                  "commands",
                  NULL},
                 {"completion", "bash|zsh", "write the completion script for a shell",
                  NULL}},
     .run = cmd_help},
    {.name = NULL},
};

/* A libgph of another version has other functions, or others than these options mean. `gph
 * version` says which is there, and is not refused. */
static bool has_own_library(void)
{
    const uint32_t own =
        GPH_VERSION_MAJOR * 10000 + GPH_VERSION_MINOR * 100 + GPH_VERSION_PATCH;
    Dl_info info;
    if (gph_version() == own)
        return true;
    const bool is_known = dladdr((void *)(uintptr_t)gph_version, &info) != 0;
    fprintf(
        stderr,
        "gph: %s is libgph %s, and this gph is %d.%d.%d: they must be of one version\n",
        is_known ? info.dli_fname : "libgph.so", gph_version_text(), GPH_VERSION_MAJOR,
        GPH_VERSION_MINOR, GPH_VERSION_PATCH);
    return false;
}

int main(int argc, char **argv)
{
    output_begin();
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const command *of = command_find(commands, name);
    if (!of)
        return EXIT_USAGE;
    if (of->run != cmd_version && !has_own_library())
        return EXIT_FAILED;
    /* A limit on file sizes is an error of a write, and ends no command; programs that are
     * run inherit nothing. */
    if (of->run != cmd_run && of->run != cmd_doctor)
        (void)signal(SIGXFSZ, SIG_IGN);

    /* Asked before the parser, which would miss operands. */
    const int rest = argc > 1 ? argc - 2 : 0;
    char **words = argv + (argc > 1 ? 2 : argc);
    command_line line;
    int code = EXIT_OK;
    if (option_is_help(of, rest, words)) {
        const char *language = option_early(of, "lang", rest, words);
        option_help(of, language || !of->locale ? language : of->locale(), stdout);
    } else {
        if (!option_parse(of, rest, words, &line))
            return EXIT_USAGE;
        line.commands = commands;
        code = of->run(&line);
    }
    return output_end() || code != EXIT_OK ? code : EXIT_FAILED;
}
