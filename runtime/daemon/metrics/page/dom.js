// Small helpers: elements without innerHTML, numbers as people read them.
export const byId = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// Draws again only if what is shown has changed, and keeps the keyboard's focus where it was.
const shown = new Map();
export function show(place, what, draw) {
  const signature = JSON.stringify(what);
  if (shown.get(place.id) === signature) return;
  shown.set(place.id, signature);
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const scrolled = [place.scrollLeft, place.scrollTop];
  place.replaceChildren(...[draw()].flat());
  [place.scrollLeft, place.scrollTop] = scrolled;
  if (focused !== undefined) place.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

export function time(us) {
  if (us === undefined) return "";
  if (us < 10) return `${us.toFixed(1)} us`;
  if (us < 1000) return `${us.toFixed(0)} us`;
  if (us < 1e6) return `${(us / 1e3).toFixed(us < 1e4 ? 2 : us < 1e5 ? 1 : 0)} ms`;
  return `${(us / 1e6).toFixed(us < 1e7 ? 2 : 1)} s`;
}

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  if (n < 1048576) return `${(n / 1024).toFixed(n < 10240 ? 1 : 0)} KiB`;
  return `${(n / 1048576).toFixed(n < 10485760 ? 1 : 0)} MiB`;
}

export function count(n) {
  if (n < 1e4) return Number.isInteger(n) ? String(n) : n.toFixed(n < 100 ? 1 : 0);
  return n < 1e6 ? `${(n / 1e3).toFixed(1)} k` : `${(n / 1e6).toFixed(2)} M`;
}

export const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

export function duration(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

// How a state of a daemon or link looks: its class.
export const look = (state) =>
  ({ answers: "ok", connected: "mute", connecting: "mute", lost: "bad", refused: "bad" })[state] ?? "off";
