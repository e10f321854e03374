// SPDX-License-Identifier: Apache-2.0
// What all modules of the page use: numbers with units, colors of the theme, small DOM help.
// Everything that comes of the examined program is put into the page as text, never as HTML.
(function (gph) {
  'use strict';

  const byId = gph.byId = (id) => document.getElementById(id);

  // el('li', 'row', 'text') or el('ul', {id: 'x'}, [children])
  gph.el = function (tag, what, inside) {
    const node = document.createElement(tag);
    if (typeof what === 'string') node.className = what;
    else for (const [key, value] of Object.entries(what || {})) node.setAttribute(key, value);
    for (const part of [].concat(inside === undefined ? [] : inside)) if (part !== null) node.append(part);
    return node;
  };
  gph.show = (id, on) => { byId(id).hidden = !on; };

  const step = (value, base, units, digits) => {
    let i = 0;
    while (Math.abs(value) >= base && i < units.length - 1) { value /= base; i++; }
    const places = i === 0 ? 0 : Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : digits;
    return value.toFixed(places) + ' ' + units[i];
  };
  gph.time = (ns) => step(ns, 1000, ['ns', 'µs', 'ms', 's'], 2);
  gph.bytes = (n) => step(n, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 2);
  gph.count = (n) => n.toLocaleString('en');
  gph.hex = (n) => '0x' + n.toString(16);
  // A count has one form in Chinese, that of one.
  gph.plural = (n, one, many) => gph.isChinese ? gph.say('{0} ' + one, gph.count(n)) : gph.count(n) + ' ' + (n === 1 ? one : many || one + 's');
  gph.percent = (x) => (x * 100).toFixed(x < 0.1 ? 1 : 0) + ' %';
  // A Chinese character is as wide as two others.
  const wide = (c) => c >= '\u2e80' ? 2 : 1;
  gph.short = function (text, most) {
    if (text.length * 2 <= most) return text;
    let columns = 0, fits = 0;
    for (let i = 0; i < text.length; i++) {
      columns += wide(text[i]);
      if (columns <= most - 1) fits = i + 1;
    }
    return columns <= most ? text : text.slice(0, Math.max(1, fits)) + '…';
  };
  gph.median = (list) => { const s = Float64Array.from(list).sort(); return s.length ? s[s.length >> 1] : 0; };
  // The last word of a mangled name: _ZN2at6native4fillE is fill.
  const unmangled = (name) => {
    const begin = /^_ZN?[KVr]*(St)?/.exec(name);
    let rest = begin ? name.slice(begin[0].length) : '', word = '';
    for (let bytes; (bytes = /^\d+/.exec(rest)); rest = rest.slice(bytes[0].length + +bytes[0])) word = rest.slice(bytes[0].length).slice(0, +bytes[0]);
    return word || name;
  };
  // C++ names without namespaces, arguments and a compiler's suffixes, for labels only.
  gph.brief = (name) => unmangled(name).replace(/\(.*$/, '').replace(/<.*$/, '').replace(/^.*::/, '').replace(/\.(isra|constprop|part|cold)\b.*$/, '') || name;

  // Kinds of calls: the color's variable and the word in the legend. The order is data.c's.
  gph.KINDS = [['other', gph.say('other')], ['kernel', gph.say('kernel')], ['graph', gph.say('graph launch')], ['copy', gph.say('copy, fill')],
    ['memory', gph.say('memory')], ['build', gph.say('capture, instantiate')], ['event', gph.say('event')], ['sync', gph.say('wait')]];
  gph.MEMORY = [['other', gph.say('other')], ['kernel', 'cuMemAlloc'], ['event', gph.say('stream-ordered')], ['graph', gph.say('graph')], ['copy', gph.say('managed')],
    ['memory', gph.say('pinned host')], ['sync', gph.say('registered host')], ['build', gph.say('virtual (mapped)')]];
  gph.NODES = gph.words(['kernel', 'memcpy', 'memset', 'host', 'child', 'empty', 'event wait', 'event record', 'semaphore signal',
    'semaphore wait', 'mem alloc', 'mem free', 'batch mem op', 'conditional']);
  gph.NODE_COLOURS = ['kernel', 'copy', 'copy', 'event', 'graph', 'other', 'sync', 'sync', 'sync', 'sync', 'memory', 'memory', 'build', 'build'];

  // Colors for canvases; read again when the system's theme changes.
  gph.colour = {};
  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['paper', 'card', 'ink', 'muted', 'line', 'soft', 'accent', 'kernel', 'graph', 'copy', 'memory', 'build',
      'event', 'sync', 'other', 'error', 'warning', 'info', 'band', 'wait', 'sans', 'mono'])
      gph.colour[name] = style.getPropertyValue('--' + name).trim();
  };
  readColours();
  // Ink or paper, whichever can be read on a color better.
  const light = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  gph.contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  gph.onColour = (colour) => gph.contrast(gph.colour.ink, colour) > gph.contrast(gph.colour.card, colour) ? gph.colour.ink : gph.colour.card;
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); gph.redraw(); });

  // A package's file begins with the package; a build folder's `..` leads out of it again.
  const file = (path) => {
    for (let before = ''; before !== path;) { before = path; path = path.replace(/\/(?!\.\.\/)[^/]+\/\.\.\//, '/'); }
    return path.replace(/^.*\/(site|dist)-packages\//, '');
  };
  // Where a stack's frames are listed.
  gph.stackList = function (frames) {
    return gph.el('ol', 'stack', frames.filter((f) => f.name || f.file).map((f) => {
      const line = gph.el('span', f.python ? 'py' : '', [gph.el('b', '', f.name || '?'), ' ',
        gph.el('span', 'file', f.file ? file(f.file) + (f.line ? ':' + f.line : '') : '')]);
      return gph.el('li', '', line);
    }));
  };
  gph.place = (f) => f.file ? f.file.replace(/^.*\//, '') + (f.line ? ':' + f.line : '') : '';

  gph.legend = function (id, list, used) {
    byId(id).replaceChildren(...list.filter((k, i) => used.has(i)).map(([name, word]) => {
      const mark = gph.el('i');
      mark.style.background = 'var(--' + name + ')';
      return gph.el('li', '', [mark, word]);
    }));
  };

  // What it was about moves or goes away: it goes, too.
  const tip = byId('tip');
  for (const what of ['scroll', 'wheel', 'keydown', 'pointerdown', 'blur', 'resize']) addEventListener(what, () => { tip.hidden = true; }, { capture: true, passive: true });
  gph.tip = function (event, title, lines) {
    if (!title) { tip.hidden = true; return; }
    tip.replaceChildren(title, ...lines.filter(Boolean).map((line) => gph.el('small', '', line)));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 6)) + 'px';
    tip.style.top = (event.clientY + box.height + 22 > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16) + 'px';
  };
})(window.gph);
