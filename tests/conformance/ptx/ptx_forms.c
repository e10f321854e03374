// SPDX-License-Identifier: Apache-2.0
/* Runs every form of forms.txt on a driver.
 *
 *   ptx_forms --record FILE        writes what the driver gives (meant for a GPU);
 *                                  with --add OLD only forms that OLD lacks are run,
 *                                  and FILE gets what OLD has, too
 *   ptx_forms --check FILE         compares with a recording; exit 1 if anything differs
 *   ptx_forms --docs FILE          prints docs/ptx.md, made of the table and the
 * recording ptx_forms --ptx TEXT           prints the PTX of forms whose name holds TEXT
 * Options: --forms FILE, --driver PATH (or GPH_DRIVER=cuda|soft|PATH), --only TEXT,
 * --every N (each N-th module of 32 forms), --show N differences a form, --verbose.
 * Exit 77: no such driver here. */
#include "forms.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef FORMS_DEFAULT_TABLE
#define FORMS_DEFAULT_TABLE "forms.txt"
#endif
#ifndef FORMS_SOFT_DRIVER
#define FORMS_SOFT_DRIVER "libcuda.so.1"
#endif
#define MODULE_FORMS 32

typedef struct options {
    const char *table, *driver, *record, *add, *check, *docs, *ptx, *only;
    uint32_t every, show;
    bool verbose;
} options;

static bool read_options(int argc, char **argv, options *o)
{
    *o = (options){.table = FORMS_DEFAULT_TABLE, .every = 1, .show = 2};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--verbose") == 0) {
            o->verbose = true;
            continue;
        }
        if (value == NULL)
            return false;
        i++;
        if (strcmp(argv[i - 1], "--forms") == 0)
            o->table = value;
        else if (strcmp(argv[i - 1], "--driver") == 0)
            o->driver = value;
        else if (strcmp(argv[i - 1], "--record") == 0)
            o->record = value;
        else if (strcmp(argv[i - 1], "--add") == 0)
            o->add = value;
        else if (strcmp(argv[i - 1], "--check") == 0)
            o->check = value;
        else if (strcmp(argv[i - 1], "--docs") == 0)
            o->docs = value;
        else if (strcmp(argv[i - 1], "--ptx") == 0)
            o->ptx = value;
        else if (strcmp(argv[i - 1], "--only") == 0)
            o->only = value;
        else if (strcmp(argv[i - 1], "--every") == 0)
            o->every = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i - 1], "--show") == 0)
            o->show = (uint32_t)strtoul(value, NULL, 10);
        else
            return false;
    }
    return o->every > 0 && (o->record || o->check || o->docs || o->ptx);
}

/* Keeps the forms whose name holds `text`. */
static void keep(forms *all, const char *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (strstr(all->forms[i].name, text) != NULL)
            all->forms[kept++] = all->forms[i];
    all->count = kept;
}

static const char *driver_path(const options *o)
{
    const char *name = o->driver ? o->driver : getenv("GPH_DRIVER");
    if (name == NULL || strcmp(name, "soft") == 0)
        return FORMS_SOFT_DRIVER;
    return strcmp(name, "cuda") == 0 ? "libcuda.so.1" : name;
}

static unsigned char **outputs_get(const forms *all)
{
    unsigned char **outputs = calloc(all->count + 1, sizeof(*outputs));
    for (size_t i = 0; outputs != NULL && i < all->count; i++) {
        const form *f = &all->forms[i];
        outputs[i] = calloc(f->threads, form_output_bytes(f));
        if (outputs[i] == NULL)
            return NULL;
    }
    return outputs;
}

/* Reports what became of one form; true if it is as recorded. A form that waits for its
 * recording proves nothing and counts as unsupported, so it is not a failure either. */
static bool judge(const form *f, const recording *r, outcome how,
                  const unsigned char *output, const options *o)
{
    bool rejected;
    const unsigned char *expected = recording_find(r, f, &rejected);
    if (rejected) {
        if (o->verbose)
            printf("rejected by the recorded device: %s\n", f->name);
        return true;
    }
    if (expected == NULL) {
        if (o->verbose)
            printf("not recorded: %s\n", f->name);
        return true;
    }
    if (how != RAN) {
        printf("%s: %s\n",
               how == UNSUPPORTED ? "unsupported"
               : how == REJECTED  ? "rejected"
                                  : "broke",
               f->name);
        return false;
    }
    const uint32_t bad = outputs_compare(f, expected, output, 0);
    if (bad == 0)
        return true;
    printf("differs in %u of %u: %s\n", bad, f->threads, f->name);
    (void)outputs_compare(f, expected, output, o->show);
    return false;
}

static int check(const forms *all, unsigned char **outputs, const outcome *outcomes,
                 const bool *ran, const options *o)
{
    recording *r = recording_load(o->check);
    if (r == NULL)
        return 1;
    size_t good = 0, tried = 0, waiting = 0;
    for (size_t i = 0; i < all->count; i++) {
        bool rejected;
        if (!ran[i])
            continue;
        tried++;
        waiting += recording_find(r, &all->forms[i], &rejected) == NULL;
        good += judge(&all->forms[i], r, outcomes[i], outputs[i], o);
    }
    printf("%zu of %zu forms as recorded on %s\n", good - waiting, tried - waiting,
           recording_source(r));
    if (waiting > 0)
        printf("%zu forms not recorded, or rejected by that device\n", waiting);
    recording_free(r);
    return good == tried && tried > waiting ? 0 : 1;
}

