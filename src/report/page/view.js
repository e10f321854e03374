// SPDX-License-Identifier: Apache-2.0
// The span of time that is shown: one for timeline and memory map, one for each comparison. Wheel, drag, touch and
// keys change it; whoever draws is called once a frame.
(function (gph) {
  'use strict';
  const views = [];
  gph.GUTTER = innerWidth < 620 ? 96 : 148; // pixels of names, left of time

  // A span that is shown of `all` nanoseconds.
  gph.makeView = function (all, least) {
    const drawers = [];
    let asked = false;
    const view = {
      from: 0, to: all,
      frames: [], // ms that each frame took: read by the tests
      onDraw(f) { drawers.push(f); },
      changed() {
        if (asked) return;
        asked = true;
        gph.tip(null);
        requestAnimationFrame(() => { asked = false; view.paint(); });
      },
      paint() {
        const begin = performance.now();
        for (const draw of drawers) draw();
        view.frames.push(performance.now() - begin);
      },
      set(from, to) {
        const margin = all * 0.02, wide = Math.min(Math.max(to - from, least), all + 2 * margin);
        view.from = Math.min(Math.max((from + to - wide) / 2, -margin), all + margin - wide);
        view.to = view.from + wide;
        view.changed();
      },
      zoom(factor, at) {
        const centre = at === undefined ? (view.from + view.to) / 2 : at;
        view.set(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
      },
      pan(part) { const by = (view.to - view.from) * part; view.set(view.from + by, view.to + by); },
      all() { const m = all * 0.02; view.set(-m, all + m); },
      isAll() { return view.to - view.from >= all; },
      // Brings a span into view with room around it.
      focus(from, to) { const wide = Math.max((to - from) * 4, least); view.glide((from + to - wide) / 2, (from + to + wide) / 2); },
      // A short flight, so that the eye sees where it is taken.
      glide(from, to) {
        if (matchMedia('(prefers-reduced-motion: reduce)').matches) { view.set(from, to); return; }
        const path = d3.interpolateZoom([(view.from + view.to) / 2, 0, view.to - view.from], [(from + to) / 2, 0, to - from]);
        const begin = performance.now(), mine = view.flight = {};
        const fly = (now) => {
          if (view.flight !== mine) return;
          const u = Math.min(1, Math.max(0, (now - begin) / 380)), [c, , w] = path(d3.easeCubicInOut(u));
          view.set(c - w / 2, c + w / 2);
          if (u < 1) requestAnimationFrame(fly); else view.set(from, to);
        };
        requestAnimationFrame(fly);
      }
    };
    views.push(view);
    return view;
  };
  gph.paintAll = () => { for (const view of views) view.paint(); };
  gph.redraw = () => { for (const view of views) view.changed(); };
  gph.view = gph.makeView(gph.data.span, 20);

  // A canvas in device pixels; gives its context, scaled, and its size.
  gph.fit = function (canvas, height) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    if (height) canvas.style.height = height + 'px';
    const high = height || canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(high * ratio);
    }
    const ctx = canvas.getContext('2d');
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, high);
    return { ctx, width, height: high };
  };

  const formats = []; // by decimal places: made once, since making one is slow
  // Ticks at round times: {from, to, gutter, width, top: of what is below, bottom: where lines end}.
  gph.ruler = function (ctx, scale, at) {
    const wide = at.to - at.from, c = gph.colour;
    ctx.font = '11px ' + c.sans;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    const ticks = scale.ticks(Math.max(2, (at.width - at.gutter) / 110));
    ctx.fillStyle = c.line;
    for (const t of ticks) ctx.fillRect(Math.round(scale(t)), at.top - 8, 1, at.bottom);
    ctx.fillStyle = c.muted;
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : wide;
    const unit = wide < 2e3 ? [1, 'ns'] : wide < 2e6 ? [1e3, 'µs'] : wide < 2e9 ? [1e6, 'ms'] : [1e9, 's'];
    const places = Math.max(0, Math.ceil(-Math.log10(step / unit[0]) - 1e-9));
    const format = formats[places] = formats[places] || new Intl.NumberFormat('en', { minimumFractionDigits: places, maximumFractionDigits: places });
    for (const t of ticks) {
      const text = format.format(t / unit[0]) + ' ' + unit[1];
      if (t >= 0 && scale(t) + 6 + text.length * 6 < at.width) ctx.fillText(text, scale(t) + 4, at.top - 14);
    }
  };

  // What is narrow is written into a picture, a pixel at a time: however much lies there, it costs what its area does.
  gph.Dots = class {
    constructor() { this.sheet = document.createElement('canvas'); this.width = this.height = 0; }
    clear(width, height) {
      if (this.width === width && this.height === height) { this.words.fill(0); return; }
      this.sheet.width = this.width = width;
      this.sheet.height = this.height = height;
      this.ctx = this.sheet.getContext('2d');
      this.image = this.ctx.createImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    // From (x, y) to (right, low), in pixels; color as gph.rgb() has it, alpha up to 255.
    put(x, y, right, low, rgb, alpha) {
      const word = (alpha << 24 | rgb) >>> 0, left = Math.max(0, x);
      const end = Math.min(this.width, right), last = Math.min(this.height, low);
      for (let row = Math.max(0, y); row < last; row++) {
        if (end - left === 1) this.words[row * this.width + left] = word;
        else if (end > left) this.words.fill(word, row * this.width + left, row * this.width + end);
      }
    }
    show(ctx, x, y) {
      this.ctx.putImageData(this.image, 0, 0);
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(this.sheet, x, y);
    }
  };
  gph.rgb = (colour) => { const v = parseInt(colour.slice(1), 16); return (v & 255) << 16 | v & 0xff00 | v >> 16; };

  // Wheel, drag, touch and keys on a canvas whose time axis begins at pixel `gutter`.
  gph.gestures = function (canvas, gutter, on, view = gph.view) {
    const timeAt = (x) => view.from + (x - gutter) / Math.max(1, canvas.clientWidth - gutter) * (view.to - view.from);
    canvas.addEventListener('wheel', (e) => {
      if (e.offsetX < gutter && !e.ctrlKey) return; // over the names it scrolls
      const sideways = e.shiftKey ? e.deltaY : Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : 0;
      // Zoomed out, a wheel that would zoom out scrolls the page on.
      if (!sideways && e.deltaY > 0 && view.isAll() && !e.ctrlKey) return;
      e.preventDefault();
      view.flight = null;
      const lines = e.deltaMode === 1 ? 20 : 1;
      if (sideways) view.pan(sideways * lines / canvas.clientWidth);
      else view.zoom(Math.pow(1.0022, Math.max(-300, Math.min(300, e.deltaY * lines))), timeAt(e.offsetX));
    }, { passive: false });
    const held = new Map();
    let moved = 0;
    canvas.addEventListener('pointerdown', (e) => { held.set(e.pointerId, e.offsetX); moved = 0; view.flight = null; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener('pointermove', (e) => {
      if (!held.has(e.pointerId)) { on.hover(e); return; }
      const before = [...held.values()], dx = e.offsetX - held.get(e.pointerId);
      held.set(e.pointerId, e.offsetX);
      moved += Math.abs(dx);
      if (moved > 3) canvas.classList.add('dragging');
      if (held.size === 1) { view.pan(-dx / Math.max(1, canvas.clientWidth - gutter)); return; }
      const after = [...held.values()], was = Math.abs(before[0] - before[1]), is = Math.abs(after[0] - after[1]);
      if (was > 8 && is > 8) view.zoom(was / is, timeAt((after[0] + after[1]) / 2));
    });
    const up = (e) => { if (held.delete(e.pointerId) && moved <= 3 && e.type === 'pointerup') on.click(e); canvas.classList.remove('dragging'); };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => gph.tip(null));
    canvas.addEventListener('dblclick', (e) => { e.preventDefault(); view.zoom(0.25, timeAt(e.offsetX)); });
    canvas.addEventListener('keydown', (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const keys = { ArrowLeft: () => view.pan(-0.15), ArrowRight: () => view.pan(0.15), ArrowUp: () => view.zoom(0.7), ArrowDown: () => view.zoom(1.4),
        '+': () => view.zoom(0.6), '=': () => view.zoom(0.6), '-': () => view.zoom(1.6), w: () => view.zoom(0.7), s: () => view.zoom(1.4),
        a: () => view.pan(-0.15), d: () => view.pan(0.15), 0: () => view.all(), Home: () => view.all() };
      const act = keys[e.key] || on.keys && on.keys[e.key];
      if (act) { e.preventDefault(); view.flight = null; act(); }
    });
    return timeAt;
  };
})(window.gph);
