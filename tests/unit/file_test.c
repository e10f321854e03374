// SPDX-License-Identifier: Apache-2.0
/* Graph files: what is written is read again, and hostile files are refused with the
 * place. */
#define _XOPEN_SOURCE 700
#include "fault.h"
#include "test.h"
#include <gph/file.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct text {
    char bytes[65536];
    size_t count;
    long writes_left; /* negative: never fails */
};

static gph_status keep(void *user, const void *data, size_t bytes)
{
    struct text *text = user;
    if (text->writes_left >= 0 && text->writes_left-- == 0)
        return GPH_E_IO;
    if (text->count + bytes >= sizeof(text->bytes))
        return GPH_E_NO_MEMORY;
    memcpy(text->bytes + text->count, data, bytes);
    text->count += bytes;
    text->bytes[text->count] = '\0';
    return GPH_OK;
}

static void add(gph_graph *graph, const gph_node *node)
{
    gph_error error = {0};
    CHECK_OK(gph_graph_node_add(graph, node, NULL, &error), error);
}

/* A node of each kind, an odd name, values that JSON's numbers cannot hold. */
static gph_graph *full_graph(void)
{
    gph_graph *graph = NULL, *child = NULL;
    CHECK(gph_graph_create(NULL, &graph, NULL) == GPH_OK);
    CHECK(gph_graph_create(NULL, &child, NULL) == GPH_OK);
    CHECK(gph_graph_name_set(graph, "a \"graph\"\n\xc3\xa9 \xff", NULL) == GPH_OK);
    add(child, &(gph_node){.kind = GPH_NODE_EMPTY, .name = "inner"});
    const gph_kernel_arg args[] = {{0, 8}, {8, 4}};
    const unsigned char buffer[12] = {0xab, 1, 2};
    add(graph, &(gph_node){.kind = GPH_NODE_KERNEL,
                           .name = "first",
                           .u.kernel = {.function = "_Z4axpyf",
                                        .handle = UINT64_MAX,
                                        .grid = {4, 2, 1},
                                        .block = {128, 1, 1},
                                        .shared_bytes = 1024,
                                        .arg_count = 2,
                                        .args = args,
                                        .buffer = buffer,
                                        .buffer_bytes = sizeof(buffer),
                                        .context = 0x5500,
                                        .cooperative = 1,
                                        .priority = -5,
                                        .cluster = {2, 1, 1}}});
    add(graph, &(gph_node){.kind = GPH_NODE_MEMCPY,
                           .u.memcpy = {.dst = {.memory = GPH_MEMORY_DEVICE,
                                                .address = 0x7f0000001000},
                                        .src = {.memory = GPH_MEMORY_HOST, .x_bytes = 3},
                                        .width_bytes = UINT64_MAX,
                                        .height = 1,
                                        .depth = 1}});
    add(graph, &(gph_node){.kind = GPH_NODE_MEMSET,
                           .u.memset = {.address = 0x1000,
                                        .width = 64,
                                        .height = 1,
                                        .value = 0xffffffff,
                                        .element_bytes = 4}});
    add(graph, &(gph_node){.kind = GPH_NODE_HOST, .u.host = {1, 2}});
    add(graph, &(gph_node){.kind = GPH_NODE_CHILD, .u.child = child});
    add(graph, &(gph_node){.kind = GPH_NODE_CHILD});
    add(graph, &(gph_node){.kind = GPH_NODE_EVENT_WAIT, .u.event = {3}});
    add(graph, &(gph_node){.kind = GPH_NODE_EVENT_RECORD, .u.event = {4}});
    add(graph, &(gph_node){.kind = GPH_NODE_MEM_ALLOC, .u.memory = {0x2000, 512}});
    add(graph, &(gph_node){.kind = GPH_NODE_MEM_FREE, .u.memory = {0x2000, 0}});
    add(graph, &(gph_node){.kind = GPH_NODE_CONDITIONAL});
    add(graph, &(gph_node){.kind = GPH_NODE_KERNEL});
    const gph_mem_op ops[] = {{2, 1, 0x3000, UINT64_MAX}, {1, 0, 0x3008, 5}};
    add(graph, &(gph_node){.kind = GPH_NODE_BATCH_MEM_OP, .u.batch = {9, 2, ops}});
    add(graph, &(gph_node){.kind = GPH_NODE_BATCH_MEM_OP});
    add(graph, &(gph_node){.kind = GPH_NODE_SEMAPHORE_WAIT, .u.semaphore = {3}});
    for (uint32_t i = 0; i + 1 < gph_graph_node_count(graph); i++)
        CHECK(gph_graph_edge_add(graph, &(gph_edge){.from = i, .to = i + 1}, NULL) ==
              GPH_OK);
    const gph_edge programmatic = {.from = 0, .to = 11, .from_port = 1, .type = 1};
    CHECK(gph_graph_edge_add(graph, &programmatic, NULL) == GPH_OK);
    return graph;
}

