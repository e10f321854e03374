// SPDX-License-Identifier: Apache-2.0
// The data that src/report/data.c wrote: unpacked into columns by call, with the work of streams.
(function (gph) {
  'use strict';
  const raw = JSON.parse(gph.byId('data').textContent);
  const n = raw.calls.t.length;
  const d = gph.data = {
    head: raw.head, threads: raw.threads, streams: raw.streams, functions: raw.functions, results: raw.results,
    captures: raw.captures, graphs: raw.graphs, execs: raw.execs, memory: raw.memory, pools: raw.pools,
    advice: raw.advice, sources: raw.sources, caches: raw.caches, trees: raw.trees, findings: raw.findings, counts: raw.counts, span: Math.max(1, raw.head.span), n,
    start: new Float64Array(n), end: new Float64Array(n), call: Uint16Array.from(raw.calls.c),
    thread: Uint16Array.from(raw.calls.h), stream: Int16Array.from(raw.calls.s, (x) => x - 1),
    object: Int32Array.from(raw.calls.o, (x) => x - 1), stack: Uint32Array.from(raw.calls.k),
    kind: new Uint8Array(n), bad: new Uint8Array(n), captured: new Uint8Array(n), result: new Map(), names: raw.names
  };
  let t = 0;
  for (let i = 0; i < n; i++) {
    t += raw.calls.t[i];
    d.start[i] = t;
    d.end[i] = t + raw.calls.d[i];
    d.kind[i] = raw.kinds[d.call[i]];
  }
  for (let i = 0; i < raw.calls.r.length; i += 2) {
    d.result.set(raw.calls.r[i], raw.calls.r[i + 1]);
    d.bad[raw.calls.r[i]] = 1;
  }
  for (const i of raw.calls.x) d.captured[i] = 1;
  const frame = (i) => ({ name: raw.frames[i][0], file: raw.frames[i][1], line: raw.frames[i][2], python: !!raw.frames[i][3] });
  d.framesOf = (stack) => (raw.stacks[stack] || []).map(frame);
  for (const f of d.findings) f.frames = f.frames.map(frame);
  for (const p of d.advice || []) p.frame = frame(p.frame);

  // What a call worked on, in words.
  d.label = function (i) {
    const object = d.object[i], kind = gph.KINDS[d.kind[i]][0];
    if (object < 0) return d.names[d.call[i]];
    if (kind === 'kernel') return gph.brief(d.functions[object]);
    if (kind === 'graph') return gph.say('graph {0}', d.execs[object].name || object);
    return d.names[d.call[i]];
  };

  // Work of a stream is known to be done when a wait for it, for the whole context, or for an event
  // recorded after it returns. A copy to the host waits for blocking streams alone.
  const waitsForAll = new Set(['cuCtxSynchronize']), waitsForBlocking = new Set(['cuMemcpyDtoH', 'cuMemcpyHtoD']);
  const asksForOne = new Set(['cuStreamSynchronize', 'cuStreamQuery']), doneAt = new Map(); // record of an event -> when it was first seen done
  const recordOf = new Map();
  for (let i = 0; i < raw.waits.length; i += 2) recordOf.set(raw.waits[i], raw.waits[i + 1]);
  d.pending = d.streams.map(() => []); // [from, to] that work was under way at most
  d.work = d.streams.map(() => []);
  d.doneBy = new Float64Array(n); // of work: when it was known to be finished; 0: never
  const done = d.streams.map(() => 0); // work before this place in its list is known to be done
  // What a stream was given before a call ended before another, which is seen now.
  const settle = function (s, until, now) {
    const list = d.work[s], first = done[s];
    const last = d3.bisectLeft(list, until, first);
    if (last === first) return;
    d.pending[s].push([d.start[list[first]], now]);
    for (let i = first; i < last; i++) d.doneBy[list[i]] = now;
    done[s] = last;
  };
  for (let i = 0; i < n; i++) {
    const kind = d.kind[i], stream = d.stream[i], name = d.names[d.call[i]];
    if (d.bad[i]) continue;
    if (kind >= 1 && kind <= 3 && stream >= 0 && !d.captured[i]) d.work[stream].push(i);
    if (asksForOne.has(name)) { if (stream >= 0) settle(stream, i, d.end[i]); }
    else if (recordOf.has(i)) {
      const record = recordOf.get(i);
      if (d.stream[record] >= 0) settle(d.stream[record], record, d.end[i]);
      if (!doneAt.has(record)) doneAt.set(record, d.end[i]);
    } else if (waitsForAll.has(name) || waitsForBlocking.has(name))
      d.streams.forEach((x, s) => { if (x[3] === d.threads[d.thread[i]][2] && (waitsForAll.has(name) || x[2])) settle(s, i + 1, d.end[i]); });
  }
  d.streams.forEach((x, s) => { if (done[s] < d.work[s].length) d.pending[s].push([d.start[d.work[s][done[s]]], d.span]); });

  // What the program's own events reported: the GPU took so long, somewhere between the first record and when the second was seen done.
  const elapsed = [];
  for (let i = 0; i < raw.elapsed.length; i += 4) {
    const [begin, end, asked, ns] = raw.elapsed.slice(i, i + 4), stream = d.stream[end];
    if (stream >= 0 && begin < end) elapsed.push({ begin, end, asked, ns, stream, from: d.start[begin], to: Math.max(d.end[end], Math.min(d.end[asked], doneAt.has(end) ? doneAt.get(end) : Infinity)) });
  }
  elapsed.sort((a, b) => a.from - b.from);
  d.elapsed = { list: elapsed, start: Float64Array.from(elapsed, (x) => x.from), end: Float64Array.from(elapsed, (x) => x.to), kind: new Uint8Array(elapsed.length).fill(6), bad: new Uint8Array(elapsed.length) };

  // Measured times of the GPU, where there are any.
  d.gpu = { n: raw.gpu.t.length, start: new Float64Array(raw.gpu.t.length), end: new Float64Array(raw.gpu.t.length), stream: raw.gpu.s,
    kind: Uint8Array.from(raw.gpu.w, (w) => [0, 1, 3, 3, 2, 0][w] || 0), name: raw.gpu.n.map((x) => x < 0 ? '' : raw.functions[x]),
    bad: new Uint8Array(raw.gpu.t.length) };
  for (let i = 0, at = 0; i < d.gpu.n; i++) {
    at += raw.gpu.t[i];
    d.gpu.start[i] = at;
    d.gpu.end[i] = at + raw.gpu.d[i];
  }

  // What ranks called together: a lane for each communicator, and one for what has none (yet).
  const c = raw.collectives, calls = c.t.length;
  d.comms = raw.comms;
  d.collectives = { n: calls, start: Float64Array.from(c.t), end: Float64Array.from(c.t, (t, i) => t + c.d[i]), comm: c.c, thread: c.h, name: c.n, dtype: c.x,
    elements: c.e, open: c.o, stack: c.k, result: c.r, kind: Uint8Array.from(c.w, (w) => [2, 1, 5][w]), bad: Uint8Array.from(c.r, (r) => +(r !== 0)) };

  // What the device decided and launched, where softcuda noted it.
  const many = raw.device.t.length;
  d.device = { n: many, start: Float64Array.from(raw.device.t), end: Float64Array.from(raw.device.t, (t, i) => t + raw.device.d[i]), what: raw.device.w,
    exec: raw.device.e, parent: raw.device.p, body: raw.device.b, rounds: raw.device.r, kind: Uint8Array.from(raw.device.w, (w) => [5, 5, 5, 0, 2, 2, 2, 2][w]),
    bad: Uint8Array.from(raw.device.w, (w) => +(w === 7)) };
  const nameOf = (x) => x < 0 ? '?' : d.execs[x].name || gph.say('graph {0}', x);
  d.decided = function (i) {
    const v = d.device, body = v.body[i], rounds = v.rounds[i], times = rounds > 1 ? ' × ' + gph.count(rounds) : '';
    switch (v.what[i]) {
      case 0: return body < 0 ? gph.say('IF · not taken') : body === 0 ? gph.say('IF · taken') : gph.say('IF · else');
      case 1: return gph.say('WHILE · {0}', gph.plural(rounds, 'round'));
      case 2: return body < 0 ? gph.say('SWITCH · no body') : gph.say('SWITCH · body {0}', body);
      case 3: return gph.say('round {0}', rounds);
      case 4: return (v.parent[i] === v.exec[i] ? gph.say('tail of its own') : gph.say('tail of {0}', nameOf(v.parent[i]))) + times;
      case 5: return gph.say('fired by {0}', nameOf(v.parent[i])) + times;
      case 6: return gph.say('sibling of {0}', nameOf(v.parent[i])) + times;
      default: return gph.say('a launch of {0} was refused', nameOf(v.parent[i]));
    }
  };
})(window.gph);
