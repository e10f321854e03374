// SPDX-License-Identifier: Apache-2.0
// What gph doctor --advise says about repeated eager work: eager beside the graph that it would be.
(function (gph) {
  'use strict';
  const d = gph.data, el = gph.el, box = gph.byId('predicted');
  const WORDS = { pays: gph.say('A graph pays'), 'does-not-pay': gph.say('A graph does not pay'), 'cannot-capture': gph.say('Cannot be captured as it is'),
    'needs-buckets': gph.say('A graph for each size'), unknown: gph.say('Not known') };
  const us = (x) => gph.time(x * 1000), upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const bar = function (word, time, most, colour) {
    if (time <= 0) return [el('span', 'who', word), el('span', 'note', gph.say('not measured')), el('span', 'n', '–')];
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
      box.append(el('p', 'none', gph.say('No kernels ran both eagerly and in a graph. gph doctor --advise --report predicts what a graph would take.')));
    }
    return;
  }
  gph.show('pairs-card', true);
  if (!gph.pairs) gph.byId('pairs-note').textContent = gph.say('What gph doctor --advise says about repeated eager work: as it runs now, and as a graph.');
  list.slice(0, 8).forEach((p) => {
    const most = Math.max(p.eager, p.graph, p.busy, 0.001), place = gph.place(p.frame);
    const launches = gph.plural(p.launches, 'launch', 'launches'), of = p.frame.name ? gph.brief(p.frame.name) + (place ? ' (' + place + ')' : '') : '';
    const even = p.graph <= 0 ? '' : p.even >= 0 ? gph.say(', paid for after {0}', gph.plural(Math.ceil(p.even), 'repetition')) : gph.say(', never paid for');
    box.append(el('div', 'guess', [el('p', 'lead', [el('b', '', WORDS[p.verdict]),
      gph.say(': {0}, {1}. {2}.', of ? gph.say('{0} by {1}', launches, of) : launches, gph.plural(p.repetitions, 'repetition'), upper(p.why))]),
      ...bar(gph.say('eager'), p.eager, most, 'kernel'), ...bar(gph.say('GPU busy'), p.busy, most, 'event'), ...bar(gph.say('graph, predicted'), p.graph, most, 'graph'),
      el('p', 'note', (p.once >= 0 ? gph.say('Capture, instantiation and upload once: {0}{1}. ', us(p.once), even) : '') +
        gph.say('{0} of the GPU\u2019s time.', gph.plural(p.windows, 'measurement')))]));
  });
})(window.gph);
