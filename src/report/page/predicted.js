// SPDX-License-Identifier: Apache-2.0
// What gph doctor --advise says of repeated eager work: eager beside the graph that it would be.
(function (gph) {
  'use strict';
  const d = gph.data, el = gph.el, box = gph.byId('predicted');
  const WORDS = { pays: 'A graph pays', 'does-not-pay': 'A graph does not pay', 'cannot-capture': 'Cannot be captured as it is', 'needs-buckets': 'A graph for each size', unknown: 'Not known' };
  const us = (x) => gph.time(x * 1000), upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const bar = function (word, time, most, colour) {
    if (time <= 0) return [el('span', 'who', word), el('span', 'note', 'not measured'), el('span', 'n', '–')];
    const fill = el('i');
    fill.style.width = Math.max(0.5, time / most * 100) + '%';
    fill.style.background = 'var(--' + colour + ')';
    return [el('span', 'who', word), el('span', { class: 'bar', role: 'img', 'aria-label': word + ' ' + us(time) }, fill), el('span', 'n', us(time))];
  };
  const list = d.advice || [], kernels = d3.sum(d.counts.filter((c) => gph.KINDS[c[5]][0] === 'kernel'), (c) => c[1]);
  if (!list.length) {
    // Eager work and nothing to compare it with: say how there would be.
    if (kernels > 100 && !gph.pairs && !d.advice) {
      gph.show('pairs-card', true);
      gph.byId('pairs-note').textContent = '';
      box.append(el('p', 'none', 'No kernels ran both eagerly and in a graph. gph doctor --advise --report predicts what a graph would take.'));
    }
    return;
  }
  gph.show('pairs-card', true);
  if (!gph.pairs) gph.byId('pairs-note').textContent = 'What gph doctor --advise says of repeated eager work: as it runs now, and as a graph.';
  list.slice(0, 8).forEach((p) => {
    const most = Math.max(p.eager, p.graph, p.busy, 0.001), place = gph.place(p.frame);
    box.append(el('div', 'guess', [el('p', 'lead', [el('b', '', WORDS[p.verdict]), ': ' + gph.plural(p.launches, 'launch', 'launches') + (p.frame.name ? ' of ' + gph.brief(p.frame.name) + (place ? ' (' + place + ')' : '') : '') +
      ', ' + gph.plural(p.repetitions, 'repetition') + '. ' + upper(p.why) + '.']),
      ...bar('eager', p.eager, most, 'kernel'), ...bar('GPU busy', p.busy, most, 'event'), ...bar('graph, predicted', p.graph, most, 'graph'),
      el('p', 'note', (p.once >= 0 ? 'Capture, instantiation and upload once: ' + us(p.once) + (p.graph <= 0 ? '' : p.even >= 0 ? ', earned after ' + gph.plural(Math.ceil(p.even), 'repetition') : ', never earned') + '. ' : '') +
        gph.plural(p.windows, 'measurement') + ' of the GPU\u2019s time.')]));
  });
})(window.gph);
