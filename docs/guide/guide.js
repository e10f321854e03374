// SPDX-License-Identifier: Apache-2.0
// The guide: five scenes over recorded data. DATA and WORDS are put before this by scripts/guide.py.
// A scene is { key, command, count(data), draw(svg, data, step), say(data, step) }; words are in WORDS.
"use strict";

const WIDTH = 760, state = { device: Object.keys(DATA)[0], language: "en", steps: {}, playing: null };
const narrow = () => window.innerWidth < 560;

const word = (key, ...values) => {
  const text = WORDS[state.language][key];
  if (text === undefined) throw new Error("no word " + key);
  return values.reduce((out, value, i) => out.replaceAll("{" + i + "}", value), text);
};
// A no-break space: a number is not parted from its unit.
const us = (value) => value >= 1000 ? (value / 1000).toFixed(2) + "\u00a0ms" : value.toFixed(1) + "\u00a0µs";
const kib = (bytes) => Math.round(bytes / 1024) + "\u00a0KiB";

const element = (name, attributes = {}, text = null, of = "http://www.w3.org/2000/svg") => {
  const out = document.createElementNS(of, name);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  if (text !== null) out.textContent = text;
  return out;
};
const html = (name, attributes, text) => element(name, attributes, text ?? null, "http://www.w3.org/1999/xhtml");

// A drawing of its own width: on a phone a narrower one, so that letters keep their size.
const canvas = (height) => {
  const width = narrow() ? 360 : WIDTH;
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.wide = width;
  svg.put = (name, attributes, text) => svg.appendChild(element(name, attributes, text));
  return svg;
};

const ghost = (scene, svg, data) => {
  const group = element("g", { class: "ghost", "aria-hidden": "true" });
  group.wide = svg.wide;
  group.put = (name, attributes) => name === "text" ? null : group.appendChild(element(name, attributes));
  scene.draw(group, data, scene.count(data));
  return group;
};

// ---- calls over time: lanes of bars ----

const SORT = (name) => name === "cuStreamSynchronize" ? "idle" : /capture|create/.test(name) ? "build" : /exec_launch/.test(name) ? "graph" : "kernel";

const lane = (svg, y, label, { calls, us: total }, shown, scale) => {
  svg.put("text", { x: 0, y: y - 7 }, label);
  svg.put("line", { x1: 0, x2: svg.wide, y1: y + 30, y2: y + 30, class: "axis" });
  calls.slice(0, shown).forEach(([name, begin, end]) => {
    const bar = svg.put("rect", { x: begin * scale, y, width: Math.max(1.2, (end - begin) * scale - 0.6), height: 26, class: "bar " + SORT(name) });
    bar.appendChild(element("title", {}, `${name}: ${us(end - begin)}`));
  });
  if (shown > 0) {
    const last = calls[Math.min(shown, calls.length) - 1];
    const x = Math.min(last[2] * scale, svg.wide);
    svg.put("text", { x, y: y + 46, class: "small", "text-anchor": x > svg.wide / 2 ? "end" : "start" }, word("until", last[0], us(shown < calls.length ? last[2] : total)));
  }
};

const eager = {
  key: "eager", command: "build/release/examples/guide", height: 190,
  count: (data) => data.eager.calls.length + data.graph.calls.length + 1,
  draw(svg, data, step) {
    const scale = svg.wide / Math.max(data.eager.us, data.graph.us), one = data.eager.calls.length;
    lane(svg, 26, word("lane_eager"), data.eager, Math.min(step, one), scale);
    lane(svg, 122, word("lane_graph"), data.graph, Math.max(0, step - one), scale);
  },
  say(data, step) {
    const one = data.eager.calls.length, both = one + data.graph.calls.length;
    if (step === 0) return word("eager_0", data.kernels);
    if (step < one) return word("eager_1", step, us(data.eager.calls[step - 1][2]));
    if (step === one) return word("eager_2", us(data.eager.us));
    if (step < both) return word("eager_3", data.kernels, us(data.graph.calls[0][2]));
    if (step === both) return word("eager_4", us(data.graph.us));
    return word("eager_5", data.kernels, us(data.eager.us), us(data.graph.us), (data.eager.us / data.graph.us).toFixed(1), data.steps);
  },
};

// ---- capture, instantiate, replay ----

