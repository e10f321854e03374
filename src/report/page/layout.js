// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a graph go: layers from left to right, broken into lines like text.
//
//   nodes ─> boxes (runs and twins collapse until few are left) ─> layers ─> order ─> places
//
// A run is a row of nodes with one way in and one way out, of one region. Twins have the same nodes
// before and after them. Collapsing both in turn folds every series-parallel graph; of others whole
// layers do.
(function (gph) {
  'use strict';
  const WIDE = 146, HIGH = 38, GAP_X = 34, GAP_Y = 12, MANY = 240, TALL = 14;

  // {count, edges: [[from, to, soft]], region: [], open: Set of keys} -> [{key, nodes, in: Set, out: Set}]
  const collapse = function (graph, most) {
    const boxes = new Map();
    for (let i = 0; i < graph.count; i++) boxes.set(i, { id: i, nodes: [i], before: new Set(), after: new Set() });
    for (const [a, b] of graph.edges) { boxes.get(a).after.add(b); boxes.get(b).before.add(a); }
    const join = function (list) {
      const [first] = list, all = list.flatMap((b) => b.nodes), ids = new Set(list.map((b) => b.id));
      for (const box of list) for (const side of ['before', 'after'])
        for (const other of box[side]) {
          const back = boxes.get(other)[side === 'before' ? 'after' : 'before'];
          back.delete(box.id);
          if (!ids.has(other)) { first[side].add(other); back.add(first.id); }
        }
      for (const box of list) if (box !== first) boxes.delete(box.id);
      for (const id of ids) { first.before.delete(id); first.after.delete(id); }
      first.nodes = all;
    };
    const isOpen = (nodes) => graph.open.has(nodes[0]);
    const region = (box) => graph.region[box.nodes[0]];
    const runs = function (strict) {
      let joined = 0;
      for (const box of [...boxes.values()]) {
        if (!boxes.has(box.id)) continue;
        const before = box.before.size === 1 ? boxes.get([...box.before][0]) : null;
        if (before && before.after.size === 1 && (!strict || region(before) === region(box))) continue; // not its head
        const row = [box];
        for (let at = box; at.after.size === 1;) {
          const next = boxes.get([...at.after][0]);
          if (next.before.size !== 1 || next === box || (strict && region(next) !== region(box))) break;
          row.push(at = next);
        }
        if (row.length < (strict ? 3 : 2) || isOpen(row[0].nodes)) continue;
        // What is one long run stays a row of some boxes: one box for all of it would say nothing.
        const part = !strict && boxes.size - row.length < most / 3 ? Math.ceil(row.length / Math.ceil(most / 2)) : row.length;
        if (part > 1) for (let i = 0; i < row.length; i += part) { const some = row.slice(i, i + part); if (some.length > 1) { join(some); joined++; } }
      }
      return joined;
    };
    const twins = function () {
      const same = new Map();
      for (const box of boxes.values()) {
        const key = [...box.before].sort().join() + '|' + [...box.after].sort().join();
        if (!same.has(key)) same.set(key, []);
        same.get(key).push(box);
      }
      let joined = 0;
      for (const list of same.values())
        if (list.length > 2 && !isOpen(list[0].nodes)) { join(list); joined++; }
      return joined;
    };
    for (let round = 0; boxes.size > most && round < 40; round++)
      if (!runs(round < 2) & !twins()) break;
    if (boxes.size <= MANY) return boxes;
    // What is left has no such shape: whole layers become boxes, where there are too many, some layers at once. Of
    // layers with an open box each stands for itself, since a box over several must not have another between them.
    const rows = layers(boxes), step = Math.ceil(rows.length / most);
    for (let first = 0; first < rows.length; first += step) {
      const some = rows.slice(first, first + step), closed = some.map((row) => row.filter((box) => !isOpen(box.nodes)));
      const whole = some.every((row, i) => row.length === closed[i].length);
      for (const list of whole ? [closed.flat()] : closed) if (list.length > 1) join(list);
    }
    return boxes;
  };

  // Layer of each box by the longest way to it; boxes in order.
  const layers = function (boxes) {
    const left = new Map(), layer = new Map(), ready = [], rows = [];
    for (const box of boxes.values()) { left.set(box.id, box.before.size); if (!box.before.size) { ready.push(box); layer.set(box.id, 0); } }
    for (let i = 0; i < ready.length; i++) {
      const box = ready[i], at = layer.get(box.id);
      (rows[at] = rows[at] || []).push(box);
      for (const id of box.after) {
        layer.set(id, Math.max(layer.get(id) || 0, at + 1));
        left.set(id, left.get(id) - 1);
        if (!left.get(id)) ready.push(boxes.get(id));
      }
    }
    for (const box of boxes.values()) { box.layer = layer.get(box.id) || 0; if (left.get(box.id) > 0) (rows[box.layer] = rows[box.layer] || []).push(box); }
    return rows;
  };

  // Stand-ins where an edge passes a layer, so that it is led around boxes.
  const pass = function (boxes, rows) {
    const ways = [];
    let made = 0;
    for (const box of boxes.values()) { box.prev = []; box.next = []; }
    for (const box of boxes.values()) for (const id of box.after) {
      const end = boxes.get(id), way = [box];
      for (let at = box.layer + 1; at < end.layer && made < 6000; at++, made++) {
        const stand = { layer: at, prev: [], next: [], stand: true };
        rows[at].push(stand);
        way.push(stand);
      }
      way.push(end);
      for (let i = 0; i + 1 < way.length; i++) { way[i].next.push(way[i + 1]); way[i + 1].prev.push(way[i]); }
      ways.push(way);
    }
    return ways;
  };

  const settle = function (rows) {
    const number = (row) => row.forEach((box, i) => { box.order = i; });
    rows.forEach(number);
    for (let sweep = 0; sweep < 6; sweep++) {
      const side = sweep % 2 ? 'next' : 'prev', list = sweep % 2 ? [...rows].reverse() : rows;
      for (const row of list) {
        for (const box of row) box.wish = box[side].length ? d3.mean(box[side], (x) => x.order) : box.order;
        row.sort((a, b) => a.wish - b.wish || a.order - b.order);
        number(row);
      }
    }
    const room = (box) => box.stand ? 10 : HIGH + GAP_Y;
    const fixed = new Set();
    for (const row of rows) {
      const high = Math.max(TALL, Math.ceil(Math.sqrt(row.length * 1.8)));
      if (row.length > TALL * 1.5) { fixed.add(row); grid(row, high, room); continue; }
      let y = 0;
      for (const box of row) { box.y = y; box.column = 0; y += room(box); }
    }
    for (let sweep = 0; sweep < 8; sweep++) {
      const side = sweep % 2 ? 'next' : 'prev';
      for (const row of sweep % 2 ? [...rows].reverse() : rows) {
        if (fixed.has(row)) continue;
        for (const box of row) box.wish = box[side].length ? d3.mean(box[side], (x) => x.y) : box.y;
        let y = -Infinity;
        for (const box of row) { box.y = Math.max(box.wish, y); y = box.y + room(box); }
        const shift = d3.mean(row, (box) => box.wish - box.y);
        for (const box of row) box.y += shift;
      }
    }
  };

  // A layer of many boxes is in columns beside each other, by region; edges that pass it lie below.
  const grid = function (row, high, room) {
    const list = row.filter((box) => !box.stand).sort((a, b) => a.region - b.region || a.order - b.order), columns = Math.ceil(list.length / high), per = Math.ceil(list.length / columns);
    list.forEach((box, i) => { box.column = Math.floor(i / per); box.y = i % per * (HIGH + GAP_Y); });
    let y = per * (HIGH + GAP_Y);
    for (const box of row) if (box.stand) { box.column = 0; box.y = y; y += room(box); }
  };

  // Breaks the layers into lines no wider than `width`, where few edges cross.
  const lines = function (rows, width) {
    const step = WIDE + GAP_X, span = rows.map((row) => 1 + d3.max(row, (box) => box.column)), per = Math.max(2, Math.floor(width / step)), cut = [0];
    if (d3.sum(span) > per * 1.35)
      for (let at = 0; at < rows.length;) {
        let end = at, used = 0, best = 0, score = Infinity;
        while (end < rows.length && (used += span[end]) <= per) end++;
        if (end >= rows.length) break;
        end = Math.max(end, at + 1);
        for (let i = at + Math.max(1, Math.ceil((end - at) * 0.6)); i <= end && i < rows.length; i++) {
          const here = rows[i].length * 4 + (end - i);
          if (here < score) { score = here; best = i; }
        }
        if (!best) break;
        cut.push(at = best);
      }
    let top = 0;
    cut.forEach((first, line) => {
      const last = line + 1 < cut.length ? cut[line + 1] : rows.length, all = rows.slice(first, last).flat();
      const low = d3.min(all, (b) => b.y), high = d3.max(all, (b) => b.y);
      let left = 0;
      for (let i = first; i < last; left += span[i++] * step)
        for (const box of rows[i]) { box.y += top - low; box.x = left + box.column * step; box.line = line; box.place = left / step + box.column; }
      for (let i = first; i < last; i++) for (const box of rows[i]) if (box.stand) box.far = span[i] * step - GAP_X;
      top += high - low + HIGH + 44;
    });
  };

  gph.layout = function (graph, width, most) {
    const boxes = collapse(graph, most), rows = layers(boxes);
    for (const box of boxes.values()) box.region = box.nodes.every((i) => graph.region[i] === graph.region[box.nodes[0]]) ? graph.region[box.nodes[0]] : -1;
    const ways = pass(boxes, rows);
    settle(rows);
    lines(rows, width);
    return { boxes: [...boxes.values()], ways, WIDE, HIGH };
  };
})(window.gph);
