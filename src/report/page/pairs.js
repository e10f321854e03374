// SPDX-License-Identifier: Apache-2.0
// The same kernels launched one by one and as a graph: found by their names in order, shown at one scale.
(function (gph) {
  'use strict';
  const d = gph.data, el = gph.el;
  if (!d.graphs.length || !d.n) return;

  // Eager launches of each thread and stream, in order; not those that a capture took.
  const rows = new Map(), launches = new Map();
  for (let i = 0; i < d.n; i++) {
    const kind = gph.KINDS[d.kind[i]][0];
    if (d.bad[i]) continue;
    if (kind === 'graph' && d.object[i] >= 0) {
      if (!launches.has(d.object[i])) launches.set(d.object[i], []);
      launches.get(d.object[i]).push(i);
    } else if (kind === 'kernel' && d.object[i] >= 0 && !d.captured[i]) {
      const key = d.thread[i] * 70000 + d.stream[i];
      if (!rows.has(key)) rows.set(key, []);
      rows.get(key).push(i);
    }
  }

  // Where a row of functions is in a row of launches, one after the other: a rolling sum finds
  // places, a comparison makes sure.
  const find = function (row, want) {
    const found = [], size = want.length, weigh = (f) => (f + 7) * (f + 13), goal = d3.sum(want, weigh);
    let sum = 0, first = 0;
    for (let i = 0; i < row.length; i++) {
      sum += weigh(d.object[row[i]]);
      if (i - first >= size) sum -= weigh(d.object[row[first++]]);
      if (i - first + 1 < size || sum !== goal || !want.every((f, j) => d.object[row[first + j]] === f)) continue;
      found.push(row.slice(first, i + 1));
      first = i + 1;
      sum = 0;
    }
    return found;
  };

  const pairs = [];
  d.execs.forEach((exec, x) => {
    const g = d.graphs[exec.graph], mine = launches.get(x);
    if (!g || !mine) return;
    const want = g.fn.filter((f) => f >= 0);
    if (g.count > g.kind.length || want.length < 2 || pairs.some((p) => p.want.join() === want.join())) return;
    const found = [...rows.values()].flatMap((row) => find(row, want));
    if (found.length) pairs.push({ g, exec, want, found, mine: mine.map((i) => [i]) });
  });
  if (!pairs.length) return;
  gph.show('pairs-card', true);
  gph.pairs = pairs;

  // What one repetition took: its calls, and until its work was seen done; 0: that was not seen.
  const measure = function (list) {
    const first = list[0], last = list[list.length - 1], stream = d.stream[last], from = d.start[first];
    const done = list.every((i) => d.doneBy[i] > 0) ? d3.max(list, (i) => d.doneBy[i]) : 0;
    let host = 0, busy = 0;
    for (const i of list) host += d.end[i] - d.start[i];
    const gpu = [];
    if (d.gpu.n) {
      const until = done || d.end[last];
      for (let i = d3.bisectLeft(d.gpu.start, from); i < d.gpu.n && d.gpu.start[i] < until; i++) if (d.gpu.stream[i] === stream) gpu.push(i);
      let last = 0; // kernels may run at once: what counts is when any did
      for (const i of gpu) { busy += Math.max(0, d.gpu.end[i] - Math.max(last, d.gpu.start[i])); last = Math.max(last, d.gpu.end[i]); }
    }
    return { list, from, host, done: done ? done - from : 0, until: Math.max(done, d.end[last]), gpu, busy };
  };
  // The repetition in the middle, and the medians of all.
  const middle = function (lists) {
    const all = lists.map(measure), seen = all.some((x) => x.done) ? all.filter((x) => x.done) : all, key = (x) => x.done || x.host;
    const shown = [...seen].sort((a, b) => key(a) - key(b))[seen.length >> 1];
    return { ...shown, count: all.length, hosts: gph.median(all.map((x) => x.host)), dones: gph.median(seen.map((x) => x.done)), busys: gph.median(all.map((x) => x.busy)) };
  };

  // Rows of a repetition, with times from its first call on: all calls of its thread until its work was seen done,
  // and under them the GPU: what was measured, or from when until when it was under way at most.
  const partsOf = function (one, word, y) {
    const thread = d.thread[one.list[0]], ids = [];
    for (let i = one.list[0]; i < d.n && d.start[i] < one.until && ids.length < 20000; i++) if (d.thread[i] === thread) ids.push(i);
    const shifted = (of, list) => ({ start: list.map((i) => of.start[i] - one.from), end: list.map((i) => of.end[i] - one.from), kind: list.map((i) => of.kind[i]), bad: list.map((i) => of.bad[i]) });
    const gpu = gph.rows(d3.range(one.gpu.length), shifted(d.gpu, one.gpu), 3), high = gpu.length > 1 ? 18 / gpu.length - 1 : 16;
    return [{ label: word, sub: gph.say('host'), y, height: 22, ids, source: 'call', row: new gph.Row(d3.range(ids.length), shifted(d, ids)) },
      ...(gpu.length ? gpu.map((row, i) => ({ label: '', sub: i ? '' : 'GPU', y: y + 25 + i * (high + 1), height: high, ids: one.gpu, source: 'gpu', row }))
        : [{ label: '', sub: gph.say('GPU, at most'), y: y + 25, height: 16, ids: [], source: 'gpu', row: gph.rowOf([]), band: one.done }])];
  };

  const TOP = 30, HIGH = 168, GUTTER = gph.GUTTER;
  const compare = function (eager, graph, title) {
    const span = Math.max(eager.until - eager.from, graph.until - graph.from), view = gph.makeView(span, 20), parts = [...partsOf(eager, gph.say('eager'), TOP + 12), ...partsOf(graph, gph.say('as a graph'), TOP + 82)];
    const canvas = el('canvas', { class: 'compare', tabindex: 0, role: 'application', 'aria-label': gph.say('{0}: eager above, as a graph below, at one scale. Arrow keys pan, plus and minus zoom, 0 shows all.', title) }), dots = new gph.Dots();
    view.from = -span * 0.02;
    view.to = span * 1.02;
    const textOf = (part, k) => part.source === 'gpu' ? gph.brief(d.gpu.name[part.ids[k]] || gph.say('work')) : d.label(part.ids[k]);
    view.onDraw(function () {
      const { ctx, width } = gph.fit(canvas, HIGH), wide = Math.max(1, width - GUTTER), perPixel = (view.to - view.from) / wide, pieces = [], c = gph.colour;
      const scale = d3.scaleLinear().domain([view.from, view.to]).range([GUTTER, width]), rgb = gph.palette();
      gph.ruler(ctx, scale, { from: view.from, to: view.to, gutter: GUTTER, width, top: TOP, bottom: HIGH });
      dots.clear(wide, HIGH);
      ctx.save();
      ctx.beginPath();
      ctx.rect(GUTTER, 0, wide, HIGH);
      ctx.clip();
      for (const part of parts) {
        ctx.fillStyle = c.wait;
        if (part.band) ctx.fillRect(scale(0), part.y, scale(part.band) - scale(0), part.height);
        gph.putRow(dots, part, Math.round(part.y), view.from, perPixel, wide, rgb, pieces);
      }
      dots.show(ctx, GUTTER, 0);
      gph.drawWide(ctx, GUTTER, pieces, textOf);
      ctx.fillStyle = c.muted; ctx.font = '11px ' + c.sans; ctx.textBaseline = 'middle';
      for (const part of parts) if (part.band) ctx.fillText(gph.say('finished within {0}', gph.time(part.band)), Math.max(GUTTER, scale(0)) + 6, part.y + part.height / 2 + 0.5);
      ctx.restore();
      for (const part of parts) {
        ctx.font = '600 12px ' + c.sans; ctx.fillStyle = c.ink;
        ctx.fillText(part.label, 16, part.y + part.height / 2);
        ctx.font = '11px ' + c.sans; ctx.fillStyle = c.muted; ctx.textAlign = 'right';
        ctx.fillText(GUTTER < 120 && part.label ? '' : part.sub, GUTTER - 10, part.y + (part.label ? part.height / 2 : 8));
        ctx.textAlign = 'left';
      }
    });
    const under = function (e) {
      const part = parts.find((p) => e.offsetY >= p.y && e.offsetY <= p.y + p.height);
      const k = part && e.offsetX >= GUTTER ? part.row.at(timeAt(e.offsetX), (view.to - view.from) / Math.max(1, canvas.clientWidth - GUTTER) * 3) : -1;
      return k < 0 ? null : { part, k };
    };
    const timeAt = gph.gestures(canvas, GUTTER, {
      hover(e) {
        const it = under(e), of = it && it.part.row.of;
        canvas.style.cursor = it ? 'pointer' : '';
        gph.tip(it ? e : null, it ? textOf(it.part, it.k) : '', it ? [gph.say('{0}, {1} after the first call', gph.time(of.end[it.k] - of.start[it.k]), gph.time(of.start[it.k]))] : []);
      },
      click(e) {
        const it = under(e);
        if (!it) return;
        const i = it.part.ids[it.k], of = it.part.source === 'gpu' ? d.gpu : d;
        gph.select(it.part.source, i);
        gph.view.focus(of.start[i], of.end[i]);
      }
    }, view);
    return canvas;
  };

  const figures = function (eager, graph) {
    const rows = [[gph.say('host time in its calls'), eager.hosts, graph.hosts]];
    if (eager.dones && graph.dones) rows.push([gph.say('first call until known to be finished'), eager.dones, graph.dones]);
    if (eager.busys && graph.busys) rows.push([gph.say('GPU busy'), eager.busys, graph.busys]);
    const cell = (text) => el('td', 'n', text);
    return el('table', 'figures', [el('thead', '', el('tr', '', [el('th', '', gph.say('medians')), el('th', 'n', gph.say('eager, {0}', gph.plural(eager.count, 'time'))), el('th', 'n', gph.say('graph, {0}', gph.plural(graph.count, 'time'))),
      el('th', 'n', gph.say('graph / eager'))])),
      el('tbody', '', rows.map(([word, a, b]) => el('tr', '', [el('td', '', word), cell(gph.time(a)), cell(gph.time(b)), cell(gph.percent(b / a))])))]);
  };
  // A gain counts if neither the host nor the whole of it took longer.
  const isSlower = gph.isSlower = (eager, graph) => graph.hosts >= eager.hosts || (eager.dones > 0 && graph.dones > eager.dones * 1.02);
  pairs.slice(0, 4).forEach((p) => {
    const eager = middle(p.found), graph = middle(p.mine), lead = el('p', 'lead', [el('b', '', p.g.title), gph.say(': {0}. As a graph it takes ', gph.plural(p.want.length, 'kernel')),
      el(isSlower(eager, graph) ? 'span' : 'b', '', gph.percent(graph.hosts / eager.hosts)), gph.say(' of the host time that its launches take one by one.'),
      isSlower(eager, graph) ? el('span', 'slower', graph.hosts < eager.hosts ? gph.say(' It ends later as a graph.') : gph.say(' Slower as a graph.')) : null]);
    gph.byId('pairs').append(el('div', 'pair', [lead, compare(eager, graph, p.g.title), figures(eager, graph)]));
  });
})(window.gph);