const made = {
  key: "made", command: "build/release/examples/guide", height: 178,
  count: (data) => data.made.calls.length + 1,
  draw(svg, data, step) {
    const all = data.made.calls.length, launches = data.kernels, gap = svg.wide / launches, size = Math.min(28, gap * 0.62);
    lane(svg, 24, word("lane_host"), data.made, Math.min(step, all), svg.wide / data.made.us);
    const nodes = Math.max(0, Math.min(step - 1, launches)), y = 132;
    for (let i = 0; i < nodes; i++) {
      const x = gap * (i + 0.5);
      if (i > 0) svg.put("line", { x1: x - gap + size / 2, x2: x - size / 2, y1: y, y2: y, class: "edge" });
      svg.put("circle", { cx: x, cy: y, r: size / 2, class: "node" + (step >= all ? " ready" : "") + (step > all ? " hit" : "") });
    }
    if (step >= all) svg.put("rect", { x: 2, y: y - 28, width: svg.wide - 4, height: 56, rx: 12, class: "frame" });
  },
  say(data, step) {
    const all = data.made.calls.length, took = (i) => us(data.made.calls[i][2] - data.made.calls[i][1]);
    if (step === 0) return word("made_0");
    if (step === 1) return word("made_1", took(0));
    if (step === 2) return word("made_first", took(1));
    if (step <= data.kernels + 1) return word("made_2", step - 1, took(step - 1));
    if (step === all - 1) return word("made_3", data.kernels, took(all - 2));
    if (step === all) return word("made_4", took(all - 1));
    return word("made_5", us(data.graph.calls[0][2] - data.graph.calls[0][1]), data.kernels);
  },
};

// ---- three graphs over one pool ----

const extent = (ranges) => Math.max(...ranges.map((r) => r[0] + r[1])) - Math.min(...ranges.map((r) => r[0]));
const pool = {
  key: "pool", command: "build/release/examples/guide", height: 250,
  count: (data) => data.pool.length + 1,
  draw(svg, data, step) {
    const top = Math.max(...data.pool.flatMap((g) => g.ranges.map((r) => r[0] + r[1])));
    const end = 1 + Math.max(...data.pool.flatMap((g) => g.ranges.map((r) => Math.max(r[2 + 1], r[4]))));
    const left = 66, across = (svg.wide - left - 6) / end, up = 196 / top;
    svg.put("text", { x: 0, y: 11, class: "small" }, word("axis_address"));
    svg.put("text", { x: svg.wide, y: 246, class: "small", "text-anchor": "end" }, word("axis_time"));
    for (const bytes of [0, top / 2, top]) {
      const y = 222 - bytes * up;
      svg.put("line", { x1: left, x2: svg.wide, y1: y, y2: y, class: "axis" });
      svg.put("text", { x: left - 6, y: y + 4, class: "small", "text-anchor": "end" }, kib(bytes));
    }
    data.pool.slice(0, Math.min(step, data.pool.length)).forEach((graph, i) => {
      if (step <= data.pool.length && i + 1 !== step) return;
      const name = svg.wide - 68 * (data.pool.length - i);
      svg.put("rect", { x: name + 8, y: 2, width: 10, height: 10, rx: 2, class: ["first", "second", "third"][i] + " shade" });
      svg.put("text", { x: name + 22, y: 11, class: "small" }, graph.name);
      for (const [address, bytes, kind, first, last] of graph.ranges) {
        const box = svg.put("rect", { x: left + (first - 1) * across, y: 222 - (address + bytes) * up, width: ((last || end) - first) * across - 2,
          height: Math.max(3, bytes * up - 1), rx: 2, class: ["first", "second", "third"][i] + " shade" });
        box.appendChild(element("title", {}, `${graph.name}: ${kib(bytes)}, ${word(kind === 2 ? "output" : "temporary")}`));
      }
    });
  },
  say(data, step) {
    const alone = data.pool.map((g) => extent(g.ranges)), together = extent(data.pool.flatMap((g) => g.ranges));
    if (step === 0) return word("pool_0");
    if (step <= data.pool.length) {
      const graph = data.pool[step - 1], of = graph.ranges.filter((r) => r[2] === 1);
      return word("pool_1", graph.name, of.length, kib(of.reduce((sum, r) => sum + r[1], 0)), kib(alone[step - 1]));
    }
    return word("pool_2", kib(alone.reduce((a, b) => a + b)), kib(together));
  },
};

// ---- a tree that grows a branch ----

