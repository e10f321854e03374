// SPDX-License-Identifier: Apache-2.0
// libgph.range-not-placed
//
// A recipe is loaded for other memory, and the loader forgets one range: the graph reads the
// weights where they were recorded, and the new ones are filled and never used. List every range
// in options.places.
#include "libgph.h"

enum { BYTES = FLOATS * sizeof(float) };

typedef struct memory {
    CUdeviceptr weights, x, y;
} memory;

static memory both[2];
static gph_recipe *recipe;

static gph_status record(void *user, int which, CUgraph *out, gph_error *why)
{
    const memory *of = &both[which];
    gph_capture *capture = NULL;
    const gph_status status = gph_capture_begin(gph, stream, NULL, &capture, why);
    (void)user;
    if (status != GPH_OK)
        return status;
    COPY(stream, of->y, of->x);
    SCALE_ADD(stream, of->y, of->weights, 2);
    return gph_capture_end(capture, out, why);
}

static memory new_memory(void)
{
    return (memory){new_floats(), new_floats(), new_floats()};
}

static void make_recipe(void)
{
    gph_module *image = NULL;
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    open_gph();
    must(gph_module_load(gph, broken_ptx, sizeof(broken_ptx) - 1, &image, &error));
    must(gph_module_function(image, "copy", &copy, &error));
    must(gph_module_function(image, "scale_add", &scale_add, &error));
    both[0] = new_memory();
    both[1] = new_memory();
    const gph_recipe_range ranges[] = {
        {sizeof(ranges[0]), "weights", both[0].weights, both[1].weights, BYTES},
        {sizeof(ranges[0]), "x", both[0].x, both[1].x, BYTES},
        {sizeof(ranges[0]), "y", both[0].y, both[1].y, BYTES}};
    must(gph_recipe_create(NULL, &recipe, &error));
    for (int i = 0; i < 3; i++)
        must(gph_recipe_range_add(recipe, &ranges[i], NULL, &error));
    entry.name = "step";
    must(gph_recipe_record_twice(recipe, gph, &entry, record, NULL, &error));
}

static gph_loaded_options options_of(const gph_recipe_place *places, uint32_t count)
{
    gph_loaded_options out = GPH_LOADED_OPTIONS_INIT;
    out.places = places;
    out.place_count = count;
    out.stream = stream;
    return out;
}

static void launch(gph_loaded *loaded, CUdeviceptr in, CUdeviceptr out)
{
    for (int i = 0; i < 3; i++) {
        FILL(stream, in, (float)i);
        must(gph_loaded_launch(loaded, 0, stream, &error));
        (void)read_back(out);
    }
}

static void first(void)
{
    gph_loaded *loaded = NULL;
    make_recipe();
    const memory mine = new_memory();
    const gph_recipe_place places[] = {{"x", mine.x, BYTES}, {"y", mine.y, BYTES}};
    const gph_loaded_options options = options_of(places, 2);
    must(gph_loaded_create(gph, recipe, &options, &loaded, &error)); // <-- first
    CU(cuMemsetD32Async(mine.weights, 0x40e00000, FLOATS, stream));
    launch(loaded, mine.x, mine.y);
}

static void second(void)
{
    static float host[FLOATS];
    gph_loaded *loaded = NULL;
    make_recipe();
    const memory mine = new_memory();
    const gph_recipe_place places[] = {{"weights", mine.weights, BYTES},
                                       {"y", mine.y, BYTES}};
    const gph_loaded_options options = options_of(places, 2);
    must(gph_loaded_create(gph, recipe, &options, &loaded, &error)); // <-- second
    for (int i = 0; i < 3; i++) {
        host[0] = (float)i;
        CU(cuMemcpyHtoDAsync(mine.x, host, BYTES, stream));
        must(gph_loaded_launch(loaded, 0, stream, &error));
        (void)read_back(mine.y);
    }
}

/* The weights of the recording are meant, and another buffer is used elsewhere. */
static void near(void)
{
    gph_loaded *loaded = NULL;
    make_recipe();
    const memory mine = new_memory();
    const gph_recipe_place places[] = {{"x", mine.x, BYTES}, {"y", mine.y, BYTES}};
    const gph_loaded_options options = options_of(places, 2);
    FILL(stream, both[0].weights, 7);
    must(gph_loaded_create(gph, recipe, &options, &loaded, &error));
    CU(cuMemsetD32Async(mine.weights, 0x40e00000, FLOATS, stream));
    launch(loaded, mine.x, mine.y);
    SCALE_ADD(stream, mine.y, mine.weights, 1);
    (void)read_back(mine.y);
}

BROKEN(first, second, near)
