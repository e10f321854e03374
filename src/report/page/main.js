// SPDX-License-Identifier: Apache-2.0
// The page's head, and the first paint.
(function (gph) {
  'use strict';
  const d = gph.data, h = d.head, el = gph.el, byId = gph.byId;
  const name = (h.program[0] || gph.say('a program')).replace(/^.*\//, '');
  document.title = name + ' · gph doctor';
  byId('program').textContent = gph.short([name, ...h.program.slice(1)].join(' '), 160);

  const counts = { error: 0, warning: 0, info: 0 };
  for (const f of d.findings) counts[f.severity]++;
  const parts = [];
  if (counts.error) parts.push(el('b', 'error', gph.plural(counts.error, 'error')));
  if (counts.warning) parts.push(el('b', 'warning', gph.plural(counts.warning, 'warning')));
  if (!parts.length) parts.push(h.calls ? el('b', 'good', gph.say('No errors, no warnings')) : el('b', '', gph.say('No driver call was seen')));
  if (counts.info) parts.push(el('b', '', gph.plural(counts.info, 'note')));
  const verdict = byId('verdict');
  parts.forEach((part, i) => verdict.append(i ? (i + 1 < parts.length ? gph.say(', ') : gph.say(' and ')) : '', part));
  verdict.append(h.exit > 128 ? gph.say('. It was ended by signal {0}.', h.exit - 128) : gph.say('. It ended with exit code {0}.', h.exit));

  const facts = byId('facts');
  const fact = (term, text) => { if (text) facts.append(el('dt', '', term), el('dd', '', text)); };
  fact(gph.say('driver'), h.driver);
  for (const v of h.devices) fact(gph.say('device'), v.name + (v.cc ? gph.say(', compute capability {0}', v.cc) : '') + (v.bytes ? gph.say(', ') + gph.bytes(v.bytes) : ''));
  fact(gph.say('process'), h.pid ? String(h.pid) : '');
  if (h.began) fact(gph.say('began'), new Date(h.began).toLocaleString(gph.isChinese ? 'zh-CN' : undefined));

  const sum = (kind) => d3.sum(d.counts.filter((c) => gph.KINDS[c[5]][0] === kind), (c) => c[1]);
  const launches = sum('kernel'), graphs = sum('graph');
  const tile = (value, word) => byId('tiles').append(el('li', '', [el('b', '', value), el('span', '', word)]));
  tile(gph.time(h.span), gph.say('first to last call'));
  tile(gph.count(h.calls), gph.say('driver calls'));
  tile(gph.count(launches), gph.say('kernel launches, captured too'));
  tile(gph.count(graphs), gph.say('graph launches'));
  tile(gph.count(d.captures.length), gph.say('captures'));
  tile(gph.count(d.execs.length), gph.say('executables'));
  tile(gph.count(d.streams.filter((s, i) => d.work[i].length).length), gph.say('streams with work'));
  if (gph.memoryPeak) tile(gph.bytes(gph.memoryPeak), gph.say('memory at its peak'));
  if (h.lost) tile(gph.count(h.lost), gph.say('records lost'));

  byId('foot').textContent = gph.say('Written by gph {0}. This file is complete: it loads nothing and sends nothing.', h.gph);
  if (h.dropped) tile(gph.count(h.dropped), gph.say('records without memory for them'));
  gph.select('call', null);
  gph.openFirst();
  const at = gph.opensAt();
  if (at) gph.view.set(...at); else gph.view.all();
  if (gph.drawGraph) gph.drawGraph();
  gph.paintAll();
  requestAnimationFrame(() => { gph.firstPaint = performance.now(); document.documentElement.dataset.ready = '1'; });
  let width = innerWidth;
  new ResizeObserver(() => { if (gph.drawGraph && width !== innerWidth) { width = innerWidth; gph.drawGraph(); } gph.redraw(); }).observe(byId('main'));
})(window.gph);
