// SPDX-License-Identifier: Apache-2.0
// Addresses over time: each allocation is a rectangle from its birth to its end. Ranges that nobody used are
// left out; ranges that were used again are in one row, so reuse is seen. Above it the bytes alive.
(function (gph) {
  'use strict';
  const d = gph.data, m = d.memory, view = gph.view, canvas = gph.byId('memory'), n = m.a.length;
  if (!n) return;
  gph.show('memory-card', true);
  const GUTTER = gph.GUTTER, CURVE = 76, GAP = 5, MOST = 70, FLAT = 2;
  const columns = { start: new Float64Array(n), end: new Float64Array(n), kind: new Uint8Array(n), bad: new Uint8Array(n) };
  for (let i = 0; i < n; i++) {
    columns.start[i] = m.from[i];
    columns.end[i] = m.to[i] < 0 ? d.span : m.to[i];
    columns.kind[i] = m.kind[i];
  }

  // Islands of addresses that touch or overlap, from low to high.
  const islands = [], byAddress = Uint32Array.from(d3.range(n)).sort((a, b) => m.a[a] - m.a[b] || a - b);
  for (const i of byAddress) {
    const low = m.a[i], high = low + Math.max(1, m.b[i]), last = islands[islands.length - 1];
    if (last && low <= last.high) { last.ids.push(i); last.high = Math.max(last.high, high); } else islands.push({ low, high, ids: [i] });
  }
  // Each island is a row; of very many, those with the smallest gaps between them share one.
  const jumps = islands.map((s, i) => i ? s.low - islands[i - 1].high : Infinity), least = [...jumps].sort((a, b) => b - a)[Math.min(MOST, islands.length) - 1];
  const rows = [], off = new Float64Array(n); // off: of an allocation from its row's lowest byte
  islands.forEach((s, i) => {
    if (jumps[i] >= least && rows.length < MOST) rows.push({ low: s.low, size: 0, islands: 0, ids: [] });
    const row = rows[rows.length - 1];
    for (const id of s.ids) { off[id] = row.size + m.a[id] - s.low; row.ids.push(id); }
    row.size += s.high - s.low;
    row.islands++;
  });
  const weight = (s) => Math.sqrt(s.size), total = d3.sum(rows, weight);
  const HIGH = Math.min(420, Math.max(90, rows.length * 9)), MIN = Math.max(1, Math.min(6, HIGH / rows.length / 2));
  const gap = rows.length > 60 ? 1 : rows.length > 25 ? 2 : GAP;
  let y = CURVE + 12;
  for (const s of rows.reverse()) { // high addresses on top
    s.y = y;
    s.height = Math.max(MIN, weight(s) / total * HIGH);
    y += s.height + gap;
  }
  const bottom = Math.ceil(y + 8);
  const top = (s, i) => s.y + s.height - (off[i] + Math.max(1, m.b[i])) * s.height / s.size;
  const tall = (s, i) => Math.max(1, m.b[i] * s.height / s.size);

  // What is drawn at one height is a strip: allocations that come one after the other. Those lower than FLAT pixels
  // lie with others in one strip, where what overlaps is one piece: no more pieces than a line of pixels has.
  const flatten = function (ids) {
    const pieces = [];
    for (const i of ids) {
      const last = pieces[pieces.length - 1];
      if (last && columns.start[i] <= last.end) last.end = Math.max(last.end, columns.end[i]);
      else pieces.push({ start: columns.start[i], end: columns.end[i], kind: columns.kind[i] });
    }
    const of = (key) => pieces.map((piece) => piece[key]);
    return new gph.Row(d3.range(pieces.length), { start: of('start'), end: of('end'), kind: of('kind'), bad: new Uint8Array(pieces.length) });
  };
  for (const s of rows) {
    const strips = new Map();
    s.ids.sort((a, b) => columns.start[a] - columns.start[b]);
    for (const i of s.ids) {
      const high = m.b[i] * s.height / s.size, flat = high < FLAT, from = top(s, i) - s.y;
      const key = flat ? 'flat ' + Math.floor(from / FLAT) : Math.round(from) + ' ' + Math.round(high);
      if (!strips.has(key)) strips.set(key, { flat, y: flat ? s.y + Math.floor(from / FLAT) * FLAT : top(s, i), height: flat ? Math.min(FLAT, s.height) : tall(s, i), ids: [] });
      strips.get(key).ids.push(i);
    }
    s.strips = [...strips.values()];
    for (const strip of s.strips) strip.row = strip.flat ? flatten(strip.ids) : new gph.Row(strip.ids, columns);
  }

  // Bytes alive by kind after each change, in columns; above them the fullest of eight, of sixty-four, and so on.
  const used = [...new Set(columns.kind)].sort(), turns = [];
  for (let i = 0; i < n; i++) { turns.push([columns.start[i], m.b[i], m.kind[i]]); if (m.to[i] >= 0) turns.push([m.to[i], -m.b[i], m.kind[i]]); }
  turns.sort((a, b) => a[0] - b[0]);
  const times = Float64Array.from(turns, (x) => x[0]), sums = new Float64Array(turns.length), byKind = used.map(() => new Float64Array(turns.length));
  const alive = new Array(8).fill(0);
  let now = 0, peak = 0;
  turns.forEach(([, by, kind], i) => {
    alive[kind] += by;
    sums[i] = now += by;
    used.forEach((k, u) => { byKind[u][i] = alive[k]; });
    peak = Math.max(peak, now);
  });
  gph.memoryPeak = peak;
  const fullest = [Uint32Array.from(d3.range(turns.length))];
  while (fullest[fullest.length - 1].length > 1) {
    const low = fullest[fullest.length - 1], up = new Uint32Array(Math.ceil(low.length / 8));
    for (let i = 0; i < low.length; i++) if (i % 8 === 0 || sums[low[i]] > sums[up[i >> 3]]) up[i >> 3] = low[i];
    fullest.push(up);
  }
  const fullestOf = function (from, to) { // of changes [from, to)
    let best = from;
    for (let level = 0; from < to; level++, from >>= 3, to >>= 3) {
      const list = fullest[level];
      while (from < to && (from & 7)) { if (sums[list[from]] > sums[best]) best = list[from]; from++; }
      while (from < to && (to & 7)) { to--; if (sums[list[to]] > sums[best]) best = list[to]; }
    }
    return best;
  };

  // A pixel's column is as high as its fullest moment.
  const curve = function (ctx, per, wide) {
    const high = (bytes) => CURVE - bytes / Math.max(1, peak) * (CURVE - 12), xs = [], at = [];
    const end = Math.min(wide, Math.ceil((d.span - view.from) / per));
    let i = d3.bisectRight(times, view.from) - 1;
    for (let x = Math.max(0, Math.floor(-view.from / per)); x < end; x++) {
      const next = d3.bisectLeft(times, view.from + (x + 1) * per, Math.max(0, i));
      const best = i < 0 ? (next > 0 ? fullestOf(0, next) : -1) : fullestOf(i, Math.max(i + 1, next));
      if (best >= 0 && best !== at[at.length - 1]) { xs.push(x); at.push(best); }
      i = Math.max(i, next - 1);
    }
    if (!at.length) return;
    xs.push(end);
    const base = new Float64Array(at.length);
    used.forEach((kind, u) => {
      ctx.beginPath();
      for (let j = 0; j < at.length; j++) { const h = high(base[j] + byKind[u][at[j]]); ctx.lineTo(GUTTER + xs[j], h); ctx.lineTo(GUTTER + xs[j + 1], h); }
      for (let j = at.length - 1; j >= 0; j--) { const h = high(base[j]); ctx.lineTo(GUTTER + xs[j + 1], h); ctx.lineTo(GUTTER + xs[j], h); base[j] += byKind[u][at[j]]; }
      ctx.fillStyle = gph.colour[gph.MEMORY[kind][0]];
      ctx.globalAlpha = 0.55;
      ctx.fill();
    });
    ctx.globalAlpha = 1;
  };

  const dots = new gph.Dots();
  const dot = function (strip, left, right, rgb, alpha) {
    const y = Math.round(strip.y);
    dots.put(left, y, right, Math.max(y + 1, Math.round(strip.y + strip.height - 0.4)), rgb, alpha);
  };
  let shownWide = 1;
  const paint = function () {
    const { ctx, width } = gph.fit(canvas, bottom), c = gph.colour, wide = Math.max(1, width - GUTTER), per = (view.to - view.from) / wide;
    const scale = d3.scaleLinear().domain([view.from, view.to]).range([GUTTER, width]), rgb = gph.MEMORY.map(([name]) => gph.rgb(c[name]));
    shownWide = wide;
    dots.clear(wide, bottom);
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, 0, wide, bottom);
    ctx.clip();
    ctx.fillStyle = c.line;
    for (const t of scale.ticks(Math.max(2, wide / 110))) ctx.fillRect(Math.round(scale(t)), 0, 1, bottom);
    curve(ctx, per, wide);
    const large = [];
    for (const s of rows) {
      ctx.globalAlpha = 0.5; ctx.fillStyle = c.soft;
      ctx.fillRect(GUTTER, s.y, wide, s.height);
      for (const strip of s.strips) strip.row.draw(view.from, per, wide, (id, x, w, kind) => {
        const left = Math.max(-2, x), right = Math.min(wide + 2, x + w);
        if (!strip.flat && right - left > 6 && strip.height > 3) large.push(id, left, right - left, strip.y, strip.height);
        else dot(strip, Math.floor(left), Math.max(Math.floor(left) + 1, Math.round(right - 0.4)), rgb[kind], 209);
      }, (x, shares, base) => {
        let kind = 0;
        for (let k = 1; k < 8; k++) if (shares[base + k] > shares[base + kind]) kind = k;
        dot(strip, x, x + 1, rgb[kind], 76 + 153 * shares[base + kind]);
      });
    }
    ctx.globalAlpha = 1;
    dots.show(ctx, GUTTER, 0);
    for (let i = 0; i < large.length; i += 5) block(ctx, large[i], large[i + 1], large[i + 2], large[i + 3], large[i + 4]);
    ctx.restore();
    captions(ctx, width);
  };
  const block = function (ctx, id, x, w, y, h) {
    const c = gph.colour;
    ctx.fillStyle = c[gph.MEMORY[m.kind[id]][0]];
    ctx.globalAlpha = gph.chosenMemory === id ? 1 : 0.82;
    if (h > 5) { ctx.beginPath(); ctx.roundRect(GUTTER + x, y, w - 1, h - 0.6, 2.5); ctx.fill(); } else ctx.fillRect(GUTTER + x, y, w - 0.4, h - 0.4);
    ctx.globalAlpha = 1;
    if (w < 64 || h < 13) return;
    ctx.fillStyle = c.card; ctx.font = '11px ' + c.sans; ctx.textBaseline = 'middle';
    ctx.fillText(gph.short(gph.bytes(m.b[id]) + (m.pool[id] >= 0 ? ' · ' + d.pools[m.pool[id]].name : ''), Math.floor((w - 8) / 6.2)), GUTTER + x + 6, y + h / 2);
  };
  const tail = (text, most) => text.length <= most ? text : '…' + text.slice(1 - most); // addresses differ at their end
  const captions = function (ctx, width) {
    const c = gph.colour;
    ctx.font = '12px ' + c.sans; ctx.fillStyle = c.ink; ctx.textBaseline = 'middle';
    ctx.fillText(gph.say('alive'), 16, 24);
    ctx.font = '11px ' + c.sans; ctx.fillStyle = c.muted;
    ctx.fillText(gph.say('peak {0}', gph.bytes(peak)), 16, 42);
    let last = -Infinity;
    ctx.font = '10.5px ' + c.mono;
    for (const s of rows) if (s.y - last > 14) { last = s.y; ctx.fillText(tail(gph.hex(s.low), Math.floor((GUTTER - 20) / 6.4)), 16, s.y + Math.min(8, s.height / 2 + 3)); }
    ctx.fillStyle = c.line; ctx.fillRect(0, CURVE + 4, width, 1);
  };

  const under = function (e) {
    if (e.offsetX < GUTTER) return -1;
    const time = timeAt(e.offsetX), slack = (view.to - view.from) / shownWide * 2;
    const s = rows.find((x) => e.offsetY >= x.y - gap / 2 && e.offsetY <= x.y + x.height + gap / 2);
    if (!s) return -1;
    let best = -1;
    for (const i of s.ids)
      if (columns.start[i] <= time + slack && columns.end[i] >= time - slack && e.offsetY >= top(s, i) - 1 && e.offsetY <= top(s, i) + tall(s, i) + 1) best = i;
    return best;
  };
  const describe = function (i) {
    const frames = d.framesOf(m.stack[i]);
    let same = 0;
    for (let j = 0; j < n; j++) if (j !== i && m.a[j] < m.a[i] + m.b[i] && m.a[i] < m.a[j] + m.b[j]) same++;
    return [gph.hex(m.a[i]) + ' … ' + gph.hex(m.a[i] + m.b[i]), gph.MEMORY[m.kind[i]][1] + (m.pool[i] >= 0 ? gph.say(', ') + gph.say('pool {0}', d.pools[m.pool[i]].name) : '') + (m.capture[i] >= 0 ? gph.say(', made in a capture') : ''),
      (m.to[i] < 0 ? gph.say('from {0}, never freed', gph.time(columns.start[i])) : gph.time(columns.start[i]) + ' … ' + gph.time(columns.end[i])),
      same ? gph.say('its addresses served {0}', gph.plural(same, 'other allocation')) : '', frames.length ? gph.say('by {0}', frames[0].name + ' ' + gph.place(frames[0])) : ''];
  };
  const timeAt = gph.gestures(canvas, GUTTER, {
    hover(e) { const i = under(e); canvas.style.cursor = i >= 0 ? 'pointer' : ''; gph.tip(i >= 0 ? e : null, i >= 0 ? gph.bytes(m.b[i]) : '', i >= 0 ? describe(i) : []); },
    click(e) { const i = under(e); gph.chosenMemory = i; if (i >= 0 && m.call[i] >= 0) gph.select('call', m.call[i]); view.changed(); },
    keys: gph.timelineKeys
  });

  let reused = 0, above = 0;
  for (const i of byAddress) { if (m.a[i] < above) reused++; above = Math.max(above, m.a[i] + m.b[i]); }
  gph.byId('memory-note').textContent = gph.say('{0} in {1}', gph.plural(n, 'allocation') + (n < m.count ? gph.say(' of {0}', gph.count(m.count)) : ''),
    gph.plural(islands.length, 'range') + (rows.length < islands.length ? gph.say(' in {0} rows', gph.count(rows.length)) : '')) +
    (reused ? gph.say(', {0} at addresses that earlier ones had', gph.count(reused)) : '') + gph.say('; peak {0}. Heights grow with the square root of the size.', gph.bytes(peak));
  gph.legend('memory-legend', gph.MEMORY, new Set(columns.kind));
  view.onDraw(paint);
})(window.gph);
