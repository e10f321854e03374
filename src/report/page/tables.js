// SPDX-License-Identifier: Apache-2.0
// Shape buckets, graph trees and the ledger.
(function (gph) {
  'use strict';
  const d = gph.data, el = gph.el;
  const cell = (text, [head, number]) => el('td', number ? { class: 'n', 'data-head': head } : '', text); // the head stands before it where it is narrow
  const table = function (title, heads, rows, foot) {
    const head = el('thead', '', el('tr', '', heads.map(([text, number]) => el('th', number ? 'n' : '', text))));
    const line = (row) => el('tr', '', row.map((x, i) => x instanceof Node ? el('td', '', x) : cell(x, heads[i])));
    return el('div', 'scroll', el('table', '', [el('caption', '', title), head, el('tbody', '', rows.map(line)), foot ? el('tfoot', '', line(foot)) : null]));
  };

  // ---- buckets ----
  const bar = function (parts, most) {
    const box = el('span', { class: 'bar', role: 'img', 'aria-label': parts.map(([n, word]) => n + ' ' + word).join(gph.say(', ')) });
    for (const [n, , colour] of parts) {
      const part = el('i');
      part.style.width = n / most * 100 + '%';
      part.style.background = 'var(--' + colour + ')';
      box.append(part);
    }
    return box;
  };
  if (d.caches.length) {
    gph.show('buckets-card', true);
    const sum = (list, key) => d3.sum(list, (b) => b[key]);
    let hits = 0, calls = 0;
    for (const c of d.caches) {
      const most = Math.max(1, d3.max(c.buckets, (b) => b.exact + b.padded + b.eager + b.miss));
      const waste = (b) => b.ran ? 1 - b.asked / b.ran : 0;
      const row = (b, name) => [name, gph.count(b.exact + b.padded + b.eager + b.miss), gph.count(b.exact), gph.count(b.padded), gph.count(b.eager + b.miss), b.ran ? gph.percent(waste(b)) : '–',
        b.records ? gph.time(b.ns / b.records) : '–', b.bytes ? gph.bytes(b.bytes) : '–'];
      const rows = [...c.buckets].sort((a, b) => a.size - b.size).map((b) => { const r = row(b, b.size === -1 ? gph.say('none') : b.size < 0 ? '#' + (-2 - b.size) : gph.count(b.size));
        r.splice(1, 0, bar([[b.exact, gph.say('exact'), 'graph'], [b.padded, gph.say('padded'), 'copy'], [b.eager, gph.say('eager'), 'kernel'], [b.miss, gph.say('missed'), 'error']], most)); return r; });
      const all = {};
      for (const key of ['exact', 'padded', 'eager', 'miss', 'asked', 'ran', 'records', 'ns', 'bytes']) all[key] = sum(c.buckets, key);
      const foot = row(all, gph.say('all'));
      foot.splice(1, 0, '');
      gph.byId('buckets').append(table(c.name, [[gph.say('bucket')], [''], [gph.say('calls'), 1], [gph.say('exact'), 1], [gph.say('padded'), 1], [gph.say('eager, missed'), 1], [gph.say('padding'), 1],
        [gph.say('recorded in'), 1], [gph.say('bytes'), 1]], rows, foot));
      hits += all.exact + all.padded;
      calls += all.exact + all.padded + all.eager + all.miss;
    }
    gph.byId('buckets-note').textContent = gph.say('{0}, {1} served by a graph. Green exact, amber padded, blue eager, red missed.', gph.plural(calls, 'call'), gph.percent(calls ? hits / calls : 0));
  }

  // ---- trees ----
  const drawTree = function (t) {
    const root = { id: 'root', name: t.name, replays: 0, children: [] }, byId = new Map(t.nodes.map((x) => [x.id, { ...x, children: [] }]));
    for (const x of t.nodes) ((x.parent !== x.id && byId.get(x.parent)) || root).children.push(byId.get(x.id));
    const leaves = Math.max(1, d3.hierarchy(root).leaves().length), high = Math.max(60, leaves * 34), box = el('div', 'tree');
    const width = 900, tree = d3.tree().size([high, width - 260])(d3.hierarchy(root)), most = Math.max(1, d3.max(t.nodes, (x) => x.replays));
    const svg = d3.select(box).append('svg').attr('viewBox', `0 0 ${width} ${high + 20}`).style('max-height', '460px').attr('role', 'img').attr('aria-label', gph.say('Tree {0}', t.name)).append('g').attr('transform', 'translate(70,10)');
    svg.selectAll('path').data(tree.links()).enter().append('path').attr('class', 'edge').attr('stroke-width', (l) => 1 + 5 * Math.sqrt((l.target.data.replays || 0) / most))
      .attr('d', d3.linkHorizontal().x((x) => x.y).y((x) => x.x));
    const item = svg.selectAll('g').data(tree.descendants()).enter().append('g').attr('transform', (x) => `translate(${x.y},${x.x})`);
    item.append('circle').attr('r', (x) => 4 + 6 * Math.sqrt((x.data.replays || 0) / most));
    item.append('text').attr('x', 14).attr('y', -1).text((x) => gph.short(x.depth ? x.data.name : t.name, 24));
    item.filter((x) => x.depth).append('text').attr('class', 'sub').attr('x', 14).attr('y', 11).text((x) => gph.plural(x.data.replays, 'replay') + (x.data.records > 1 ? gph.say(', recorded {0} times', x.data.records) : '') + (x.data.why ? gph.say(', ') + x.data.why : ''));
    return box;
  };
  if (d.trees.length) {
    gph.show('tree-card', true);
    gph.byId('tree-note').textContent = gph.say('Graphs by the path of calls that leads to them; thicker lines are replayed more often.');
    for (const t of d.trees) gph.byId('trees').append(drawTree(t));
  }

  // ---- ledger ----
  const ledger = gph.byId('ledger'), m = d.memory;
  const kinds = new Map();
  for (let i = 0; i < m.a.length; i++) {
    const key = m.pool[i] >= 0 ? gph.say('pool {0}', d.pools[m.pool[i]].name) : gph.MEMORY[m.kind[i]][1];
    if (!kinds.has(key)) kinds.set(key, { count: 0, now: 0, turns: [] });
    const k = kinds.get(key);
    k.count++;
    k.turns.push([m.from[i], m.b[i]]);
    if (m.to[i] < 0) k.now += m.b[i]; else k.turns.push([m.to[i], -m.b[i]]);
  }
  const peakOf = (turns) => { let now = 0, peak = 0; for (const [, by] of turns.sort((a, b) => a[0] - b[0])) { now += by; peak = Math.max(peak, now); } return peak; };
  if (kinds.size)
    ledger.append(table(gph.say('Memory'), [[gph.say('pool')], [gph.say('allocations'), 1], [gph.say('peak'), 1], [gph.say('at the end'), 1]], [...kinds].map(([name, k]) => [name, gph.count(k.count), gph.bytes(peakOf(k.turns)), gph.bytes(k.now)])));
  const named = d.pools.filter((p) => p.reserved > 0);
  if (named.length) ledger.append(table(gph.say('Pools, as libgph reports'), [[gph.say('pool')], [gph.say('reserved'), 1], [gph.say('used'), 1]], named.map((p) => [p.name, gph.bytes(p.reserved), p.used ? gph.bytes(p.used) : '–'])));
  if (d.execs.length)
    ledger.append(table(gph.say('Executables'), [[gph.say('executable')], [gph.say('nodes'), 1], [gph.say('graph memory'), 1], [gph.say('launches'), 1], [gph.say('updates'), 1], [gph.say('alive'), 1]],
      d.execs.map((x, i) => [x.name || gph.say('graph {0}', i), x.graph >= 0 ? gph.count(d.graphs[x.graph].count) : '–', x.graph >= 0 && d.graphs[x.graph].bytes ? gph.bytes(d.graphs[x.graph].bytes) : '–',
        gph.count(x.launches), gph.count(x.updates), gph.time((x.to < 0 ? d.span : x.to) - x.from)])));
  // Kernels by name: launches one by one, nodes of graphs times their launches, and the GPU's time where it was measured.
  const kernels = new Map();
  const kernel = (f) => { const name = d.functions[f]; if (!kernels.has(name)) kernels.set(name, { eager: 0, captured: 0, graphs: 0, ns: 0 }); return kernels.get(name); };
  for (let i = 0; i < d.n; i++) if (gph.KINDS[d.kind[i]][0] === 'kernel' && d.object[i] >= 0) kernel(d.object[i])[d.captured[i] ? 'captured' : 'eager']++;
  for (const x of d.execs) if (x.graph >= 0 && d.graphs[x.graph].fn) for (const f of d.graphs[x.graph].fn) if (f >= 0) kernel(f).graphs += x.launches;
  for (let i = 0; i < d.gpu.n; i++) if (d.gpu.name[i]) { if (!kernels.has(d.gpu.name[i])) kernels.set(d.gpu.name[i], { eager: 0, captured: 0, graphs: 0, ns: 0 }); kernels.get(d.gpu.name[i]).ns += d.gpu.end[i] - d.gpu.start[i]; }
  // A mangled name is shortened where that leaves it different from all others.
  const briefs = new Map();
  for (const name of kernels.keys()) briefs.set(gph.brief(name), (briefs.get(gph.brief(name)) || 0) + 1);
  const once = (name) => name.startsWith('_Z') && briefs.get(gph.brief(name)) === 1 ? gph.brief(name) : name;
  if (kernels.size)
    ledger.append(table(kernels.size > 300 ? gph.say('Kernels, the 300 that ran most') : gph.say('Kernels'),
      [[gph.say('kernel')], [gph.say('launched'), 1], [gph.say('captured'), 1], [gph.say('run by graphs'), 1], ...(d.gpu.n ? [[gph.say('GPU time'), 1]] : [])],
      [...kernels].sort((a, b) => b[1].ns - a[1].ns || b[1].eager + b[1].graphs - a[1].eager - a[1].graphs).slice(0, 300)
        .map(([name, k]) => [el('span', once(name) === name ? 'mono' : { class: 'mono', title: name }, once(name)), gph.count(k.eager), gph.count(k.captured), gph.count(k.graphs), ...(d.gpu.n ? [k.ns ? gph.time(k.ns) : '–'] : [])])));
  if (d.counts.length)
    ledger.append(table(gph.say('Driver calls'), [[gph.say('call')], [gph.say('calls'), 1], [gph.say('host time'), 1], [gph.say('mean'), 1], [gph.say('longest'), 1], [gph.say('failed'), 1]],
      [...d.counts].sort((a, b) => b[2] - a[2]).map(([name, calls, ns, most, failed]) => [name, gph.count(calls), gph.time(ns), gph.time(ns / calls), gph.time(most), failed ? gph.count(failed) : ''])));
  gph.show('ledger-card', ledger.children.length > 0);
})(window.gph);
