// SPDX-License-Identifier: Apache-2.0
/* What a wheel is linked to in the place of libgcc_s.so.1, which zig does not bring: its name
 * and the versions of what is called of it. The library that every Linux has is what runs. */
void _Unwind_Backtrace(void);
void _Unwind_GetCFA(void);
void _Unwind_GetIP(void);
void _Unwind_GetRegionStart(void);

void _Unwind_Backtrace(void) {}

void _Unwind_GetCFA(void) {}

void _Unwind_GetIP(void) {}

void _Unwind_GetRegionStart(void) {}
