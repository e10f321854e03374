// SPDX-License-Identifier: Apache-2.0
// How bars of a row are drawn: thin ones as columns of pixels in a picture, wide ones as shapes with a name.
(function (gph) {
  'use strict';
  gph.THIN = 3; // pixels
  const STACKED = [2, 1, 3, 5, 4, 6, 0, 7]; // kinds from below: work first, waits on top

  // Colors of kinds by number and of some names, as words for gph.Dots.
  gph.palette = function () {
    const rgb = gph.KINDS.map(([name]) => gph.rgb(gph.colour[name]));
    for (const name of ['error', 'build', 'band', 'wait']) rgb[name] = gph.rgb(gph.colour[name]);
    return rgb;
  };

  // A column of pixels: kinds stacked by the share of it in which they are busy.
  gph.putColumn = function (dots, x, shares, base, failed, top, height, rgb) {
    let low = 0, sum = 0;
    for (const kind of STACKED) sum += shares[base + kind];
    const grow = 1 / Math.sqrt(Math.max(sum, 0.04)); // of little there is still something to see
    for (const kind of STACKED) {
      const part = shares[base + kind] * grow;
      if (part <= 0.01) continue;
      const foot = Math.round(top + height - low * height);
      low += part;
      dots.put(x, Math.max(top, Math.min(foot - 1, Math.round(top + height - low * height))), x + 1, foot, rgb[kind], 255);
    }
    if (failed) dots.put(x, top, x + 2, top + height, rgb.error, 255);
  };

  // A row's bars at y of the picture; wide ones are added to `wide` as [part, id, x, width, kind, failed].
  gph.putRow = function (dots, part, y, from, perPixel, width, rgb, wide) {
    part.row.draw(from, perPixel, width, (id, x, w, kind, failed) => {
      const left = Math.max(-2, x), right = Math.min(width + 2, x + w);
      if (right - left > gph.THIN) wide.push([part, id, left, right - left, kind, failed]);
      else dots.put(Math.round(left), y, Math.max(Math.round(left) + 1, Math.round(right - 0.4)), y + part.height, failed ? rgb.error : rgb[kind], 255);
    }, (x, shares, base, failed) => gph.putColumn(dots, x, shares, base, failed, y, part.height, rgb));
  };

  gph.drawWide = function (ctx, gutter, pieces, textOf) {
    for (const [part, , x, w, kind, failed] of pieces) {
      ctx.fillStyle = failed ? gph.colour.error : gph.colour[gph.KINDS[kind][0]];
      if (w > 12) { ctx.beginPath(); ctx.roundRect(gutter + x, part.y, w - 1, part.height, 3); ctx.fill(); }
      else ctx.fillRect(gutter + x, part.y, w - (w > 6 ? 1 : 0.5), part.height);
    }
    ctx.font = '11px ' + gph.colour.sans;
    ctx.textBaseline = 'middle';
    for (const [part, id, x, w, kind] of pieces) {
      const most = Math.floor((w - 8) / 6.6), name = gph.KINDS[kind][0];
      if (w <= 30 || most < 3 || part.height < 12) continue;
      ctx.fillStyle = gph.onColour(gph.colour[name]);
      ctx.fillText(gph.short(textOf(part, id), most), gutter + x + 5, part.y + part.height / 2 + 0.5);
    }
  };
})(window.gph);
