// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"
#include "test.h"

static void a_failure_keeps_its_values(void)
{
    gph_error error = {.node = 7};
    CHECK(gphi_fail(&error, GPH_E_INVALID, "alignment %d is no power of two", 48) ==
          GPH_E_INVALID);
    CHECK(strcmp(error.message, "alignment 48 is no power of two") == 0);
    CHECK(error.node == 0);
    CHECK(gphi_fail(NULL, GPH_E_FORMAT, "x") == GPH_E_FORMAT);
}

int main(void)
{
    RUN(a_failure_keeps_its_values);
    return test_done();
}