const tree = {
  key: "tree", command: "build/release/examples/guide", height: 200,
  count: (data) => data.tree.length,
  places(svg, data) { // the way to a call -> where it is drawn
    const rows = [], at = {};
    for (const { calls } of data.tree) {
      const way = calls.map((c) => c[0]).join("/");
      if (!rows.includes(way)) rows.push(way);
      calls.forEach((_, depth) => {
        const key = calls.slice(0, depth + 1).map((c) => c[0]).join("/");
        at[key] ??= { x: svg.wide * (0.14 + 0.36 * depth), y: 0, rows: [], depth };
        if (!at[key].rows.includes(rows.indexOf(way))) at[key].rows.push(rows.indexOf(way));
      });
    }
    for (const one of Object.values(at)) one.y = 54 + 96 * one.rows.reduce((a, b) => a + b) / one.rows.length;
    return at;
  },
  draw(svg, data, step) {
    const at = this.places(svg, data), seen = {}, now = step > 0 ? data.tree[step - 1].calls : [];
    data.tree.slice(0, step).forEach(({ calls }) => calls.forEach((call, depth) => {
      const key = calls.slice(0, depth + 1).map((c) => c[0]).join("/");
      if (call[2]) seen[key] = true;
    }));
    const ways = now.map((_, depth) => now.slice(0, depth + 1).map((c) => c[0]).join("/"));
    for (const key of new Set([...Object.keys(seen), ...ways])) {
      const parent = at[key.slice(0, key.lastIndexOf("/"))], one = at[key];
      if (parent) svg.put("path", { d: `M${parent.x + 38} ${parent.y}C${parent.x + 70} ${parent.y} ${one.x - 70} ${one.y} ${one.x - 38} ${one.y}`, class: "edge" });
    }
    for (const key of new Set([...Object.keys(seen), ...ways])) {
      const one = at[key], depth = ways.indexOf(key), action = depth >= 0 ? now[depth][1] : "";
      const sort = !seen[key] ? "warm" : action === "replayed" ? "node hit" : action === "recorded" ? "node" : "node ready";
      svg.put("rect", { x: one.x - 38, y: one.y - 14, width: 76, height: 28, rx: 14, class: sort });
      svg.put("text", { x: one.x, y: one.y - 20, class: "name", "text-anchor": "middle" }, key.split("/").pop());
      if (action) svg.put("text", { x: one.x, y: one.y + 30, class: "small", "text-anchor": "middle" }, word(action));
    }
  },
  say(data, step) {
    if (step === 0) return word("tree_0");
    const calls = data.tree[step - 1].calls, has = (action) => calls.filter((c) => c[1] === action).length;
    const way = calls.map((c) => c[0]).join(" → ");
    if (has("warm-up") === 3) return word("tree_warm", way);
    if (has("recorded") === 3) return word("tree_record", way, data.tree[step - 1].tree);
    if (has("warm-up")) return word("tree_branch_warm", way);
    if (has("recorded")) return word("tree_branch", way, data.tree[step - 1].tree);
    return word("tree_hit", way);
  },
};

// ---- a loop on the device ----

const loop = {
  key: "loop", command: "build/release/examples/guide", height: 220,
  count: (data) => data.loop.rounds + 2,
  draw(svg, data, step) {
    const rounds = data.loop.rounds, gap = svg.wide / (rounds + 1), shown = Math.max(0, Math.min(step - 1, rounds));
    const top = Math.log2(data.loop.sums[0]) + 1;
    svg.put("text", { x: 0, y: 16 }, word("lane_host"));
    if (step > 0) svg.put("rect", { x: 0, y: 24, width: gap * 0.5, height: 18, class: "bar graph" });
    if (shown > 0) svg.put("rect", { x: gap * 0.5 + 1, y: 24, width: gap * (shown + 0.4), height: 18, class: "bar idle" });
    svg.put("text", { x: 0, y: 68 }, word("lane_device"));
    for (let i = 0; i < shown; i++) {
      const height = 8 + 96 * (Math.log2(data.loop.sums[i]) + 1) / top;
      svg.put("rect", { x: gap * (i + 0.55), y: 196 - height, width: gap * 0.8, height, class: "bar " + (i + 1 === rounds ? "build" : "kernel") });
      if (!narrow() || i % 3 === 0 || i + 1 === rounds)
        svg.put("text", { x: gap * (i + 0.95), y: 212, class: "small", "text-anchor": "middle" }, data.loop.sums[i]);
    }
  },
  say(data, step) {
    const rounds = data.loop.rounds;
    if (step === 0) return word("loop_0");
    if (step === 1) return word("loop_1");
    if (step <= rounds) return word("loop_2", step - 1, data.loop.sums[step - 2]);
    if (step === rounds + 1) return word("loop_3", rounds, data.loop.sums[rounds - 1]);
    return word("loop_4", rounds, us(data.loop.us));
  },
};

// ---- the page ----

const SCENES = [eager, made, pool, tree, loop];

