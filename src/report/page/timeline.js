// SPDX-License-Identifier: Apache-2.0
// Driver calls by thread, work by stream, captures and findings over time.
(function (gph) {
  'use strict';
  const d = gph.data, view = gph.view, canvas = gph.byId('timeline'), GUTTER = gph.GUTTER, RULER = 34;
  const lanes = []; // {label, sub, y, height, rows: [{row, y, height, source}], bands}
  let bottom = RULER, chosen = null;

  const group = (label, hint) => { lanes.push({ group: label, hint, y: bottom + 8, height: 20 }); bottom += 30; };
  const SMALL = '12px ' + gph.colour.sans, ink = canvas.getContext('2d');
  const wideOf = (label) => { ink.font = SMALL; return ink.measureText(label).width; };
  // extra: bands, pending: see bands(); tall: pixels of the first row; measures: rows of times that the
  // program's events measured. A name that is wider than the room beside the row gets a line above it.
  const lane = function (label, sub, rows, source, extra) {
    const strip = extra.bands ? 15 : 0, tall = extra.tall || 24, above = wideOf(label) > GUTTER - 20 ? 15 : 0;
    bottom += above;
    const it = { label, sub, y: bottom, rows: [], source, strip, above, ...extra };
    let y = bottom + strip + 2;
    rows.forEach((row, i) => { const height = i ? 12 : tall; it.rows.push({ row, y, height, source }); y += height + 2; });
    for (const row of extra.measures || []) { it.rows.push({ row, y, height: 13, source: 'event' }); y += 15; }
    it.height = y - bottom + 3;
    bottom += it.height;
    lanes.push(it);
  };

  const bandsOf = function (thread) {
    const list = d.captures.filter((c) => c.thread === thread).sort((a, b) => a.begin - b.begin);
    return list.length ? { list, row: gph.rowOf(list.map((c) => [c.begin, c.end, c.bad])) } : null;
  };
  const byThread = d.threads.map(() => []);
  for (let i = 0; i < d.n; i++) byThread[d.thread[i]].push(i);
  // Processes one below the other, each with its threads and then its streams, so that ranks can be compared.
  const processes = [...new Set(d.threads.filter((x, t) => byThread[t].length).map((x) => x[2]))];
  const rankOf = new Map(d.threads.filter((x) => x[3] >= 0).map((x) => [x[2], x[3]]));
  processes.sort((a, b) => (rankOf.get(a) ?? 0) - (rankOf.get(b) ?? 0)); // ranks in their order, others as they began
  const nameOf = (p) => rankOf.has(p) ? gph.say('rank {0} (process {1})', rankOf.get(p), p) : gph.say('process {0}', processes.indexOf(p) + 1);
  const ofProcess = (p, words) => processes.length > 1 ? nameOf(p) + ' · ' + words : words;
  const threadsOf = (p) => {
    group(ofProcess(p, gph.say('CPU · driver calls')));
    d.threads.forEach(([id, name, process], t) => {
      if (process === p && byThread[t].length)
        lane(name || gph.say('thread {0}', id), gph.say('thread {0}', id), gph.rows(byThread[t], d, 4), 'call', { bands: bandsOf(t) });
    });
  };
  const isBusy = (s) => d.work[s].length || d.gpu.stream.includes(s);
  const soft = d.head.driver.startsWith('softcuda');
  const unmeasured = gph.unmeasured = gph.say('shaded: from its submission until it was seen to be finished') + (d.elapsed.list.length ? gph.say('; under it what the program\u2019s own events reported') : '') +
    (soft ? '' : gph.say('. --kernels measures each kernel'));
  const isUnmeasured = !d.gpu.n && d.streams.some((x, s) => isBusy(s));
  const streamsOf = (p) => {
    if (!d.streams.some((x, s) => x[3] === p && isBusy(s))) return;
    d.gpu.n ? group(ofProcess(p, gph.say('GPU · work')), '') : group(ofProcess(p, gph.say('GPU · submitted')), GUTTER < 120 ? '' : unmeasured); // where it is narrow the head says it
    d.streams.forEach((x, s) => { if (x[3] === p && isBusy(s)) streamLane(x, s); });
  };
  const streamLane = ([handle, name], s) => {
    const measured = [], measures = d3.range(d.elapsed.list.length).filter((i) => d.elapsed.list[i].stream === s);
    for (let i = 0; i < d.gpu.n; i++) if (d.gpu.stream[i] === s) measured.push(i);
    lane(name, handle, measured.length ? gph.rows(measured, d.gpu, 4) : gph.rows(d.work[s], d, 2), measured.length ? 'gpu' : 'call',
      { pending: measured.length ? null : gph.rowOf(d.pending[s]), tall: 20, measures: measures.length && !measured.length ? gph.rows(measures, d.elapsed, 2) : [] });
  };
  const collectivesOf = (p) => {
    const c = d.collectives, mine = d3.range(c.n).filter((i) => d.threads[c.thread[i]][2] === p);
    if (!mine.length) return;
    group(ofProcess(p, gph.say('Collectives · as called')));
    for (const comm of [...new Set(mine.map((i) => c.comm[i]))].sort((a, b) => a - b)) {
      const [handle, , rank, ranks] = comm < 0 ? ['', 0, 0, 0] : d.comms[comm];
      lane(comm < 0 ? gph.say('no communicator') : ranks ? gph.say('rank {0} of {1}', rank, ranks) : gph.say('communicator'), handle, gph.rows(mine.filter((i) => c.comm[i] === comm), c, 3), 'collective', { tall: 20 });
    }
  };
  for (const p of processes) { threadsOf(p); collectivesOf(p); streamsOf(p); }
  if (d.device.n) group(gph.say('On the device'), GUTTER < 120 ? '' : gph.say('branches, rounds of loops and launches by kernels, as softcuda ran them'));
  d.execs.forEach((x, e) => {
    const list = d3.range(d.device.n).filter((i) => d.device.exec[i] === e).sort((a, b) => d.device.start[a] - d.device.start[b] || d.device.end[b] - d.device.end[a]);
    if (list.length) lane(x.name || gph.say('graph {0}', e), '', gph.rows(list, d.device, 6), 'device', { tall: 20 });
  });
  bottom += 6;

  const columnsOf = (source) => source === 'gpu' ? d.gpu : source === 'device' ? d.device : source === 'event' ? d.elapsed : source === 'collective' ? d.collectives : d;
  const textOf = (source, i) => source === 'collective' ? d.collectives.name[i] : source === 'device' ? d.decided(i) : source === 'event' ? gph.say('{0} by events', gph.time(d.elapsed.list[i].ns)) : source === 'gpu' ? gph.brief(d.gpu.name[i] || gph.KINDS[d.gpu.kind[i]][1]) : d.label(i);

  const ruler = (ctx, scale, width) => gph.ruler(ctx, scale, { from: view.from, to: view.to, gutter: GUTTER, width, top: RULER, bottom: seen });

  const flags = []; // findings on the ruler: {x, finding}
  const flag = function (ctx, scale) {
    flags.length = 0;
    d.findings.forEach((f, i) => {
      const x = scale(f.t);
      if (f.t < 0 || x < GUTTER - 4 || x > canvas.clientWidth + 4) return;
      ctx.fillStyle = gph.colour[f.severity];
      ctx.globalAlpha = 0.5;
      ctx.fillRect(Math.round(x), 12, 1, seen);
      ctx.globalAlpha = 1;
      const big = gph.chosenFinding === i ? 6.5 : 5;
      ctx.beginPath();
      ctx.moveTo(x, 8 - big); ctx.lineTo(x + big, 8); ctx.lineTo(x, 8 + big); ctx.lineTo(x - big, 8);
      ctx.fill();
      flags.push({ x, i });
    });
  };

  const THIN = gph.THIN, dots = new gph.Dots();

  // Captures, and what streams were given and nobody had waited for: below the calls.
  const bands = function (ctx, it, y, perPixel, width, rgb) {
    ctx.font = '600 10px ' + gph.colour.sans;
    ctx.textBaseline = 'middle';
    if (it.bands) it.bands.row.spans(view.from, perPixel, width, (x, w, i) => {
      const c = i < 0 ? null : it.bands.list[i], left = Math.max(0, x), right = Math.min(width, x + Math.max(w, 1.5)), name = c && c.bad ? 'error' : 'build';
      if (right - left <= THIN) {
        dots.put(Math.round(left), y + 1, Math.round(right), y + it.height - 2, rgb.band, 255);
        dots.put(Math.round(left), y + 1, Math.round(right), y + 3, rgb[name], 255);
        return;
      }
      ctx.fillStyle = gph.colour.band;
      ctx.fillRect(GUTTER + left, it.y + 1, right - left, it.height - 3);
      ctx.fillStyle = gph.colour[name];
      ctx.fillRect(GUTTER + left, it.y + 1, right - left, 2);
      const most = Math.floor((right - left) / 6);
      if (c && most > 10) ctx.fillText(gph.short(c.bad ? gph.say('capture, invalidated') : gph.say('capture · {0}', gph.plural(c.nodes, 'node')), most), GUTTER + left + 4, it.y + 9.5);
    });
    ctx.fillStyle = gph.colour.wait;
    if (it.pending) it.pending.spans(view.from, perPixel, width, (x, w) => {
      const left = Math.max(0, x), right = Math.min(width, x + Math.max(1, w));
      if (right - left <= THIN) dots.put(Math.round(left), y + 2, Math.max(Math.round(left) + 1, Math.round(right)), y + it.height - 3, rgb.wait, 255);
      else ctx.fillRect(GUTTER + left, it.y + 2, right - left, it.height - 5);
    });
  };

  // The canvas is as tall as what is seen of the lanes, which scroll under the ruler.
  const box = gph.byId('lanes'), room = box.firstElementChild;
  room.style.height = bottom + 'px';
  let scroll = 0, seen = 0;
  box.addEventListener('scroll', () => { scroll = box.scrollTop; view.changed(); }, { passive: true });
  const measure = () => { scroll = box.scrollTop; seen = Math.min(bottom, box.clientHeight); };
  addEventListener('resize', measure);
  const isSeen = (it) => it.y + it.height > scroll + RULER && it.y - (it.above || 0) < scroll + seen;

  const paint = function () {
    if (!seen) measure();
    const { ctx, width } = gph.fit(canvas, seen), wide = Math.max(1, width - GUTTER), perPixel = (view.to - view.from) / wide;
    const scale = d3.scaleLinear().domain([view.from, view.to]).range([GUTTER, width]), rgb = gph.palette(), pieces = [];
    const inside = (left, draw) => {
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, left ? 0 : RULER, width - left, bottom);
      ctx.clip();
      draw();
      ctx.restore();
    };
    ruler(ctx, scale, width);
    dots.clear(wide, Math.max(1, seen - RULER));
    const shown = lanes.filter(isSeen);
    inside(0, () => inside(GUTTER, () => {
      ctx.translate(0, -scroll);
      for (const it of shown) {
        if (it.group) continue;
        bands(ctx, it, Math.round(it.y - scroll - RULER), perPixel, wide, rgb);
        for (const part of it.rows) gph.putRow(dots, part, Math.round(part.y - scroll - RULER), view.from, perPixel, wide, rgb, pieces);
      }
      dots.show(ctx, GUTTER, scroll + RULER);
      gph.drawWide(ctx, GUTTER, pieces, (part, id) => textOf(part.source, id));
      mark(ctx, scale);
    }));
    inside(GUTTER, () => flag(ctx, scale));
    inside(0, () => { ctx.translate(0, -scroll); names(ctx, shown, width); });
    ctx.fillStyle = gph.colour.line;
    ctx.fillRect(0, RULER - 1, width, 1);
    overview();
  };
  const nameOn = (it, width) => it.above && wideOf(it.label) > width - 24 ? gph.short(it.label, Math.floor((width - 24) / 6.5)) : it.label;
  const names = function (ctx, shown, width) {
    const c = gph.colour;
    ctx.textBaseline = 'middle';
    for (const it of shown) {
      if (it.group) {
        ctx.font = '650 10.5px ' + c.sans; ctx.fillStyle = c.muted;
        ctx.fillText(it.group.toUpperCase(), 16, it.y + 10);
        const after = Math.max(GUTTER + 6, 16 + ctx.measureText(it.group.toUpperCase()).width + 12);
        if (it.hint) { ctx.font = '11px ' + c.sans; ctx.fillText(gph.short(it.hint, Math.floor((width - after) / 5.4)), after, it.y + 10); }
        ctx.fillStyle = c.line; ctx.fillRect(0, it.y - 4, width, it.y > RULER + 12 ? 1 : 0);
        continue;
      }
      ctx.font = SMALL; ctx.fillStyle = c.ink;
      ctx.fillText(nameOn(it, width), 16, it.above ? it.y - 6 : it.y + it.strip + 13);
    }
  };

  const mark = function (ctx, scale) {
    if (!chosen) return;
    for (const it of lanes) for (const part of it.rows || []) {
      if (part.source !== chosen.source) continue;
      if (part.row.placeOf(chosen.i) < 0) continue;
      const of = columnsOf(part.source), x = scale(of.start[chosen.i]), w = Math.max(2, scale(of.end[chosen.i]) - x);
      ctx.strokeStyle = gph.colour.ink;
      ctx.lineWidth = 2;
      ctx.strokeRect(x - 1, part.y - 1, w + 1, part.height + 2);
    }
  };

  // All of the run, small, with the part in view.
  const small = gph.byId('overview'), all = new gph.Row(d3.range(d.n), d);
  let still = null;
  const whole = function (wide, height, per) {
    const picture = new gph.Dots(), rgb = gph.palette(), one = new Float32Array(8);
    picture.clear(wide, height);
    const column = (x, shares, base, bad) => gph.putColumn(picture, x, shares, base, bad, 5, height - 8, rgb);
    all.draw(0, per, wide, (id, x, w, kind, bad) => {
      one.fill(0)[kind] = 1;
      for (let i = Math.max(0, x | 0); i < Math.min(wide, x + w); i++) column(i, one, 0, bad);
    }, column);
    return picture;
  };
  const overview = function () {
    const { ctx, width, height } = gph.fit(small), c = gph.colour, wide = Math.max(1, width - GUTTER), per = d.span / wide;
    const key = width + c.paper;
    if (!still || still.key !== key) still = { key, picture: whole(wide, height, per) };
    still.picture.show(ctx, GUTTER, 0);
    ctx.font = '650 10.5px ' + c.sans; ctx.fillStyle = c.muted; ctx.textBaseline = 'middle';
    ctx.fillText(gph.say('ALL · {0}', gph.time(d.span)), 16, height / 2);
    const left = GUTTER + Math.max(0, view.from / per), right = GUTTER + Math.min(wide, view.to / per);
    ctx.fillStyle = c.card; ctx.globalAlpha = 0.68;
    ctx.fillRect(GUTTER, 0, left - GUTTER, height);
    ctx.fillRect(right, 0, width - right, height);
    ctx.globalAlpha = 1; ctx.strokeStyle = c.accent; ctx.lineWidth = 1.5;
    ctx.strokeRect(left + 0.75, 0.75, Math.max(2, right - left - 1.5), height - 1.5);
  };
  const move = (e) => {
    const at = (e.offsetX - GUTTER) / Math.max(1, small.clientWidth - GUTTER) * d.span, half = (view.to - view.from) / 2;
    view.flight = null;
    view.set(at - half, at + half);
  };
  small.addEventListener('pointerdown', (e) => { small.setPointerCapture(e.pointerId); move(e); });
  small.addEventListener('pointermove', (e) => { if (e.buttons) move(e); });

  // What is under the pointer: {source, i} or {finding}.
  const under = function (e) {
    if (e.offsetY < 18) {
      const near = flags.filter((f) => Math.abs(f.x - e.offsetX) < 8).pop();
      if (near) return { finding: near.i };
    }
    if (e.offsetX < GUTTER) return null;
    const time = timeAt(e.offsetX), slack = (view.to - view.from) / Math.max(1, canvas.clientWidth - GUTTER) * 3;
    if (e.offsetY < RULER) return null;
    for (const it of lanes) for (const part of it.rows || [])
      if (e.offsetY + scroll >= part.y - 1 && e.offsetY + scroll <= part.y + part.height + 1) {
        const i = part.row.at(time, slack);
        if (i >= 0) return { source: part.source, i };
      }
    return null;
  };
  const lines = function (source, i) {
    const of = columnsOf(source), at = gph.say('{0} at {1}', gph.time(of.end[i] - of.start[i]), gph.time(of.start[i]));
    if (source === 'device') return [gph.say('{0}, on the device', at)];
    if (source === 'gpu') return [gph.say('{0}, measured on the GPU', at)];
    if (source === 'collective') {
      const frame = d.framesOf(of.stack[i])[0];
      return [of.elements[i] ? gph.say('{0} elements', gph.count(of.elements[i])) + (of.dtype[i] ? ', ' + of.dtype[i] : '') : '', of.open[i] ? gph.say('called at {0}; no launch of it was seen', gph.time(of.start[i])) : at,
        of.result[i] ? gph.say('failed: ') + of.result[i] : '', frame ? frame.name + ' ' + gph.place(frame) : ''];
    }
    if (source === 'event') return [gph.say('the GPU took {0} between two events, as cuEventElapsedTime reported', gph.time(d.elapsed.list[i].ns)),
      gph.say('somewhere in the {0} between the first record and when the second was seen done', gph.time(of.end[i] - of.start[i]))];
    const frames = d.framesOf(d.stack[i]), result = d.result.get(i);
    return [d.names[d.call[i]] + gph.say(', ') + at, d.stream[i] >= 0 ? gph.say('on {0}', d.streams[d.stream[i]][1]) : '', result ? (result > 0 ? gph.say('failed: ') : '') + (d.results[result] || result) : '',
      frames.length ? frames[0].name + ' ' + gph.place(frames[0]) : ''];
  };
  const hover = function (e) {
    const it = under(e);
    canvas.style.cursor = it ? 'pointer' : '';
    if (!it) gph.tip(null);
    else if (it.finding !== undefined) gph.tip(e, d.findings[it.finding].title, [d.findings[it.finding].id]);
    else gph.tip(e, textOf(it.source, it.i), lines(it.source, it.i));
  };

  gph.laneNames = () => lanes.map((it) => it.group || it.label); // for tests, as is the next
  gph.namesCut = () => lanes.filter((it) => !it.group && nameOn(it, canvas.clientWidth) !== it.label).map((it) => it.label);

  // Selects a call (or a measured piece of GPU work) and describes it below.
  gph.select = function (source, i) {
    chosen = i === null || i < 0 ? null : { source, i };
    gph.selected = chosen;
    const box = gph.byId('selection'), el = gph.el;
    box.replaceChildren();
    if (chosen) {
      const [first, ...rest] = lines(source, i).filter(Boolean), parts = [el('b', '', textOf(source, i)), el('span', '', first)];
      if (source === 'call') {
        const result = d.result.get(i), stream = d.stream[i];
        parts.push(el('span', '', gph.say('on {0}', d.threads[d.thread[i]][1] || gph.say('thread {0}', d.threads[d.thread[i]][0]))));
        if (stream >= 0) parts.push(el('span', '', d.streams[stream][1]));
        if (result) parts.push(el('span', 'bad', d.results[result] || gph.say('error {0}', result)));
        const kind = gph.KINDS[d.kind[i]][0], exec = kind === 'graph' || kind === 'build' ? d.execs[d.object[i]] : null, shown = exec ? exec.graph : -1;
        if (shown >= 0) {
          const link = el('button', 'link', gph.say('show its graph'));
          link.onclick = () => gph.showGraph(shown, -1);
          parts.push(link);
        }
      } else parts.push(...rest.map((x) => el('span', '', x)));
      box.append(el('div', 'row', parts));
      const stack = source === 'call' ? d.stack[i] : source === 'collective' ? d.collectives.stack[i] : 0;
      if (stack) box.append(gph.stackList(d.framesOf(stack)));
    } else box.append(el('span', '', gph.say('Wheel or + and − zoom, drag or arrows pan, 0 shows all. A click on a bar or a finding shows more.')));
    view.changed();
  };
  // Lanes scroll to where a call is, if it is out of sight.
  const reveal = function (i) {
    for (const it of lanes) for (const part of it.rows || [])
      if (part.source === 'call' && part.row.placeOf(i) >= 0) {
        if (!isSeen(it) || it.y < scroll + RULER || it.y + it.height > scroll + seen) box.scrollTop = it.y - seen / 2;
        return;
      }
  };
  gph.jump = (i) => { gph.select('call', i); reveal(i); view.focus(d.start[i], d.end[i]); };

  const next = (by) => {
    if (!d.n) return;
    const list = chosen && chosen.source === 'call' ? byThread[d.thread[chosen.i]] : byThread.find((x) => x.length);
    const at = chosen && chosen.source === 'call' ? d3.bisectLeft(list, chosen.i) + by : 0, i = list[Math.min(list.length - 1, Math.max(0, at))];
    gph.select('call', i);
    if (d.start[i] < view.from || d.end[i] > view.to) view.focus(d.start[i], d.end[i]);
  };
  const on = {
    hover,
    click(e) {
      const it = under(e);
      if (it && it.finding !== undefined) gph.chooseFinding(it.finding, true);
      else gph.select(it ? it.source : 'call', it ? it.i : null);
    },
    keys: { '.': () => next(1), ',': () => next(-1), n: () => gph.nextFinding(1), p: () => gph.nextFinding(-1), Escape: () => gph.select('call', null) }
  };
  const timeAt = gph.gestures(canvas, GUTTER, on);
  // Where a call's bar is drawn in its thread's lane: [x, y] of its middle. For tests.
  gph.barAt = function (i) {
    const wide = canvas.clientWidth - GUTTER, x = (t) => GUTTER + (t - view.from) / (view.to - view.from) * wide;
    for (const it of lanes) for (const part of it.rows || [])
      if (part.source === 'call' && part.row.placeOf(i) >= 0) return [(x(d.start[i]) + x(d.end[i])) / 2, part.y + part.height / 2 - scroll];
    return null;
  };
  // The same of what the device decided, or ranks called, on the screen.
  gph.spanAt = function (i, source = 'device') {
    const wide = canvas.clientWidth - GUTTER, x = (t) => GUTTER + (t - view.from) / (view.to - view.from) * wide, at = canvas.getBoundingClientRect();
    for (const it of lanes) for (const part of it.rows || [])
      if (part.source === source && part.row.placeOf(i) >= 0) return [at.left + (x(columnsOf(source).start[i]) + x(columnsOf(source).end[i])) / 2, at.top + part.y + part.height / 2 - scroll];
    return null;
  };
  gph.timelineKeys = on.keys;

  gph.byId('zoom-in').onclick = () => view.zoom(0.5);
  gph.byId('zoom-out').onclick = () => view.zoom(2);
  gph.byId('zoom-all').onclick = () => view.all();
  gph.legend('legend', gph.KINDS, new Set(d.kind));
  for (const id of ['overview', 'lanes', 'selection', 'zoom-out', 'zoom-in', 'zoom-all']) gph.show(id, d.n > 0);
  gph.byId('timeline-note').textContent = d.n === 0 ? gph.say('Nothing to draw: no driver call was seen. The program did not use the driver, or ended before.') :
    gph.say('{0} calls', gph.count(d.head.calls)) + (d.n < d.head.calls ? gph.say(', {0} of them drawn', gph.count(d.n)) : '') + (GUTTER < 120 && isUnmeasured ? gph.say('. GPU, {0}.', unmeasured) : '');
  if (d.n) view.onDraw(paint);
})(window.gph);