static void what_is_written_is_read_again(void)
{
    static struct text first = {.writes_left = -1}, second = {.writes_left = -1};
    gph_error error = {0};
    gph_graph *graph = full_graph(), *copy = NULL;
    CHECK_OK(gph_json_write(graph, NULL, keep, &first, &error), error);
    CHECK_OK(gph_json_read(first.bytes, first.count, NULL, &copy, &error), error);
    if (copy == NULL)
        return;
    CHECK_OK(gph_json_write(copy, NULL, keep, &second, &error), error);
    CHECK(strcmp(first.bytes, second.bytes) == 0);
    CHECK(gph_graph_node(copy, 0)->u.kernel.handle == UINT64_MAX);
    CHECK(gph_graph_node(copy, 0)->u.kernel.buffer[0] == 0xab);
    CHECK(gph_graph_node(copy, 0)->u.kernel.priority == -5);
    CHECK(gph_graph_node(copy, 12)->u.batch.count == 2);
    CHECK(gph_graph_node(copy, 12)->u.batch.ops[0].value == UINT64_MAX);
    CHECK(gph_graph_node(copy, 14)->u.semaphore.count == 3);
    CHECK(gph_graph_node(copy, 1)->u.memcpy.width_bytes == UINT64_MAX);
    CHECK(gph_graph_node(copy, 1)->u.memcpy.src.memory == GPH_MEMORY_HOST);
    CHECK(gph_graph_node(copy, 4)->u.child != NULL);
    CHECK(gph_graph_node(copy, 5)->u.child == NULL);
    CHECK(strcmp(gph_graph_name(copy), "a \"graph\"\n\xc3\xa9 \xef\xbf\xbd") == 0);
    gph_graph_destroy(copy);
    gph_graph_destroy(graph);
}

/* A file around one node and no edge, or around the text of the graph. */
static const char *file_of(const char *format, const char *part)
{
    static char file[1024], graph[900];
    snprintf(graph, sizeof(graph), format, part);
    snprintf(file, sizeof(file),
             "{\"format\": \"gph-graph\", \"version\": 1, \"graph\": %s}", graph);
    return file;
}

static void check_refused(const char *file, const char *sentence)
{
    gph_error error = {0};
    gph_graph *out = (gph_graph *)&error; /* must stay as it is */
    const gph_status status = gph_json_read(file, strlen(file), NULL, &out, &error);
    CHECK(status == GPH_E_FORMAT && out == (gph_graph *)&error);
    if (!CHECK(strstr(error.message, sentence) != NULL))
        fprintf(stderr, "  %s: %s\n", file, error.message);
}

