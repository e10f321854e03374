// SPDX-License-Identifier: Apache-2.0
// The list of findings; a click opens one and takes the timeline to its place.
(function (gph) {
  'use strict';
  const d = gph.data, el = gph.el, list = gph.byId('findings'), cards = [];
  const WORDS = { error: gph.say('error'), warning: gph.say('warning'), info: gph.say('info') };

  const part = (title, inside) => el('section', '', [el('h3', '', title), inside]);
  const lines = (texts) => el('ul', 'lines', texts.map((text) => /^\s+#\d/.test(text) ? el('li', 'frame', text.trim()) : el('li', '', text)));
  const more = function (f) {
    const box = el('div', 'more');
    box.append(el('p', '', f.cause));
    if (f.fix) { const fix = part(gph.say('Fix'), el('p', '', f.fix)); fix.className = 'fix'; box.append(fix); }
    if (f.frames.length) box.append(part(gph.say('Call stack'), gph.stackList(f.frames)));
    if (f.evidence.length) box.append(part(gph.say('Evidence'), lines(f.evidence)));
    if (f.consequences.length) box.append(part(gph.say('What followed'), lines(f.consequences)));
    if (f.vain) box.append(part(gph.say('Does not help'), el('p', '', f.vain)));
    if (f.docs) box.append(part(gph.say('Read on'), el('p', 'mono', f.docs)));
    return box;
  };

  // The call that a finding is about: the last of its thread that had begun by its time.
  const callOf = function (f) {
    let best = -1;
    for (let i = d3.bisectRight(d.start, f.t) - 1, tries = 0; i >= 0 && tries < 4096; i--, tries++)
      if (d.threads[d.thread[i]][0] === f.thread) { best = i; break; }
    return best;
  };

  gph.chosenFinding = -1;
  gph.chooseFinding = function (index, scroll) {
    const again = gph.chosenFinding === index && cards[index].more;
    cards.forEach((card, i) => {
      const open = i === index && !again;
      card.item.classList.toggle('chosen', open);
      card.button.setAttribute('aria-expanded', open);
      if (!open && card.more) { card.more.remove(); card.more = null; }
      if (open && !card.more) card.item.append(card.more = more(d.findings[i]));
    });
    gph.chosenFinding = again ? -1 : index;
    if (again) { gph.select('call', null); return; }
    if (scroll) cards[index].item.scrollIntoView({ block: 'nearest' });
    const call = d.findings[index].t >= 0 ? callOf(d.findings[index]) : -1;
    if (call >= 0) gph.jump(call); else gph.view.changed();
    gph.markNodes(d.findings[index]);
  };
  gph.nextFinding = (by) => {
    if (cards.length) gph.chooseFinding((gph.chosenFinding + by + cards.length + (gph.chosenFinding < 0 && by < 0 ? 1 : 0)) % cards.length, true);
  };

  d.findings.forEach((f, i) => {
    const frame = f.frames.find((x) => x.file), head = el('span', 'what', [el('span', 'sev', WORDS[f.severity]), el('span', 'rule', f.id)]);
    if (f.count > 1) head.append(el('span', 'count', '× ' + gph.count(f.count)));
    if (f.rank !== undefined) head.append(el('span', 'count', gph.say('rank {0} (process {1})', f.rank, f.process)));
    const where = frame ? gph.say('at {0} · {1}', gph.brief(frame.name || '?'), gph.place(frame)) : '';
    const button = el('button', { type: 'button', 'aria-expanded': 'false' }, [head, el('span', 'say', f.title), where ? el('span', 'at', where) : null]);
    const item = el('li', 'finding ' + f.severity, button);
    button.onclick = () => gph.chooseFinding(i, false);
    list.append(item);
    cards.push({ item, button, more: null });
  });
  // From the first work to the last, without what sets up the driver, nor the first launch of each kernel where these,
  // which load or compile it, are most of it; all of it where there is hardly anything else.
  const work = () => {
    let from = Infinity, to = 0, loading = 0, loaded = 0;
    const known = new Set(), counts = d.kind.some((kind) => kind === 1 || kind === 2) ? [1, 2, 5] : [3]; // copies alone are work, too
    for (let i = 0; i < d.n; i++) {
      if (!counts.includes(d.kind[i])) continue;
      from = Math.min(from, d.start[i]);
      to = Math.max(to, d.end[i], d.doneBy[i]);
      if (d.kind[i] !== 1 || known.has(d.object[i])) continue;
      known.add(d.object[i]);
      loading += d.end[i] - d.start[i];
      if (d.end[i] - d.start[i] > d.span / 100) loaded = Math.max(loaded, d.end[i]);
    }
    if (loading > (to - from) / 2 && loaded < to) from = loaded;
    const room = (to - from) * 0.04;
    return to > from && to - from < d.span * 0.97 ? [from - room, to + room] : null;
  };
  // A call with its capture, if it lies in one, and else with some calls around it.
  const around = (call) => {
    const at = d.start[call], held = d.captures.find((c) => c.begin <= d.end[call] && c.end >= at);
    let [from, to] = held ? [held.begin, held.end] : [d.start[Math.max(0, call - 12)], d.end[Math.min(d.n - 1, call + 12)]];
    const most = 1000 * Math.max(d.end[call] - at, 20000); // one call must not hide what lies beside it
    from = Math.max(from, at - most);
    to = Math.min(to, d.end[call] + most);
    return [from - (to - from) * 0.15, to + (to - from) * 0.15];
  };
  // The page opens where the worst finding is, or else where the work is.
  gph.opensAt = () => {
    const call = d.findings.length && d.findings[0].severity !== 'info' && d.findings[0].t >= 0 ? callOf(d.findings[0]) : -1;
    return call >= 0 ? around(call) : work();
  };
  // The worst one is open from the start.
  gph.openFirst = () => {
    if (!cards.length || d.findings[0].severity === 'info') return;
    cards[0].item.append(cards[0].more = more(d.findings[0]));
    cards[0].button.setAttribute('aria-expanded', true);
  };
  document.querySelector('.body').classList.toggle('calm', !cards.length);
  if (!cards.length) list.append(el('li', 'none', d.head.calls ? gph.say('Nothing is wrong with its use of CUDA graphs, as far as was seen.') : gph.say('No driver call was seen, so there is nothing to judge.')));
})(window.gph);