const show = (scene) => {
  const data = DATA[state.device], step = state.steps[scene.key], at = document.getElementById(scene.key);
  const svg = canvas(scene.height);
  svg.setAttribute("aria-label", word(scene.key + "_title"));
  if (step < scene.count(data)) svg.append(ghost(scene, svg, data)); // what will be there is seen from the start, faintly
  scene.draw(svg, data, step);
  at.querySelector(".stage").replaceChildren(svg);
  at.querySelector(".said").textContent = scene.say(data, step);
  at.querySelector(".count").textContent = word("step", step, scene.count(data));
  at.querySelector("[data-do=back]").disabled = step === 0;
  at.querySelector("[data-do=next]").disabled = step === scene.count(data);
  at.querySelector("[data-do=play]").textContent = word(state.playing?.scene === scene ? "stop" : "play");
};

const stop = () => {
  if (!state.playing) return;
  const { timer, scene } = state.playing;
  clearInterval(timer);
  state.playing = null;
  show(scene);
};

const go = (scene, by) => {
  const count = scene.count(DATA[state.device]);
  state.steps[scene.key] = Math.max(0, Math.min(count, state.steps[scene.key] + by));
  show(scene);
  return state.steps[scene.key] < count;
};

const play = (scene) => {
  const was = state.playing?.scene;
  stop();
  if (was === scene) return;
  if (state.steps[scene.key] === scene.count(DATA[state.device])) state.steps[scene.key] = 0;
  state.playing = { scene, timer: setInterval(() => go(scene, 1) || stop(), 900) };
  go(scene, 1);
};

const DO = { back: (scene) => { stop(); go(scene, -1); }, next: (scene) => { stop(); go(scene, 1); }, play };

const build = (scene) => {
  const at = html("section", { id: scene.key, "aria-labelledby": scene.key + "-title" });
  at.append(html("h2", { id: scene.key + "-title", "data-say": scene.key + "_title" }), html("p", { "data-say": scene.key + "_about" }),
    html("div", { class: "stage" }), html("p", { class: "said", "aria-live": "polite" }));
  const controls = html("div", { class: "controls" });
  for (const name of ["back", "next", "play"]) {
    const button = html("button", { type: "button", "data-do": name, "data-say": name });
    button.addEventListener("click", () => DO[name](scene));
    controls.append(button);
  }
  controls.append(html("span", { class: "count" }));
  const made = html("p", { class: "made" });
  made.append(html("span", { "data-say": "reproduce" }), " ", html("code", {}, scene.command));
  at.append(controls, made);
  at.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) { stop(); go(scene, by); event.preventDefault(); }
  });
  state.steps[scene.key] = 0;
  return at;
};

const choice = (group, key, values, name) => {
  for (const value of values) {
    const button = html("button", { type: "button", "data-value": value }, name(value));
    button.addEventListener("click", () => { stop(); state[key] = value; draw(); });
    document.getElementById(group).append(button);
  }
};

// The room of the longest sentence: the buttons stay where they are from step to step.
const room = (scene) => {
  const data = DATA[state.device], said = document.querySelector(`#${scene.key} .said`);
  said.style.minHeight = "";
  let most = 0;
  for (let step = 0; step <= scene.count(data); step++) {
    said.textContent = scene.say(data, step);
    most = Math.max(most, Math.ceil(said.getBoundingClientRect().height));
  }
  said.style.minHeight = most + "px";
  said.textContent = scene.say(data, state.steps[scene.key]);
};

const draw = () => {
  document.documentElement.lang = state.language;
  for (const at of document.querySelectorAll("[data-say]")) at.textContent = word(at.dataset.say);
  for (const at of document.querySelectorAll("[data-label]")) at.setAttribute("aria-label", word(at.dataset.label));
  for (const [group, key] of [["devices", "device"], ["languages", "language"]])
    for (const button of document.getElementById(group).children) button.setAttribute("aria-pressed", button.dataset.value === state[key]);
  SCENES.forEach((scene) => { state.steps[scene.key] = Math.min(state.steps[scene.key], scene.count(DATA[state.device])); show(scene); room(scene); });
};

choice("devices", "device", Object.keys(DATA), (name) => name === "softcuda" ? "softcuda (CPU)" : DATA[name].device);
choice("languages", "language", ["en", "zh"], (name) => ({ en: "English", zh: "中文" })[name]);
for (const scene of SCENES) {
  document.getElementById("scenes").append(build(scene));
  document.getElementById("contents").append(html("a", { href: "#" + scene.key, "data-say": scene.key + "_title" }));
}
if ((navigator.language || "").startsWith("zh")) state.language = "zh";
draw();
let was = window.innerWidth; // a phone's window also gets lower and higher as one scrolls
window.addEventListener("resize", () => { if (was !== window.innerWidth) { was = window.innerWidth; draw(); } });
document.documentElement.dataset.ready = "1";
