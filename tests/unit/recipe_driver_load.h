// SPDX-License-Identifier: Apache-2.0
/* The other process of recipe_driver_test.c, which includes it: loads a recipe, with its
 * memory at a base, and launches each graph. */
#ifndef RECIPE_DRIVER_LOAD_H
#define RECIPE_DRIVER_LOAD_H

static CUmodule foreign_module;

static gph_status find_foreign(void *user, const gph_kernel_id *id, CUfunction *out,
                               gph_error *why)
{
    (void)user;
    return gph_cuda_check(cu->ModuleGetFunction(out, foreign_module, id->name),
                          "cuModuleGetFunction", why);
}

static int wrong_results;

static void launch_all(gph_loaded *loaded, CUdeviceptr base, float factor, uint32_t count)
{
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < count; i++) {
            clear(base);
            CHECK_OK(gph_loaded_launch(loaded, i, stream, &error), error);
            wrong_results += !is_right(base, factor + (float)i);
        }
}

struct launcher {
    pthread_t thread;
    CUcontext context;
    gph_loaded *loaded;
    uint32_t index;
    int failures;
};

static void *launch_often(void *user)
{
    struct launcher *launcher = user;
    gph_error mine = {0};
    launcher->failures += cu->CtxSetCurrent(launcher->context) != 0;
    for (int i = 0; i < 50; i++)
        launcher->failures +=
            gph_loaded_launch(launcher->loaded, launcher->index, stream, &mine) != GPH_OK;
    return NULL;
}

static void launch_from_threads(gph_loaded *loaded)
{
    struct launcher launchers[4];
    for (uint32_t i = 0; i < 4; i++) {
        launchers[i] = (struct launcher){.loaded = loaded, .index = i};
        CU(CtxGetCurrent, &launchers[i].context);
        CHECK(pthread_create(&launchers[i].thread, NULL, launch_often, &launchers[i]) ==
              0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(launchers[i].thread, NULL);
        CHECK(launchers[i].failures == 0);
    }
    CU(StreamSynchronize, stream);
}

static const char *image_for(const char *what)
{
    if (strcmp(what, "changed") == 0)
        return changed_ptx;
    const bool none = strcmp(what, "none") == 0 || strncmp(what, "resolve", 7) == 0 ||
                      strcmp(what, "check-twice") == 0;
    return none ? NULL : work_ptx;
}

static int load_here(const char *path, CUdeviceptr base, const char *what, float factor)
{
    const char *image = image_for(what);
    if (image != NULL)
        CHECK_OK(gph_module_load(runtime, image, strlen(image), &module, &error), error);
    const bool has_memory = strcmp(what, "hole") != 0;
    if (has_memory && place(base) == 0)
        return 77;
    if (has_memory)
        write_x(base);
    static char double_ptx[8192]; /* y = y * a + y */
    snprintf(double_ptx, sizeof(double_ptx), "%s", work_ptx);
    memcpy(strstr(double_ptx, "ld.global.f32 %f3, [%d5]"), "ld.global.f32 %f3, [%d4]",
           24);
    const char *foreign = strcmp(what, "resolve-other") == 0 ? other_ptx
                          : strcmp(what, "check-twice") == 0 ? double_ptx
                                                             : work_ptx;
    const gph_resolver resolver = {.size = sizeof(gph_resolver), .find = find_foreign};
    CU(ModuleLoadData, &foreign_module, foreign);

    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    const gph_recipe_place here = {"arena", base, PLACE};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    options.places = &here;
    options.place_count = 1;
    options.stream = stream;
    options.resolver = &resolver;
    if (image != NULL || strcmp(what, "none") == 0)
        options.resolver = NULL;
    options.flags = (strstr(what, "check") != NULL ? (uint32_t)GPH_RECIPE_CHECK : 0) |
                    (strstr(what, "share") != NULL ? (uint32_t)GPH_RECIPE_SHARE : 0) |
                    (strcmp(what, "threads") == 0 ? (uint32_t)GPH_RECIPE_SHARE : 0) |
                    (strstr(what, "lazy") != NULL ? (uint32_t)GPH_RECIPE_LAZY : 0);
    CHECK_OK(gph_recipe_load(path, NULL, &recipe, &error), error);
    CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded, &error), error);
    gph_recipe_destroy(recipe);
    uint32_t count = 0, execs = 0;
    gph_loaded_count(loaded, &count, &execs);
    printf("%u loaded, %u executables\n", count, execs);
    gph_loaded_graph state = GPH_SIZED(gph_loaded_graph);
    int code = 0;
    for (uint32_t i = 0; gph_loaded_get(loaded, i, &state); i++) {
        printf("%s%s%s\n", state.name, state.is_checked ? ": checked" : ": ", state.why);
        code = state.is_loaded ? code : 3;
        for (uint32_t j = 0; j < state.output_count; j++)
            CHECK(state.outputs[j].data == base + OUT);
    }
    if (code == 0 && strcmp(what, "threads") == 0)
        launch_from_threads(loaded);
    if (code == 0)
        launch_all(loaded, base, factor, count);
    gph_loaded_destroy(loaded);
    if (foreign_module != NULL)
        CU(ModuleUnload, foreign_module);
    gph_module_unload(module);
    return wrong_results != 0 ? 1 : atomic_load(&test_failures) != 0 ? 2 : code;
}
#endif
