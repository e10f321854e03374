#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes docs/sample-report.html, and where Chromium is its picture docs/report.png: what gph
# doctor shows of a short run of the decoder. Run ./run first: it builds. A report made by
# hand may be given instead: scripts/sample_report.sh [REPORT.html].
set -eu
cd "$(dirname "$0")/.."
page=docs/sample-report.html
if [ $# -gt 0 ]; then
    cp "$1" "$page"
else
    build/release/bin/gph doctor --quiet --driver soft --report "$page" -- \
        build/release/examples/decode/decode --mode both --limit 24 --repeat 1 >/dev/null || true
fi
# Of files of this folder the name in it is enough.
sed -i "s|$PWD/||g; s|\"build/release/examples/decode/decode\"|\"examples/decode/decode\"|" "$page"
ls -l "$page"
command -v chromium >/dev/null && command -v chromedriver >/dev/null || exit 0
PYTHONDONTWRITEBYTECODE=1 python3 tests/page/picture.py "$PWD/$page" docs/report.png