static void a_bad_node_is_refused_with_its_place(void)
{
    static const char *const cases[][2] = {
        {"3", "graph.nodes[0] is not an object"},
        {"{}", "graph.nodes[0].kind \"\" is not a kind of node"},
        {"{\"kind\": \"dance\"}", "nodes[0].kind \"dance\" is not a kind of node"},
        {"{\"kind\": \"empty\", \"x\": 1}", "nodes[0] has the unknown key \"x\""},
        {"{\"kind\": \"empty\", \"name\": 1}", "nodes[0].name is not a text"},
        {"{\"kind\": \"host\", \"function\": \"0x1\"}", "nodes[0].user is missing"},
        {"{\"kind\": \"host\", \"function\": \"1\", \"user\": \"0x0\"}",
         "function \"1\""},
        {"{\"kind\": \"host\", \"function\": \"0x\", \"user\": 0}", "not a hexadecimal"},
        {"{\"kind\": \"host\", \"function\": \"0xG\", \"user\": 0}", "not a hexadecimal"},
        {"{\"kind\": \"host\", \"function\": \"0x10000000000000000\", \"user\": 0}",
         "64 bits"},
        {"{\"kind\": \"host\", \"function\": -1, \"user\": 0}", "not a whole number"},
        {"{\"kind\": \"host\", \"function\": 1.5, \"user\": 0}", "not a whole number"},
        {"{\"kind\": \"child\", \"graph\": 1}", "nodes[0].graph is not an object"},
        {"{\"kind\": \"child\", \"graph\": {\"nodes\": 1}}",
         "nodes[0].graph.nodes is not an array"},
        {"{\"kind\": \"memset\", \"address\": 0, \"pitch_bytes\": 0, \"width\": 1, "
         "\"height\": 1, \"value\": 4294967296, \"element_bytes\": 4}",
         "value is not a whole number from 0 to 4294967295"},
        {"{\"kind\": \"memset\", \"address\": 0, \"pitch_bytes\": 0, \"width\": 1, "
         "\"height\": 1, \"value\": 0, \"element_bytes\": 3}",
         "nodes[0] is refused: memset element of 3 bytes"},
        {"{\"kind\": \"memcpy\", \"dst\": {\"memory\": \"moon\"}, \"src\": {}}",
         "dst.memory is not one of"},
        {"{\"kind\": \"kernel\", \"handle\": 0, \"grid\": [1, 1], \"block\": [1,1,1]}",
         "grid is not an array of three"},
        {"{\"kind\": \"kernel\", \"handle\": 0, \"grid\": [1, -1, 1]}",
         "grid[1] is not a whole number"},
        {"{\"kind\": \"kernel\", \"handle\": 0, \"grid\": [1,1,1], \"block\": [1,1,1], "
         "\"shared_bytes\": 0, \"args\": [{\"offset\": 0, \"bytes\": 8}], \"buffer\": "
         "\"00\"}",
         "kernel argument 0: 8 bytes at 0 lie outside 1"},
        {"{\"kind\": \"kernel\", \"handle\": 0, \"grid\": [1,1,1], \"block\": [1,1,1], "
         "\"shared_bytes\": 0, \"buffer\": \"0\"}",
         "two hexadecimal digits"},
        {"{\"kind\": \"kernel\", \"handle\": 0, \"grid\": [1,1,1], \"block\": [1,1,1], "
         "\"shared_bytes\": 0, \"args\": [7]}",
         "args[0] is not an object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_refused(file_of("{\"nodes\": [%s], \"edges\": []}", cases[i][0]),
                      cases[i][1]);
}

static void a_bad_file_is_refused(void)
{
    static const char *const two = "{\"nodes\": [{\"kind\": \"empty\"}, {\"kind\": "
                                   "\"empty\"}], \"edges\": [%s]}";
    check_refused("", "empty");
    check_refused("{", "line 1");
    check_refused("[]", "the file is not an object");
    check_refused("{\"a\": 1, \"a\": 2}", "duplicate");
    check_refused("{\"format\": \"x\"}", "says format \"x\"");
    check_refused(file_of("%s", "[]"), "graph is not an object");
    check_refused(file_of("%s", "{}"), "graph.nodes is not an array");
    check_refused(file_of("%s", "{\"nodes\": []}"), "graph.edges is not an array");
    check_refused(file_of(two, "{\"from\": 0}"), "edges[0].to is not a whole number");
    check_refused(file_of(two, "{\"from\": 0, \"to\": 2}"), "edges[0] is refused");
    check_refused(file_of(two, "{\"from\": 0, \"to\": 1, \"type\": 256}"), "type");
    check_refused(file_of(two, "{\"from\": 0, \"to\": 1}, {\"from\": 1, \"to\": 0}"),
                  "waits for itself");
    check_refused(file_of(two, "{\"from\": 0, \"to\": 1}, {\"from\": 0, \"to\": 1}"),
                  "two edges");

    gph_error error = {0};
    gph_graph *out = NULL;
    const char *later = "{\"format\": \"gph-graph\", \"version\": 2, \"graph\": {}}";
    CHECK(gph_json_read(later, strlen(later), NULL, &out, &error) == GPH_E_UNSUPPORTED);
}

static void limits_hold(void)
{
    static char deep[200000];
    memset(deep, '[', sizeof(deep));
    gph_error error = {0};
    gph_graph *out = NULL;
    CHECK(gph_json_read(deep, sizeof(deep), NULL, &out, &error) == GPH_E_FORMAT);

    const char *file =
        file_of("{\"nodes\": [%s], \"edges\": []}", "{\"kind\": \"empty\"}");
    gph_file_options options = GPH_FILE_OPTIONS_INIT;
    options.bytes_max = 10;
    CHECK(gph_json_read(file, strlen(file), &options, &out, &error) == GPH_E_FORMAT);
    options.bytes_max = 0;
    options.nodes_max = 1;
    CHECK_OK(gph_json_read(file, strlen(file), &options, &out, &error), error);
    gph_graph_destroy(out);
    out = NULL;

    /* one nesting more than is allowed */
    char *at = deep + sprintf(deep, "%s",
                              "{\"format\": \"gph-graph\", \"version\": 1, \"graph\": ");
    for (int i = 0; i < GPH_GRAPH_DEPTH_MAX; i++)
        at +=
            sprintf(at, "{\"edges\": [], \"nodes\": [{\"kind\": \"child\", \"graph\": ");
    at += sprintf(at, "{\"nodes\": [], \"edges\": []}");
    for (int i = 0; i < GPH_GRAPH_DEPTH_MAX; i++)
        at += sprintf(at, "}]}");
    sprintf(at, "}");
    check_refused(deep, "nests deeper than 16");
}

static void every_cut_of_a_file_is_refused(void)
{
    static struct text text = {.writes_left = -1};
    gph_graph *graph = full_graph();
    CHECK(gph_json_write(graph, NULL, keep, &text, NULL) == GPH_OK);
    gph_graph_destroy(graph);
    for (size_t cut = 0; cut + 2 < text.count; cut++) {
        gph_graph *out = NULL;
        CHECK(gph_json_read(text.bytes, cut, NULL, &out, NULL) == GPH_E_FORMAT);
        CHECK(out == NULL);
    }
}

static void a_reader_survives_every_failed_allocation(void)
{
    static struct text text = {.writes_left = -1};
    gph_graph *graph = full_graph();
    CHECK(gph_json_write(graph, NULL, keep, &text, NULL) == GPH_OK);
    gph_graph_destroy(graph);
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_file_options options = GPH_FILE_OPTIONS_INIT;
        options.allocator = &allocator;
        gph_graph *out = NULL;
        const gph_status status =
            gph_json_read(text.bytes, text.count, &options, &out, NULL);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((out != NULL) == (status == GPH_OK));
        gph_graph_destroy(out);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

static void a_writer_stops_at_the_first_refusal(void)
{
    gph_graph *graph = full_graph();
    for (long nth = 0; nth < 2; nth++) {
        static struct text text;
        text = (struct text){.writes_left = nth};
        gph_error error = {0};
        const gph_status status = gph_json_write(graph, NULL, keep, &text, &error);
        CHECK(status == (nth == 0 ? GPH_E_IO : GPH_OK));
    }
    CHECK(gph_json_write(graph, NULL, NULL, NULL, NULL) == GPH_E_INVALID);
    CHECK(gph_dot_write(NULL, NULL, keep, NULL, NULL) == GPH_E_INVALID);
    gph_graph_destroy(graph);
}

static void dot_names_nodes_and_nests_children(void)
{
    static struct text text = {.writes_left = -1};
    gph_graph *graph = full_graph();
    gph_file_options options = GPH_FILE_OPTIONS_INIT;
    options.verbose = 1;
    gph_error error = {0};
    CHECK_OK(gph_dot_write(graph, &options, keep, &text, &error), error);
    CHECK(strncmp(text.bytes, "digraph \"a \\\"graph\\\"?", 21) == 0);
    CHECK(strstr(text.bytes, "n0 [shape=box,label=\"0 first\\n_Z4axpyf\\ngrid 4 2 1,") !=
          NULL);
    CHECK(strstr(text.bytes, "subgraph \"cluster_n4_\" {") != NULL);
    CHECK(strstr(text.bytes, "n4_0 [shape=circle,label=\"0 inner\"];") != NULL);
    CHECK(strstr(text.bytes, "n0 -> n11 [style=dashed];") != NULL);
    gph_graph_destroy(graph);
}

static void a_file_is_replaced_whole_or_not_at_all(void)
{
    char folder[] = "/tmp/gph-file-test-XXXXXX", path[64], missing[64];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    snprintf(path, sizeof(path), "%s/graph.json", folder);
    snprintf(missing, sizeof(missing), "%s/no/graph.json", folder);
    gph_graph *graph = full_graph(), *copy = NULL;
    gph_error error = {0};
    CHECK_OK(gph_json_save(graph, NULL, path, &error), error);
    CHECK_OK(gph_json_load(path, NULL, &copy, &error), error);
    CHECK(gph_graph_node_count(copy) == gph_graph_node_count(graph));

    CHECK(gph_json_save(graph, NULL, missing, &error) == GPH_E_IO);
    CHECK(strstr(error.message, "No such file") != NULL);
    CHECK(gph_json_load(missing, NULL, &copy, &error) == GPH_E_IO);
    CHECK(gph_json_load(folder, NULL, &copy, &error) == GPH_E_IO);
    CHECK(gph_json_save(graph, NULL, folder, &error) == GPH_E_IO);
    CHECK_OK(gph_dot_save(graph, NULL, "/dev/null", &error), error);
    gph_file_options small = GPH_FILE_OPTIONS_INIT;
    small.bytes_max = 100;
    CHECK(gph_json_load("/dev/zero", &small, &copy, &error) == GPH_E_FORMAT);

    struct stat made;
    CHECK(stat(path, &made) == 0 && (made.st_mode & 0600) == 0600);
    CHECK(unlink(path) == 0);
    CHECK(rmdir(folder) == 0); /* nothing else was left in it */
    gph_graph_destroy(copy);
    gph_graph_destroy(graph);
}

/* A file that may not grow beyond a kilobyte stands for a full disk. */
static void a_failed_write_leaves_the_old_file(void)
{
    char folder[] = "/tmp/gph-file-test-XXXXXX", path[64];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    snprintf(path, sizeof(path), "%s/graph.json", folder);
    gph_graph *graph = full_graph(), *copy = NULL;
    gph_error error = {0};
    CHECK(gph_json_save(graph, NULL, "/dev/full", &error) == GPH_E_IO);
    CHECK_OK(gph_json_save(graph, NULL, path, &error), error);

    struct rlimit old;
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    const struct rlimit small = {.rlim_cur = 1024, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(gph_json_save(graph, NULL, path, &error) == GPH_E_IO);
    CHECK(strstr(error.message, "File too large") != NULL);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);

    CHECK_OK(gph_json_load(path, NULL, &copy, &error), error);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    gph_graph_destroy(copy);
    gph_graph_destroy(graph);
}

int main(void)
{
    gph_graph *probe = NULL;
    if (gph_json_read("{}", 2, NULL, &probe, NULL) == GPH_E_UNSUPPORTED) {
        printf("skipped: built without jansson\n");
        return 77;
    }
    RUN(what_is_written_is_read_again);
    RUN(a_bad_node_is_refused_with_its_place);
    RUN(a_bad_file_is_refused);
    RUN(limits_hold);
    RUN(every_cut_of_a_file_is_refused);
    RUN(a_reader_survives_every_failed_allocation);
    RUN(a_writer_stops_at_the_first_refusal);
    RUN(dot_names_nodes_and_nests_children);
    RUN(a_file_is_replaced_whole_or_not_at_all);
    RUN(a_failed_write_leaves_the_old_file);
    return test_done();
}
