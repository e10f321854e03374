// SPDX-License-Identifier: Apache-2.0
// The drawing of one graph: boxes, edges, regions; boxes that stand for many open on a click.
(function (gph) {
  'use strict';
  const d = gph.data, el = gph.el, MOST = 64, NARROW = 620;
  if (!d.graphs.length) { gph.showGraph = gph.markNodes = () => {}; return; }
  gph.show('graph-card', true);
  const svg = d3.select('#graph'), plane = svg.append('g'), tabs = gph.byId('graph-tabs');
  const zoom = d3.zoom().scaleExtent([0.05, 4]).filter(() => !d3.event.button && (d3.event.type !== 'wheel' || d3.event.ctrlKey || focused))
    .on('zoom', () => plane.attr('transform', d3.event.transform));
  let focused = false, shown = -1, place = null, state = null, node = -1;
  svg.call(zoom).on('dblclick.zoom', null).attr('tabindex', 0);
  svg.on('pointerdown.focus', () => { focused = true; }).on('blur', () => { focused = false; }).on('pointerleave', () => { focused = false; });
  svg.on('keydown', () => {
    const key = d3.event.key, act = { '+': () => zoom.scaleBy(svg, 1.3), '=': () => zoom.scaleBy(svg, 1.3), '-': () => zoom.scaleBy(svg, 0.77), 0: fit,
      ArrowLeft: () => zoom.translateBy(svg, 60, 0), ArrowRight: () => zoom.translateBy(svg, -60, 0), ArrowUp: () => zoom.translateBy(svg, 0, 60),
      ArrowDown: () => zoom.translateBy(svg, 0, -60) }[key];
    if (act) { d3.event.preventDefault(); act(); }
  });

  const hues = ['kernel', 'graph', 'copy', 'memory', 'build', 'event', 'warning'];
  const nameOf = (g, i) => g.name[i] ? gph.brief(g.name[i]) : gph.NODES[g.kind[i]];
  const launchesOf = (index) => d.execs.filter((x) => x.graph === index).reduce((sum, x) => sum + x.launches, 0);

  const firedOf = (index) => d.execs.filter((x) => x.graph === index).reduce((sum, x) => sum + x.device, 0);

  const unpack = function (g) {
    if (g.ready) return g;
    g.ready = true;
    g.name = g.fn.map((f) => f < 0 ? '' : d.functions[f]);
    g.detail = g.detail.map((text) => text.replace(/^([\dx]+) of (\d+)/, (all, grid, block) => grid === '1' ? gph.say('{0} block × {1} threads', grid, block) : gph.say('{0} blocks × {1} threads', grid, block)));
    g.bodies = new Map(); // conditional nodes: what they decided, in words
    for (const [i, kind, times, rounds, ...of] of g.decided) {
      const taken = of.map((n, b) => !n ? '' : b === of.length - 1 ? gph.say('none {0}', gph.count(n)) : gph.say('body {0}: {1}', b, gph.count(n))).filter(Boolean);
      g.detail[i] = kind === 1 ? gph.say('WHILE · {0}', gph.plural(rounds, 'round')) : (kind ? 'SWITCH · ' : 'IF · ') + taken.join(gph.say(', '));
      g.bodies.set(i, kind === 1 ? gph.say('{0} in {1}', gph.plural(rounds, 'round'), gph.plural(times, 'launch', 'launches')) : taken.join(gph.say(', ')));
    }
    g.pairs = [];
    for (let i = 0; i < g.edges.length; i += 2) g.pairs.push([g.edges[i], g.edges[i + 1]]);
    g.soft = new Set(g.weak.map((e) => g.pairs[e].join()));
    g.open = new Set();
    return g;
  };

  const draw = function () {
    const g = state, client = svg.node().clientWidth, width = Math.max(340, client - 40);
    const shape = { count: g.kind.length, edges: g.pairs, region: g.region, open: g.open };
    place = gph.layout(shape, width, MOST);
    const wide = d3.max(place.boxes, (b) => b.x + place.WIDE), high = d3.max(place.boxes, (b) => b.y + place.HIGH);
    if (high > wide * 0.5 && client >= NARROW) place = gph.layout(shape, Math.sqrt(wide * high * 2.6), MOST); // of the view's shape
    const { boxes, ways, WIDE, HIGH } = place;
    plane.selectAll('*').remove();
    regions(g, boxes, WIDE, HIGH);
    const line = d3.line().curve(d3.curveBumpX || d3.curveMonotoneX);
    const middle = (b) => b.y + HIGH / 2;
    plane.append('g').attr('class', ways.length > 250 ? 'many' : '').selectAll('path').data(ways).enter().append('path')
      .attr('class', (w) => 'edge' + (g.soft.has(w[0].nodes[w[0].nodes.length - 1] + ',' + w[w.length - 1].nodes[0]) ? ' soft' : ''))
      .attr('d', (way) => way.some((b) => b.line !== way[0].line) ? turn(way, middle, WIDE, HIGH)
        : line(way.flatMap((b) => b.stand ? [[b.x, middle(b)], [b.x + b.far, middle(b)]] : b === way[0] ? [[b.x + WIDE, middle(b)], [b.x + WIDE + 8, middle(b)]] : [[b.x - 8, middle(b)], [b.x, middle(b)]])));
    const group = plane.append('g').selectAll('g').data(boxes).enter().append('g')
      .attr('class', (b) => 'box' + (b.nodes.includes(node) ? ' chosen' : '') + (b.nodes.some((i) => g.marked && g.marked.has(i)) ? ' marked' : ''))
      .attr('transform', (b) => `translate(${b.x},${b.y})`).attr('tabindex', 0).attr('role', 'button')
      .attr('aria-label', (b) => label(g, b) + gph.say(', ') + sub(g, b)).style('--hue', (b) => 'var(--' + gph.NODE_COLOURS[g.kind[b.nodes[0]]] + ')');
    group.filter((b) => b.nodes.length > 1).append('rect').attr('class', 'plate').attr('x', 4).attr('y', 4).attr('width', WIDE).attr('height', HIGH).attr('rx', 7);
    group.append('rect').attr('class', 'plate').attr('width', WIDE).attr('height', HIGH).attr('rx', 7);
    group.append('rect').attr('class', 'kind').attr('x', 5).attr('y', 7).attr('width', 3.5).attr('height', HIGH - 14).attr('rx', 1.75);
    group.append('text').attr('x', 15).attr('y', 16).text((b) => gph.short(label(g, b), 18));
    group.append('text').attr('class', 'sub').attr('x', 15).attr('y', 29).text((b) => gph.short(sub(g, b).replace(/ threads$/, ''), 21));
    group.on('click', press).on('keydown', (b) => { if (d3.event.key === 'Enter') press(b); })
      .on('mousemove', (b) => gph.tip(d3.event, label(g, b), describe(g, b))).on('mouseleave', () => gph.tip(null));
  };

  const label = function (g, b) {
    if (b.nodes.length === 1) return nameOf(g, b.nodes[0]);
    const names = new Set(b.nodes.map((i) => nameOf(g, i)));
    return b.nodes.length + ' × ' + (names.size === 1 ? [...names][0] : g.region[b.nodes[0]] >= 0 && new Set(b.nodes.map((i) => g.region[i])).size === 1 ?
      gph.brief(g.regions[g.region[b.nodes[0]]]) : gph.plural(names.size, 'sort'));
  };
  const sub = (g, b) => b.nodes.length === 1 ? g.detail[b.nodes[0]] || gph.NODES[g.kind[b.nodes[0]]] : [...new Set(b.nodes.map((i) => nameOf(g, i)))].join(gph.say(', '));
  const describe = function (g, b) {
    if (b.nodes.length > 1) return [sub(g, b), gph.say('A click opens it.')];
    const i = b.nodes[0], frames = d.framesOf(g.stack[i]);
    return [g.name[i], g.detail[i], g.bodies.get(i), frames.length ? gph.say('made by {0}', frames[0].name + ' ' + gph.place(frames[0])) : ''];
  };

  // An edge to the next line goes back along the gap between lines.
  const turn = function (way, middle, WIDE, HIGH) {
    const a = way[0], b = way[way.length - 1], x1 = a.x + WIDE, y1 = middle(a), y2 = middle(b), gap = b.y - 18 - (b.y - a.y > 200 ? 0 : 4), r = 8;
    const before = way.filter((x) => x.line === b.line).reduce((low, x) => Math.min(low, x.x), b.x) - 15;
    return `M${x1},${y1} h8 q${r},0 ${r},${r} V${gap - r} q0,${r} ${-r},${r} H${before + r} q${-r},0 ${-r},${r} V${y2 - r} q0,${r} ${r},${r} H${b.x}`;
  };

  const regions = function (g, boxes, WIDE, HIGH) {
    // Boxes of a region below each other share a plate; then plates side by side do, if none of another region lies between.
    const pieces = [], byPlace = [...boxes].sort((a, b) => a.line - b.line || a.place - b.place || a.y - b.y);
    const extent = (run) => ({ x: d3.min(run, (b) => b.x), y: d3.min(run, (b) => b.y), x2: d3.max(run, (b) => b.x) + WIDE, y2: d3.max(run, (b) => b.y) + HIGH });
    const isFree = (at, r, line) => !boxes.some((b) => b.line === line && b.region !== r && b.x < at.x2 && b.x + WIDE > at.x && b.y < at.y2 && b.y + HIGH > at.y);
    let before = null;
    for (const b of byPlace) {
      const last = pieces[pieces.length - 1], follows = before && last && before.line === b.line && before.place === b.place && before.region === b.region;
      before = b;
      if (b.region < 0) continue;
      if (follows) last.run.push(b);
      else pieces.push({ r: b.region, line: b.line, place: b.place, run: [b] });
    }
    const joined = [], open = new Map(); // by region and line: the newest piece
    for (const p of pieces) {
      const key = p.r + '/' + p.line, left = open.get(key), run = left && left.place >= p.place - 1 ? [...left.run, ...p.run] : null;
      if (run && isFree(extent(run), p.r, p.line)) { left.run = run; left.place = p.place; continue; }
      open.set(key, p);
      joined.push(p);
    }
    pieces.splice(0, pieces.length, ...joined);
    const item = plane.append('g').selectAll('g').data(pieces).enter().append('g').attr('class', 'region').style('--hue', (p) => 'var(--' + hues[p.r % hues.length] + ')');
    const box = (p) => ({ x: d3.min(p.run, (b) => b.x) - 10, y: d3.min(p.run, (b) => b.y) - 20, x2: d3.max(p.run, (b) => b.x) + WIDE + 10, y2: d3.max(p.run, (b) => b.y) + HIGH + 8 });
    item.append('rect').attr('rx', 11).attr('x', (p) => box(p).x).attr('y', (p) => box(p).y).attr('width', (p) => box(p).x2 - box(p).x).attr('height', (p) => box(p).y2 - box(p).y);
    item.append('text').attr('x', (p) => box(p).x + 10).attr('y', (p) => box(p).y + 14)
      .text((p) => gph.short(gph.brief(g.regions[p.r]), Math.floor((box(p).x2 - box(p).x - 16) / 6.4)));
  };

  const press = function (b) {
    if (b.nodes.length > 1) {
      for (const i of b.nodes) state.open.add(i);
      draw();
      fit();
      return;
    }
    chooseNode(b.nodes[0]);
  };
  const chooseNode = function (i) {
    node = i;
    plane.selectAll('.box').classed('chosen', (b) => b.nodes.includes(i));
    const g = state, frames = d.framesOf(g.stack[i]), row = el('div', 'row', [el('b', '', g.name[i] || nameOf(g, i)), el('span', '', gph.say('node {0}', i) + ' · ' + gph.NODES[g.kind[i]]), el('span', 'mono', g.detail[i])]);
    if (g.made[i] >= 0) {
      const link = el('button', 'link', gph.say('the call that made it'));
      link.onclick = () => { gph.byId('timeline-card').scrollIntoView({ block: 'nearest', behavior: 'smooth' }); gph.jump(g.made[i]); };
      row.append(link);
    }
    gph.byId('node').replaceChildren(row, ...(frames.length ? [gph.stackList(frames)] : []));
  };

  const fit = function () {
    const box = plane.node().getBBox(), width = svg.node().clientWidth, high = Math.min(width < NARROW ? 1000 : 460, Math.max(150, box.height * Math.min(1, (width - 40) / Math.max(1, box.width)) + 44));
    svg.style('height', high + 'px');
    const k = Math.min(1.15, (width - 40) / Math.max(1, box.width), (high - 32) / Math.max(1, box.height));
    svg.call(zoom.transform, d3.zoomIdentity.translate((width - box.width * k) / 2 - box.x * k, (high - box.height * k) / 2 - box.y * k).scale(k));
  };

  gph.showGraph = function (index, at) {
    if (index < 0 || index >= d.graphs.length) return;
    const g = unpack(d.graphs[index]);
    state = g;
    node = at;
    shown = index;
    gph.byId('node').replaceChildren();
    [...tabs.children].forEach((tab) => tab.setAttribute('aria-selected', +tab.dataset.graph === index));
    gph.byId('graph-note').textContent = gph.plural(g.kind.length, 'node') + gph.say(', ') + gph.plural(g.pairs.length, 'edge') +
      (launchesOf(index) ? gph.say(', launched {0}', gph.plural(launchesOf(index), 'time')) : '') +
      (firedOf(index) ? gph.say(', by kernels {0}', gph.plural(firedOf(index), 'time')) : '') + (g.kind.length < g.count ? gph.say(' (the first of {0})', gph.count(g.count)) : '');
    draw();
    fit();
    if (at >= 0) chooseNode(at);
  };
  gph.boxes = () => place.boxes;
  // Marks the nodes that a finding's stack made.
  gph.markNodes = function (finding) {
    const places = new Set(finding.frames.filter((f) => f.file).slice(0, 1).map((f) => f.file + ':' + f.line));
    const g = state;
    if (!g) return;
    g.marked = new Set();
    g.stack.forEach((s, i) => { const f = d.framesOf(s)[0]; if (f && places.has(f.file + ':' + f.line)) g.marked.add(i); });
    plane.selectAll('.box').classed('marked', (b) => b.nodes.some((i) => g.marked.has(i)));
  };

  // Those that were launched most come first; many that were never launched stay in the list.
  const order = d3.range(d.graphs.length).filter((i) => d.graphs[i].kind.length || d.graphs.length < 8)
    .sort((a, b) => launchesOf(b) - launchesOf(a) || d.graphs[b].kind.length - d.graphs[a].kind.length || a - b).slice(0, 60);
  for (const i of order) {
    const launched = launchesOf(i), tab = el('button', { role: 'tab', 'data-graph': i, 'aria-selected': 'false' },
      [d.graphs[i].title, ' ', el('small', '', gph.plural(d.graphs[i].kind.length, 'node') + (launched ? ' · ' + gph.count(launched) + ' ×' : ''))]);
    tab.onclick = () => gph.showGraph(i, -1);
    tabs.append(tab);
  }
  gph.byId('graph-fit').onclick = fit;
  gph.drawGraph = () => { if (order.length) gph.showGraph(shown >= 0 ? shown : order[0], node); };
})(window.gph);
