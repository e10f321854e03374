// SPDX-License-Identifier: Apache-2.0
/* A capture in a pool: bound before the driver captures, so that no allocation is missed,
 * and once for all segments. */
#include "base/fail.h"
#include "replay/capture.h"

gph_status gphi_bind_check(const gph_recording *recording, gph_error *error)
{
    if (!recording->pool)
        return GPH_OK;
    return gph_pool_replay(recording->pool, recording->id, error);
}

gph_status gphi_bind_begin(gph_capture *capture, const gph_capture_options *options,
                           gph_error *error)
{
    gph_recording *recording = capture->recording;
    if (!options->pool)
        return GPH_OK;
    GPHI_TRY(gph_pool_record_begin(options->pool, capture->stream, options->name,
                                   &recording->id, error));
    recording->pool = gph_pool_retain(options->pool);
    return GPH_OK;
}

void gphi_bind_abort(gph_capture *capture)
{
    gph_recording *recording = capture->recording;
    if (!recording->pool)
        return;
    gph_pool_record_abort(recording->pool, recording->id);
    recording->id = 0;
}

gph_status gphi_bind_end(gph_capture *capture, gph_error *error)
{
    const gph_recording *recording = capture->recording;
    if (!recording->pool)
        return GPH_OK;
    return gph_pool_record_end(recording->pool, recording->id, recording->outputs.items,
                               (uint32_t)recording->outputs.count, NULL, error);
}

void gphi_bind_forget(gph_recording *recording)
{
    if (!recording->pool)
        return;
    if (recording->id != 0)
        gph_pool_record_forget(recording->pool, recording->id);
    gph_pool_release(recording->pool);
    recording->pool = NULL;
}