/* Of forms that were recorded before: puts the bytes there, and leaves the others. */
static void take_recorded(const forms *all, const recording *old, unsigned char **outputs,
                          outcome *outcomes, forms *rest, size_t *places)
{
    for (size_t i = 0; i < all->count; i++) {
        const form *f = &all->forms[i];
        bool rejected;
        const unsigned char *bytes = recording_find(old, f, &rejected);
        outcomes[i] = rejected ? REJECTED : RAN;
        if (bytes != NULL) {
            memcpy(outputs[i], bytes, (size_t)f->threads * form_output_bytes(f));
        } else if (!rejected) {
            places[rest->count] = i;
            rest->forms[rest->count++] = *f;
        }
    }
}

/* Runs what the earlier recording lacks; `source` stays its own if that is nothing. */
static bool run_new(driver *d, const forms *all, const options *o,
                    unsigned char **outputs, outcome *outcomes, char source[128])
{
    recording *old = recording_load(o->add);
    forms rest = {.forms = calloc(all->count + 1, sizeof(form))};
    size_t *places = calloc(all->count + 1, sizeof(*places));
    unsigned char **out = calloc(all->count + 1, sizeof(*out));
    outcome *how = calloc(all->count + 1, sizeof(*how));
    bool good =
        rest.forms != NULL && places != NULL && out != NULL && how != NULL && old != NULL;
    if (good)
        take_recorded(all, old, outputs, outcomes, &rest, places);
    if (good && rest.count == 0)
        snprintf(source, 128, "%s", recording_source(old));
    recording_free(old);
    for (size_t i = 0; good && i < rest.count; i++)
        out[i] = outputs[places[i]];
    for (size_t i = 0; good && i < rest.count; i += MODULE_FORMS) {
        const size_t n =
            rest.count - i < MODULE_FORMS ? rest.count - i : (size_t)MODULE_FORMS;
        driver_run(d, &rest.forms[i], n, how + i, out + i, o->verbose);
    }
    for (size_t i = 0; good && i < rest.count; i++)
        outcomes[places[i]] = how[i];
    if (good)
        printf("%zu forms are new\n", rest.count);
    free(rest.forms);
    free(places);
    free(out);
    free(how);
    return good;
}

static void name_source(const driver *d, char source[128])
{
    char day[16];
    const time_t now = time(NULL);
    strftime(day, sizeof(day), "%Y-%m-%d", gmtime(&now));
    snprintf(source, 128, "%.90s, %s", driver_name(d), day);
}

static int record(const char *source, const forms *all, const options *o,
                  unsigned char **outputs, const outcome *outcomes)
{
    size_t count[BROKE + 1] = {0};
    for (size_t i = 0; i < all->count; i++)
        count[outcomes[i]]++;
    printf("%s: %zu forms ran, %zu rejected, %zu unsupported, %zu broke\n", source,
           count[RAN], count[REJECTED], count[UNSUPPORTED], count[BROKE]);
    return recording_save(o->record, source, all, outputs, outcomes) ? 0 : 1;
}

static int run(const forms *all, const options *o)
{
    driver *d = driver_open(driver_path(o));
    if (d == NULL)
        return 77;
    unsigned char **outputs = outputs_get(all);
    outcome *outcomes = calloc(all->count + 1, sizeof(*outcomes));
    bool *ran = calloc(all->count + 1, sizeof(*ran));
    if (outputs == NULL || outcomes == NULL || ran == NULL)
        return 1;
    const bool adds = o->record != NULL && o->add != NULL;
    char source[128];
    name_source(d, source);
    if (adds && !run_new(d, all, o, outputs, outcomes, source))
        return 1;
    for (size_t i = 0; !adds && i < all->count; i += MODULE_FORMS) {
        if (i / MODULE_FORMS % o->every != 0)
            continue;
        const size_t n = all->count - i < MODULE_FORMS ? all->count - i : MODULE_FORMS;
        driver_run(d, &all->forms[i], n, outcomes + i, outputs + i, o->verbose);
        for (size_t k = 0; k < n; k++)
            ran[i + k] = true;
    }
    int status = 0;
    if (o->record != NULL) {
        status = record(source, all, o, outputs, outcomes);
    } else {
        status = check(all, outputs, outcomes, ran, o);
    }
    for (size_t i = 0; i < all->count; i++)
        free(outputs[i]);
    free(outputs);
    free(outcomes);
    free(ran);
    driver_close(d);
    return status;
}

static int write_docs(const forms *all, const char *path)
{
    recording *r = recording_load(path);
    const bool good = r != NULL && docs_write(stdout, all, r);
    recording_free(r);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    options o;
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr, "usage: ptx_forms --record FILE | --check FILE | --docs FILE | "
                        "--ptx TEXT [options]\n");
        return 2;
    }
    forms all;
    if (!forms_read(o.table, &all))
        return 2;
    if (o.only != NULL || o.ptx != NULL)
        keep(&all, o.ptx ? o.ptx : o.only);
    int status = 0;
    if (o.ptx != NULL) {
        char *ptx = kernels_write(all.forms, all.count);
        fputs(ptx, stdout);
        free(ptx);
    } else {
        status = o.docs != NULL ? write_docs(&all, o.docs) : run(&all, &o);
    }
    for (size_t i = 0; i < all.line_count; i++)
        free(all.lines[i]);
    free(all.lines);
    free(all.forms);
    return status;
}
