// SPDX-License-Identifier: Apache-2.0
// Addresses over time: each allocation is a rectangle from its birth to its end. Ranges that nobody used are
// left out; ranges that were used again stand in one row, so reuse is seen. Above it the bytes alive.
(function (gph) {
  'use strict';
  const d = gph.data, m = d.memory, view = gph.view, canvas = gph.byId('memory'), n = m.a.length;
  if (!n) return;
  gph.show('memory-card', true);
  const GUTTER = gph.GUTTER, CURVE = 76, GAP = 5;
  const columns = { start: new Float64Array(n), end: new Float64Array(n), kind: new Uint8Array(n), bad: new Uint8Array(n) };
  for (let i = 0; i < n; i++) {
    columns.start[i] = m.from[i];
    columns.end[i] = m.to[i] < 0 ? d.span : m.to[i];
    columns.kind[i] = m.kind[i];
  }

  // Islands of addresses that touch or overlap, from low to high.
  const islands = [];
  for (const i of d3.range(n).sort((a, b) => m.a[a] - m.a[b] || a - b)) {
    const low = m.a[i], high = low + Math.max(1, m.b[i]), last = islands[islands.length - 1];
    if (last && low <= last.high) { last.ids.push(i); last.high = Math.max(last.high, high); } else islands.push({ low, high, ids: [i] });
  }
  const weight = (s) => Math.sqrt(s.high - s.low), total = d3.sum(islands, weight);
  const HIGH = Math.min(420, Math.max(90, islands.length * 9)), MIN = Math.max(0.5, Math.min(6, HIGH / islands.length / 2));
  const gap = islands.length > 60 ? 0.5 : islands.length > 25 ? 2 : GAP;
  let y = CURVE + 12;
  for (const s of islands.reverse()) { // high addresses on top
    s.y = y;
    s.height = Math.max(MIN, weight(s) / total * HIGH);
    y += s.height + gap;
    s.ids.sort((a, b) => columns.start[a] - columns.start[b]);
    s.row = new gph.Row(s.ids, columns);
  }
  const bottom = y + 8;
  const edge = (s, i) => { const k = s.height / (s.high - s.low); return [s.y + s.height - (m.a[i] - s.low + Math.max(1, m.b[i])) * k, Math.max(1, m.b[i] * k)]; };

  // Bytes alive by kind, as steps.
  const steps = [];
  const turns = [];
  for (let i = 0; i < n; i++) { turns.push([columns.start[i], m.b[i], m.kind[i]]); if (m.to[i] >= 0) turns.push([m.to[i], -m.b[i], m.kind[i]]); }
  turns.sort((a, b) => a[0] - b[0]);
  const used = [...new Set(columns.kind)].sort(), alive = new Array(8).fill(0);
  let peak = 0;
  for (const [t, by, kind] of turns) { alive[kind] += by; steps.push([t, ...used.map((k) => alive[k])]); peak = Math.max(peak, d3.sum(alive)); }
  gph.memoryPeak = peak;

  let spots = null;
  const curve = function (ctx, scale, width) {
    const height = d3.scaleLinear().domain([0, Math.max(1, peak)]).range([CURVE, 12]), c = gph.colour;
    const first = Math.max(0, d3.bisector((s) => s[0]).left(steps, view.from) - 1), last = d3.bisector((s) => s[0]).right(steps, view.to);
    const stride = Math.max(1, Math.ceil((last - first) / 1600)), shown = [];
    for (let i = first; i < last; i += stride) { // of a stride the fullest moment
      let best = i;
      for (let j = i; j < Math.min(last, i + stride); j++) if (d3.sum(steps[j].slice(1)) > d3.sum(steps[best].slice(1))) best = j;
      shown.push(steps[best]);
    }
    const base = shown.map(() => 0);
    used.forEach((kind, u) => {
      ctx.beginPath();
      const over = shown.map((s, i) => base[i] + s[u + 1]);
      const way = (list, back) => {
        for (let i = 0; i < shown.length; i++) {
          const at = back ? shown.length - 1 - i : i, x = Math.max(GUTTER, scale(shown[at][0])), next = at + 1 < shown.length ? scale(shown[at + 1][0]) : scale(Math.min(d.span, view.to));
          const h = height(list[at]);
          if (back) { ctx.lineTo(next, h); ctx.lineTo(x, h); } else { ctx.lineTo(x, h); ctx.lineTo(next, h); }
        }
      };
      way(over, false);
      way(base, true);
      ctx.fillStyle = c[gph.MEMORY[kind][0]];
      ctx.globalAlpha = 0.55;
      ctx.fill();
      over.forEach((v, i) => { base[i] = v; });
    });
    ctx.globalAlpha = 1;
    return height;
  };

  const paint = function () {
    const { ctx, width } = gph.fit(canvas, bottom), c = gph.colour, wide = Math.max(1, width - GUTTER);
    const scale = d3.scaleLinear().domain([view.from, view.to]).range([GUTTER, width]), per = (view.to - view.from) / wide;
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, 0, wide, bottom);
    ctx.clip();
    ctx.fillStyle = c.line;
    for (const t of scale.ticks(Math.max(2, wide / 110))) ctx.fillRect(Math.round(scale(t)), 0, 1, bottom);
    curve(ctx, scale, width);
    for (const s of islands) {
      ctx.globalAlpha = 0.5; ctx.fillStyle = c.soft;
      ctx.fillRect(GUTTER, s.y, wide, s.height);
      ctx.globalAlpha = 1;
      s.row.draw(view.from, per, wide, (id, x, w, kind) => {
        const [top, high] = edge(s, id), left = Math.max(-2, x), right = Math.min(wide + 2, x + w);
        ctx.fillStyle = c[gph.MEMORY[kind][0]];
        ctx.globalAlpha = gph.chosenMemory === id ? 1 : 0.82;
        if (right - left > 6 && high > 5) { ctx.beginPath(); ctx.roundRect(GUTTER + left, top, right - left - 1, high - 0.6, 2.5); ctx.fill(); }
        else ctx.fillRect(GUTTER + left, top, Math.max(1, right - left - 0.4), Math.max(0.8, high - 0.4));
        if (right - left > 64 && high > 13) {
          ctx.globalAlpha = 1; ctx.fillStyle = c.card; ctx.font = '11px ' + c.sans; ctx.textBaseline = 'middle';
          ctx.fillText(gph.short(gph.bytes(m.b[id]) + (m.pool[id] >= 0 ? ' · ' + d.pools[m.pool[id]].name : ''), Math.floor((right - left - 8) / 6.2)), GUTTER + left + 6, top + high / 2);
        }
      }, (x, shares, base) => {
        let kind = 0;
        for (let k = 1; k < 8; k++) if (shares[base + k] > shares[base + kind]) kind = k;
        ctx.globalAlpha = 0.3 + 0.6 * shares[base + kind];
        ctx.fillStyle = c[gph.MEMORY[kind][0]];
        ctx.fillRect(GUTTER + x, s.y, 1, s.height);
      });
      ctx.globalAlpha = 1;
    }
    ctx.restore();
    ctx.font = '12px ' + c.sans; ctx.fillStyle = c.ink; ctx.textBaseline = 'middle';
    ctx.fillText('alive', 16, 24);
    ctx.font = '11px ' + c.sans; ctx.fillStyle = c.muted;
    ctx.fillText('peak ' + gph.bytes(peak), 16, 42);
    let last = -Infinity;
    ctx.font = '10.5px ' + c.mono;
    for (const s of islands) if (s.y - last > 14) { last = s.y; ctx.fillText(gph.short(gph.hex(s.low), 18), 16, s.y + Math.min(8, s.height / 2 + 3)); }
    ctx.fillStyle = c.line; ctx.fillRect(0, CURVE + 4, width, 1);
    spots = { wide };
  };

  const under = function (e) {
    if (e.offsetX < GUTTER) return -1;
    const time = timeAt(e.offsetX), slack = (view.to - view.from) / spots.wide * 2;
    const s = islands.find((x) => e.offsetY >= x.y - gap / 2 && e.offsetY <= x.y + x.height + gap / 2);
    if (!s) return -1;
    let best = -1;
    for (const i of s.ids) {
      const [top, high] = edge(s, i);
      if (columns.start[i] <= time + slack && columns.end[i] >= time - slack && e.offsetY >= top - 1 && e.offsetY <= top + high + 1) best = i;
    }
    return best;
  };
  const tell = function (i) {
    const frames = d.framesOf(m.stack[i]), same = islands.find((s) => s.ids.includes(i)).ids.filter((j) => j !== i && m.a[j] < m.a[i] + m.b[i] && m.a[i] < m.a[j] + m.b[j]);
    return [gph.hex(m.a[i]) + ' … ' + gph.hex(m.a[i] + m.b[i]), gph.MEMORY[m.kind[i]][1] + (m.pool[i] >= 0 ? ', pool ' + d.pools[m.pool[i]].name : '') + (m.capture[i] >= 0 ? ', made in a capture' : ''),
      (m.to[i] < 0 ? 'from ' + gph.time(columns.start[i]) + ', never freed' : gph.time(columns.start[i]) + ' … ' + gph.time(columns.end[i])),
      same.length ? 'its addresses served ' + gph.plural(same.length, 'other allocation') : '', frames.length ? 'by ' + frames[0].name + ' ' + gph.place(frames[0]) : ''];
  };
  const timeAt = gph.gestures(canvas, GUTTER, {
    hover(e) { const i = under(e); canvas.style.cursor = i >= 0 ? 'pointer' : ''; gph.tip(i >= 0 ? e : null, i >= 0 ? gph.bytes(m.b[i]) : '', i >= 0 ? tell(i) : []); },
    click(e) { const i = under(e); gph.chosenMemory = i; if (i >= 0 && m.call[i] >= 0) gph.select('call', m.call[i]); view.changed(); },
    keys: gph.timelineKeys
  });

  const reused = islands.reduce((sum, s) => sum + (s.ids.length > 1 ? 1 : 0), 0);
  gph.byId('memory-note').textContent = gph.plural(n, 'allocation') + (n < m.count ? ' of ' + gph.count(m.count) : '') + ' in ' + gph.plural(islands.length, 'range') +
    ', ' + gph.count(reused) + ' used by more than one; peak ' + gph.bytes(peak) + '. Height grows with the root of the size.';
  gph.legend('memory-legend', gph.MEMORY, new Set(columns.kind));
  view.onDraw(paint);
})(window.gph);
