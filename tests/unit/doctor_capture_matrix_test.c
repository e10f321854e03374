// SPDX-License-Identifier: Apache-2.0
/* What the doctor says of a cell of the matrix of captures is what an H100 did there:
 * every row of tests/conformance/rules/capture_matrix.expected. */
#include "doctor/rules/capture/rules_capture.h"
#include "test.h"

static const char *const names[] = {
#define X(name, version, arguments) #name,
    GPHI_CUDA_CALLS(X)
#undef X
};

/* "cuStreamQuery(capturing)" -> the call and what it is about; false: unknown. */
static bool parse_name(const char *text, uint32_t *call, gphi_capture_cell *cell)
{
    const size_t length = strcspn(text, "(");
    char name[64] = "";
    if (length >= sizeof(name))
        return false;
    memcpy(name, text, length);
    if (strcmp(name, "cuGraphInstantiate") == 0)
        strcat(name, "WithFlags");
    for (*call = 0; *call < GPHI_CALL_COUNT; ++*call)
        if (strcmp(name, names[*call]) == 0)
            break;
    if (*call == GPHI_CALL_COUNT)
        return false;
    cell->class = gphi_capture_class(*call);
    cell->target = GPHI_TARGET_OTHER;
    if (strncmp(text + length, "(capturing", 10) == 0 ||
        strncmp(text + length, "(captured", 9) == 0)
        cell->target = GPHI_TARGET_CAPTURING;
    const bool is_legacy = strncmp(text + length, "(legacy", 7) == 0;
    if (is_legacy || (cell->class == GPHI_CLASS_SYNC && text[length] == '\0'))
        cell->target = GPHI_TARGET_LEGACY;
    /* Rows without a word that are about the capturing stream. */
    if (text[length] == '\0' && cell->class == GPHI_CLASS_REFUSED)
        cell->target = GPHI_TARGET_CAPTURING;
    return true;
}

static uint32_t mode_of(char letter)
{
    return letter == 'G'   ? GPHI_MODE_GLOBAL
           : letter == 'T' ? GPHI_MODE_THREAD_LOCAL
                           : GPHI_MODE_RELAXED;
}

static void check_row(const char *line, unsigned *cells)
{
    char name[64], thread[8], mode, flag;
    int codes[3];
    gphi_capture_cell cell = {0};
    uint32_t call = 0;
    if (sscanf(line, "%63s %7s %c %c %d/%*s %d/%*s %d/%*s", name, thread, &mode, &flag,
               &codes[0], &codes[1], &codes[2]) != 7)
        return;
    if (strstr(name, "wrong") || strstr(name, "external") ||
        strcmp(name, "cuStreamWaitEvent(capturing)") == 0 ||
        strcmp(name, "cuMemFreeAsync(capturing)") == 0)
        return; /* of a foreign event or memory, or refused without a capture as well */
    if (!CHECK(parse_name(name, &call, &cell)) || cell.class == GPHI_CLASS_CONTROL ||
        cell.class == GPHI_CLASS_ASK)
        return;
    if (cell.class == GPHI_CLASS_DROPPED && cell.target == GPHI_TARGET_LEGACY)
        return; /* the legacy stream takes no batches, whatever captures */
    cell.is_same_thread = strcmp(thread, "same") == 0;
    cell.mode = mode_of(mode);
    cell.is_blocking = flag == 'B';
    for (uint32_t caller = 0; caller < 3; caller++) {
        cell.caller = caller;
        ++*cells;
        if (gphi_capture_verdict(&cell) != codes[caller]) {
            fprintf(stderr, "%s caller %s: %d\n", line, gphi_capture_mode_name(caller),
                    (int)gphi_capture_verdict(&cell));
            CHECK(gphi_capture_verdict(&cell) == codes[caller]);
        }
    }
}

static void every_cell_is_as_measured(void)
{
    char line[256];
    unsigned cells = 0;
    FILE *file = fopen(CAPTURE_MATRIX, "r");
    if (!CHECK(file != NULL))
        return;
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        check_row(line, &cells);
    }
    (void)fclose(file);
    CHECK(cells > 6000);
}

static void what_is_not_in_the_table_is_safe(void)
{
    CHECK(gphi_capture_class(GPHI_CALL_cuInit) == GPHI_CLASS_SAFE);
    CHECK(gphi_capture_class(GPHI_CALL_COUNT) == GPHI_CLASS_SAFE);
    CHECK(gphi_capture_class(UINT32_MAX) == GPHI_CLASS_SAFE);
    CHECK(strcmp(gphi_capture_mode_name(7), "global") == 0);
}

int main(void)
{
    RUN(every_cell_is_as_measured);
    RUN(what_is_not_in_the_table_is_safe);
    return test_done();
}
