// SPDX-License-Identifier: Apache-2.0
/* What others say in this process: the driver's log, libgph's notes. */
#ifndef ATTACH_SENTENCE_H
#define ATTACH_SENTENCE_H

/* From now on the driver's sentences are written as LOG. */
void attach_listen_to_logs(void);
#endif
