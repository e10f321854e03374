// SPDX-License-Identifier: Apache-2.0
// The page's head, and the first paint.
(function (gph) {
  'use strict';
  const d = gph.data, h = d.head, el = gph.el, byId = gph.byId;
  const name = (h.program[0] || 'a program').replace(/^.*\//, '');
  document.title = name + ' · gph doctor';
  byId('program').textContent = gph.short([name, ...h.program.slice(1)].join(' '), 160);

  const counts = { error: 0, warning: 0, info: 0 };
  for (const f of d.findings) counts[f.severity]++;
  const parts = [];
  if (counts.error) parts.push(el('b', 'error', gph.plural(counts.error, 'error')));
  if (counts.warning) parts.push(el('b', 'warning', gph.plural(counts.warning, 'warning')));
  if (!parts.length) parts.push(h.calls ? el('b', 'good', 'No errors, no warnings') : el('b', '', 'No driver call was seen'));
  if (counts.info) parts.push(el('b', '', gph.plural(counts.info, 'note')));
  const verdict = byId('verdict');
  parts.forEach((part, i) => verdict.append(i ? (i + 1 < parts.length ? ', ' : ' and ') : '', part));
  verdict.append(h.exit > 128 ? '. It was ended by signal ' + (h.exit - 128) + '.' : h.exit ? '. It left with exit code ' + h.exit + '.' : '. It left with exit code 0.');

  const facts = byId('facts');
  const fact = (term, text) => { if (text) facts.append(el('dt', '', term), el('dd', '', text)); };
  fact('driver', h.driver);
  for (const v of h.devices) fact('device', v.name + (v.cc ? ', compute capability ' + v.cc : '') + (v.bytes ? ', ' + gph.bytes(v.bytes) : ''));
  fact('process', h.pid ? String(h.pid) : '');
  if (h.began) fact('began', new Date(h.began).toLocaleString());

  const sum = (kind) => d3.sum(d.counts.filter((c) => gph.KINDS[c[5]][0] === kind), (c) => c[1]);
  const launches = sum('kernel'), graphs = sum('graph');
  const tile = (value, word) => byId('tiles').append(el('li', '', [el('b', '', value), el('span', '', word)]));
  tile(gph.time(h.span), 'first to last call');
  tile(gph.count(h.calls), 'driver calls');
  tile(gph.count(launches), 'kernel launches, captured too');
  tile(gph.count(graphs), 'graph launches');
  tile(gph.count(d.captures.length), 'captures');
  tile(gph.count(d.execs.length), 'executables');
  tile(gph.count(d.streams.filter((s, i) => d.work[i].length).length), 'streams with work');
  if (gph.memoryPeak) tile(gph.bytes(gph.memoryPeak), 'memory at its peak');
  if (h.lost) tile(gph.count(h.lost), 'records lost');

  byId('foot').textContent = 'Written by gph ' + h.gph + '. This file is whole: it loads nothing and sends nothing.';
  if (h.dropped) tile(gph.count(h.dropped), 'records without memory for them');
  gph.select('call', null);
  gph.openFirst();
  gph.view.from = -d.span * 0.02;
  gph.view.to = d.span * 1.02;
  if (gph.drawGraph) gph.drawGraph();
  gph.paintAll();
  requestAnimationFrame(() => { gph.firstPaint = performance.now(); document.documentElement.dataset.ready = '1'; });
  let width = innerWidth;
  new ResizeObserver(() => { if (gph.drawGraph && width !== innerWidth) { width = innerWidth; gph.drawGraph(); } gph.redraw(); }).observe(byId('main'));
})(window.gph);
