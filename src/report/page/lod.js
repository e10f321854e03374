// SPDX-License-Identifier: Apache-2.0
// Bars of one row, at any zoom, in time that depends on pixels and not on how many there are.
//
// Bars in order of start are the leaves of a tree, BRANCH to a node. A node knows its first start, its last
// end, the time its bars are busy by kind, and whether one of them failed. A node that is narrower than a
// pixel is drawn as a part of that pixel's column; only wider ones are opened.
(function (gph) {
  'use strict';
  const BRANCH = 8, KINDS = 8;
  let busy = new Float32Array(0), bads = new Uint8Array(0); // of the row that is drawn: zero between rows

  gph.visits = 0; // nodes looked at so far: the tests bound them

  gph.Row = class {
    // ids: of bars, by start; start, end, kind, bad: columns by id
    constructor(ids, columns) {
      this.ids = ids;
      this.of = columns;
      const n = ids.length, c = columns;
      let level = { n, s: new Float64Array(n), e: new Float64Array(n), kind: new Uint8Array(n), bad: new Uint8Array(n) };
      for (let i = 0; i < n; i++) {
        const id = ids[i];
        level.s[i] = c.start[id];
        level.e[i] = c.end[id];
        level.kind[i] = c.kind[id];
        level.bad[i] = c.bad[id];
      }
      this.levels = [level];
      while (level.n > 1) this.levels.push(level = this.above(level));
    }

    above(low) {
      const n = Math.ceil(low.n / BRANCH), up = this.level(n);
      for (let i = 0; i < n; i++) {
        up.s[i] = low.s[i * BRANCH];
        const last = Math.min(low.n, (i + 1) * BRANCH);
        for (let j = i * BRANCH; j < last; j++) {
          up.e[i] = Math.max(up.e[i], low.e[j]);
          up.bad[i] |= low.bad[j];
          if (low.share) for (let k = 0; k < KINDS; k++) up.share[i * KINDS + k] += low.share[j * KINDS + k];
          else up.share[i * KINDS + low.kind[j]] += low.e[j] - low.s[j];
        }
      }
      return up;
    }

    level(n) {
      return { n, s: new Float64Array(n), e: new Float64Array(n), bad: new Uint8Array(n), share: new Float32Array(n * KINDS) };
    }

    // Calls bar(id, x, width, kind, bad) for what is wide, and column(x, shares, base, bad) for pixels that hold many:
    // shares[base + kind] is the part of the pixel in which bars of a kind are busy; all of them make 1 at most.
    draw(from, perPixel, width, bar, column) {
      if (busy.length < width * KINDS) { busy = new Float32Array(width * KINDS); bads = new Uint8Array(width); }
      const to = from + width * perPixel, leaves = this.levels[0];
      let first = width, last = -1; // pixels that hold many
      const visit = (depth, i) => {
        gph.visits++;
        const level = this.levels[depth], s = level.s[i], e = level.e[i];
        if (e < from || s > to) return;
        const wide = (e - s) / perPixel;
        if (depth && wide > 1) {
          const end = Math.min(this.levels[depth - 1].n, (i + 1) * BRANCH);
          for (let j = i * BRANCH; j < end; j++) visit(depth - 1, j);
          return;
        }
        const x = (s - from) / perPixel;
        if (wide > 1) { bar(this.ids[i], x, wide, leaves.kind[i], leaves.bad[i]); return; }
        const at = Math.min(width - 1, Math.max(0, x | 0)), base = at * KINDS;
        first = Math.min(first, at);
        last = Math.max(last, at);
        bads[at] |= level.bad[i];
        if (!depth) busy[base + leaves.kind[i]] += Math.max(0.1, wide);
        else for (let k = 0; k < KINDS; k++) busy[base + k] += level.share[i * KINDS + k] / perPixel;
      };
      if (this.ids.length) visit(this.levels.length - 1, 0);
      for (let x = first; x <= last; x++) {
        let sum = 0;
        for (let k = 0; k < KINDS; k++) sum += busy[x * KINDS + k];
        if (sum === 0) continue;
        if (sum > 1) for (let k = 0; k < KINDS; k++) busy[x * KINDS + k] /= sum;
        column(x, busy, x * KINDS, bads[x]);
      }
      if (last >= first) { busy.fill(0, first * KINDS, (last + 1) * KINDS); bads.fill(0, first, last + 1); }
    }

    // Calls span(x, width, id) for what is wide, and span(x, width, -1) for pixels side by side that hold something.
    spans(from, perPixel, width, span) {
      let begin = -1, end = -1;
      this.draw(from, perPixel, width, (id, x, wide) => span(x, wide, id), (x) => {
        if (x !== end) { if (begin >= 0) span(begin, end - begin, -1); begin = x; }
        end = x + 1;
      });
      if (begin >= 0) span(begin, end - begin, -1);
    }

    // Where a bar is in the row; -1: not in it.
    placeOf(id) {
      const s = this.levels[0].s, start = this.of.start[id];
      let low = 0, high = s.length;
      while (low < high) { const mid = (low + high) >> 1; if (s[mid] < start) low = mid + 1; else high = mid; }
      while (low < s.length && s[low] === start && this.ids[low] !== id) low++;
      return low < s.length && s[low] === start ? low : -1;
    }

    // The bar at a time, or the nearest within `slack`; -1: none.
    at(time, slack) {
      const s = this.levels[0].s, e = this.levels[0].e;
      let low = 0, high = s.length;
      while (low < high) { const mid = (low + high) >> 1; if (s[mid] <= time + slack) low = mid + 1; else high = mid; }
      let best = -1, far = Infinity;
      for (let i = low - 1; i >= 0 && i > low - 40; i--) {
        const off = s[i] > time ? s[i] - time : e[i] < time ? time - e[i] : 0;
        if (off <= slack && off < far) { best = this.ids[i]; far = off; }
        if (off === 0) break;
      }
      return best;
    }
  };

  // A row of [start, end] pairs, by start.
  gph.rowOf = (list) => new gph.Row(d3.range(list.length), { start: list.map((x) => x[0]), end: list.map((x) => x[1]),
    kind: new Uint8Array(list.length), bad: Uint8Array.from(list, (x) => x[2] ? 1 : 0) });

  // Puts bars that overlap into rows of their own: up to `most`, the last takes what is left.
  gph.rows = function (ids, columns, most) {
    const rows = [], ends = [];
    for (const id of ids) {
      let r = 0;
      while (r < ends.length && r < most - 1 && columns.start[id] < ends[r]) r++;
      if (r === rows.length) { rows.push([]); ends.push(0); }
      rows[r].push(id);
      ends[r] = Math.max(ends[r], columns.end[id]);
    }
    return rows.map((list) => new gph.Row(list, columns));
  };
})(window.gph);
