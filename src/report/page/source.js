// SPDX-License-Identifier: Apache-2.0
// The program's own source, each line in the color of what a capture would make of it (--capturable).
(function (gph) {
  'use strict';
  const el = gph.el, sources = gph.data.sources, box = gph.byId('source');
  if (!sources || !sources.length) return;
  // The worst first: a line has the color of the worst of its calls. The first word is a class of the sheet.
  const KINDS = { breaks: ['breaks', gph.say('breaks a capture')], elsewhere: ['breaks', gph.say('breaks captures of other threads')],
    cuts: ['breaks', gph.say('waits: cuts it in two graphs')], escapes: ['escapes', gph.say('escapes a capture')],
    moves: ['fits', gph.say('fits on a created stream')], frozen: ['frozen', gph.say('would be frozen')],
    changes: ['frozen', gph.say('would be frozen, and changes from one repetition to the next')], outside: ['outside', gph.say('stays outside')], fine: ['fits', gph.say('fits')] };
  const order = Object.keys(KINDS), worst = (marks) => [...marks].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))[0];
  gph.show('source-card', true);

  const part = (word, text) => text ? el('div', '', [el('h3', '', word), el('p', '', text)]) : null;
  const describe = (m) => el('div', 'verdict-of-line ' + KINDS[m.kind][0], [
    el('p', 'row', [el('b', '', KINDS[m.kind][1]), ' ', el('span', 'mono', m.call + (m.count > 1 ? ' × ' + gph.count(m.count) : ''))]),
    m.why ? el('p', '', m.why) : null, part(gph.say('Rule'), m.rule), part(gph.say('Reason'), m.cause), part(gph.say('Fix'), m.fix), part(gph.say('Does not help'), m.vain)]);

  const open = function (row, marks) {
    const old = row.nextElementSibling, again = old && old.classList.contains('of-line');
    for (const one of box.querySelectorAll('.of-line')) one.remove();
    for (const one of box.querySelectorAll('[aria-expanded=true]')) one.setAttribute('aria-expanded', 'false');
    if (again) return;
    row.after(el('div', 'of-line', marks.map(describe)));
    row.setAttribute('aria-expanded', 'true');
  };
  const NEAR = 6; // lines around those with a color
  const file = function (s) {
    const byLine = d3.group ? d3.group(s.marks, (m) => m.line) : s.marks.reduce((map, m) => map.set(m.line, [...(map.get(m.line) || []), m]), new Map());
    const lines = s.text === null ? [] : s.text.split('\n'), rows = [];
    let before = 0;
    const numbers = s.text === null ? [...byLine.keys()].sort((a, b) => a - b) : d3.range(1, lines.length + 1).filter((n) => [...byLine.keys()].some((m) => Math.abs(m - n) <= NEAR));
    for (const n of numbers) {
      const marks = byLine.get(n), kind = marks ? KINDS[worst(marks).kind] : null;
      if (before && n > before + 1) rows.push(el('div', 'gap', '⋯'));
      before = n;
      const inside = [el('span', 'no', String(n)), el('code', '', s.text === null ? marks.map((m) => m.call).join(gph.say(', ')) : lines[n - 1] || '')];
      if (!marks) { rows.push(el('div', 'line', inside)); continue; }
      const row = el('button', { class: 'line ' + kind[0], type: 'button', 'aria-expanded': 'false', title: kind[1] }, inside);
      row.onclick = () => open(row, marks);
      rows.push(row);
    }
    return el('div', 'file', [el('h3', 'mono', s.file), s.text === null ? el('p', 'missing', gph.say('This file is not there any more, or cannot be read: only the calls of its lines are known.')) : null, el('div', 'code', rows)]);
  };
  const used = new Set(sources.flatMap((s) => s.marks.map((m) => KINDS[m.kind][0])));
  const names = { breaks: gph.say('breaks'), escapes: gph.say('escapes'), frozen: gph.say('would be frozen'), fits: gph.say('fits'), outside: gph.say('stays outside') };
  gph.byId('source-legend').replaceChildren(...Object.keys(names).filter((name) => used.has(name)).map((name) => el('li', '', [el('i', name), names[name]])));
  for (const s of sources) box.append(file(s));
})(window.gph);
