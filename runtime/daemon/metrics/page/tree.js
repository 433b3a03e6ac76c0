// A group's tree: the root at the top, children from left to right in the order in which they are served.
import { svg } from "./dom.js";

// Leaves side by side, parents above the middle of their children.
function layOut(children) {
  const at = children.map(() => ({ x: 0, depth: 0 }));
  let leaves = 0, depth = 0;
  const visit = (rank, level) => {
    depth = Math.max(depth, level);
    at[rank].depth = level;
    if (children[rank].length === 0) { at[rank].x = leaves++; return; }
    children[rank].forEach((child) => visit(child, level + 1));
    at[rank].x = (at[children[rank][0]].x + at[children[rank].at(-1)].x) / 2;
  };
  visit(0, 0);
  return { at, leaves, depth };
}

function nodeShape(rank, [x, y], size, about) {
  const share = about.share(rank);
  const classes = ["leaf", rank === 0 ? "root" : "", rank === about.here ? "here" : "", about.isLost(rank) ? "lost" : ""];
  const label = `rank ${rank}${about.isLost(rank) ? ", not connected" : ""}` +
    (share > 0 ? `, came last ${Math.round(share * 100)} % of the times` : "");
  const heat = share > 0 ? svg("circle", { class: "heat", cx: x, cy: y, r: size, "fill-opacity": (0.15 + 0.75 * share).toFixed(2) }) : null;
  return svg("g", { class: classes.join(" "), role: "img", "aria-label": label }, svg("title", {}, label),
    svg("circle", { cx: x, cy: y, r: size }), heat, svg("text", { x, y }, String(rank)));
}

// `about`: {here, share(rank), isLost(rank), room: pixels}.
export function drawTree(children, about) {
  const { at, leaves, depth } = layOut(children);
  const size = children.length <= 32 ? 13 : 10;
  const stepX = Math.max(2 * size + 4, Math.min(72, (about.room - 2 * size) / Math.max(leaves, 1)));
  const stepY = Math.max(2 * size + 16, Math.min(64, 360 / Math.max(depth, 1)));
  const position = (rank) => [size + 3 + at[rank].x * stepX, size + 3 + at[rank].depth * stepY].map((v) => Math.round(v * 10) / 10);
  const width = Math.ceil(2 * size + 6 + (leaves - 1) * stepX), height = Math.ceil(2 * size + 6 + depth * stepY);
  const edges = [];
  children.forEach((list, parent) => list.forEach((child) => {
    const [x1, y1] = position(parent), [x2, y2] = position(child), bend = (y1 + y2) / 2;
    edges.push(svg("path", { class: "edge", d: `M${x1} ${y1}C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}` }));
  }));
  const label = `tree of ${children.length} ranks, ${depth} deep, root rank 0`;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label }, edges,
    children.map((_, rank) => nodeShape(rank, position(rank), size, about)));
}

export const leavesOf = (children) => children.filter((list) => list.length === 0).length;
export function depthOf(children) { return layOut(children).depth; }
