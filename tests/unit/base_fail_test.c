// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"
#include "test.h"

static void a_failure_keeps_its_values(void)
{
    gph_error error = {.node = 7};
    CHECK(gphi_fail(&error, GPH_E_INVALID, "alignment %d is not a power of two", 48) ==
          GPH_E_INVALID);
    CHECK(strcmp(error.message, "alignment 48 is not a power of two") == 0);
    CHECK(error.node == 0);
    CHECK(gphi_fail(NULL, GPH_E_FORMAT, "x") == GPH_E_FORMAT);
}

static gph_status heard_code;
static char heard_text[64];

static void hear(gph_status code, const char *message)
{
    heard_code = code;
    snprintf(heard_text, sizeof(heard_text), "%s", message);
}

static void failures_are_heard_without_an_error_too(void)
{
    gph_error error = {0};
    atomic_store(&gphi_fail_ear, (uintptr_t)hear);
    CHECK(gphi_fail(NULL, GPH_E_STATE, "node %d is gone", 7) == GPH_E_STATE);
    CHECK(heard_code == GPH_E_STATE && strcmp(heard_text, "node 7 is gone") == 0);
    CHECK(gphi_fail(&error, GPH_E_INVALID, "x is %d", 1) == GPH_E_INVALID);
    CHECK(heard_code == GPH_E_INVALID && strcmp(heard_text, error.message) == 0);
    gphi_ignore(GPH_OK, "nothing failed");
    CHECK(heard_code == GPH_E_INVALID);
    gphi_ignore(GPH_E_IO, "it is written again");
    CHECK(heard_code == GPH_OK && strcmp(heard_text, "it is written again") == 0);
    atomic_store(&gphi_fail_ear, 0);
    CHECK(gphi_fail(NULL, GPH_E_IO, "y") == GPH_E_IO && heard_code == GPH_OK);
}

/* A struct as three versions of a header have it. */
struct first {
    uint32_t size, a;
};
struct second {
    uint32_t size, a;
    uint64_t b;
};
struct third {
    uint32_t size, a;
    uint64_t b, c;
};

static void an_output_is_filled_up_to_the_size_of_the_caller(void)
{
    const struct second full = {.a = 1, .b = 2};
    struct {
        struct first out;
        uint64_t after;
    } old = {{.size = sizeof(struct first)}, 77};
    gphi_struct_write(&old.out, &full, sizeof(full));
    CHECK(old.out.size == sizeof(struct first) && old.out.a == 1 && old.after == 77);
    struct third newer = {.size = sizeof(newer), .c = 77};
    gphi_struct_write(&newer, &full, sizeof(full));
    CHECK(newer.size == sizeof(newer) && newer.a == 1 && newer.b == 2 && newer.c == 0);
}

static void an_array_is_read_by_its_stride(void)
{
    gph_error error = {0};
    struct second read;
    const struct first old[] = {{.a = 1}, {.a = 2}};
    CHECK(gphi_element_read(&read, sizeof(read), old, sizeof(old[0]), 1, &error) ==
          GPH_OK);
    CHECK(read.a == 2 && read.b == 0);
    const struct second same[] = {{.a = 1}, {.a = 2, .b = 3}};
    CHECK(gphi_element_read(&read, sizeof(read), same, 0, 1, &error) == GPH_OK);
    CHECK(read.a == 2 && read.b == 3);
    const struct third newer[] = {{.c = 1}, {.a = 2}};
    CHECK(gphi_element_read(&read, sizeof(read), newer, sizeof(newer[0]), 1, &error) ==
          GPH_OK);
    CHECK(read.a == 2);
    CHECK(gphi_fail(&error, GPH_E_NO_MEMORY, "making %d", 3) == GPH_E_NO_MEMORY &&
          strcmp(error.message, "out of memory: making 3") == 0);
    const uint32_t wild = 3;
    CHECK(gphi_options_read(&read, sizeof(read), "gph_x_options", &wild, &error) ==
              GPH_E_INVALID &&
          strcmp(error.message,
                 "gph_x_options.size is 3: begin with GPH_SIZED(gph_x_options)") == 0);
    const struct third later = {.size = sizeof(later), .c = 1};
    CHECK(gphi_options_read(&read, sizeof(read), "gph_x_options", &later, &error) ==
              GPH_E_UNSUPPORTED &&
          strstr(error.message, " of gph_x_options is set, but") != NULL);
    CHECK(gphi_element_read(&read, sizeof(read), newer, sizeof(newer[0]), 0, &error) ==
          GPH_E_UNSUPPORTED);
}

static void text_goes_to_a_buffer_and_to_a_file(void)
{
    char text[6];
    gph_buffer cut = {text, sizeof(text), 0}, none = {0};
    CHECK(gph_write_buffer(&cut, "abc", 3) == GPH_OK && strcmp(text, "abc") == 0);
    CHECK(gph_write_buffer(&cut, "defg", 4) == GPH_OK && strcmp(text, "abcde") == 0);
    CHECK(gph_write_buffer(&cut, "h", 1) == GPH_OK && strcmp(text, "abcde") == 0);
    CHECK(cut.length == 8);
    CHECK(gph_write_buffer(&none, "abc", 3) == GPH_OK && none.length == 3);
    FILE *full = fopen("/dev/full", "w");
    if (full != NULL) {
        setvbuf(full, NULL, _IONBF, 0);
        CHECK(gph_write_file(full, "abc", 3) == GPH_E_IO);
        fclose(full);
    }
}

int main(void)
{
    RUN(a_failure_keeps_its_values);
    RUN(failures_are_heard_without_an_error_too);
    RUN(an_output_is_filled_up_to_the_size_of_the_caller);
    RUN(an_array_is_read_by_its_stride);
    RUN(text_goes_to_a_buffer_and_to_a_file);
    return test_done();
}
