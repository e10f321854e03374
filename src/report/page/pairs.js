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

  // Where a row of functions stands in a row of launches, one behind the other: a rolling sum finds places, a
  // comparison makes sure.
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
    if (found.length) pairs.push({ g, exec, want, found, mine });
  });
  if (!pairs.length) return;
  gph.show('pairs-card', true);
  gph.pairs = pairs;

  const spanOf = (list) => d.end[list[list.length - 1]] - d.start[list[0]];
  const insideOf = (list) => d3.sum(list, (i) => d.end[i] - d.start[i]);
  const middle = (list, f) => [...list].sort((a, b) => f(a) - f(b))[list.length >> 1];
  const strip = function (calls, longest) {
    const ns = 'http://www.w3.org/2000/svg', svg = document.createElementNS(ns, 'svg'), from = d.start[calls[0]];
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', gph.plural(calls.length, 'call') + ' in ' + gph.time(spanOf(calls)));
    for (const i of calls) {
      const bar = document.createElementNS(ns, 'rect');
      bar.setAttribute('x', (d.start[i] - from) / longest * 100 + '%');
      bar.setAttribute('width', Math.max(0.25, (d.end[i] - d.start[i]) / longest * 100) + '%');
      bar.setAttribute('height', 24);
      bar.setAttribute('rx', 2);
      bar.style.fill = 'var(--' + gph.KINDS[d.kind[i]][0] + ')';
      svg.append(bar);
    }
    svg.style.cursor = 'pointer';
    svg.onclick = () => { gph.select('call', calls[0]); gph.view.focus(from, d.end[calls[calls.length - 1]]); };
    return svg;
  };
  pairs.slice(0, 4).forEach((p) => {
    const eager = middle(p.found, spanOf), long = spanOf(eager), one = middle(p.mine, (i) => d.end[i] - d.start[i]);
    const slow = gph.median(p.found.map(insideOf)), fast = insideOf([one]), box = el('div', 'pair');
    box.append(el('p', 'lead', [el('b', '', p.g.title), ': ' + gph.plural(p.want.length, 'kernel') + '. As a graph it takes ', el('b', '', gph.percent(fast / slow)), ' of the host time that its launches take one by one.']),
      el('span', 'who', 'eager'), strip(eager, long), el('span', 'n', [gph.time(slow) + ' ', el('small', '', 'in ' + gph.plural(eager.length, 'call') + ', ' + gph.count(p.found.length) + ' ×')]),
      el('span', 'who', 'graph'), strip([one], Math.max(long, fast)), el('span', 'n', [gph.time(fast) + ' ', el('small', '', 'in 1 call, ' + gph.count(p.mine.length) + ' ×')]));
    gph.byId('pairs').append(box);
  });
})(window.gph);
