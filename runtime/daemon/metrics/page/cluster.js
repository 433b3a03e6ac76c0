// The cluster as a ring: daemons, and the links between them as each end says they are.
import { byId, html, look, many, show, svg, time } from "./dom.js";

const SIZE = 600, MIDDLE = SIZE / 2;
let chosen = null;

function place(rank, nodes, radius) {
  const angle = (rank / nodes) * 2 * Math.PI - Math.PI / 2;
  return [MIDDLE + radius * Math.cos(angle), MIDDLE + radius * Math.sin(angle)].map((x) => Math.round(x * 10) / 10);
}

// A link is as bad as the worse of its two ends says; an end that does not answer says nothing.
function linkOf(nodes, a, b) {
  const said = (nodes[a].links?.[b] ?? "") + (nodes[b].links?.[a] ?? "");
  if (/[lr]/.test(said)) return "bad";
  if (/[n-]/.test(said)) return "new";
  return said ? "ok" : "unknown";
}

function linkPaths(nodes, at) {
  const paths = { ok: "", bad: "", new: "", chosen: "" };
  for (let a = 0; a < nodes.length; a++)
    for (let b = a + 1; b < nodes.length; b++) {
      const kind = linkOf(nodes, a, b);
      if (kind === "unknown") continue;
      const line = `M${at[a]}L${at[b]}`;
      paths[kind] += line;
      if (kind === "ok" && (a === chosen || b === chosen)) paths.chosen += line;
    }
  return Object.entries(paths).map(([kind, d]) => svg("path", { class: `links-${kind}`, d }));
}

function nodeShape(node, [x, y], size, self, choose) {
  const kind = look(node.state);
  const classes = ["node", kind, node.rank === self ? "self" : "", node.rank === chosen ? "chosen" : ""];
  const press = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(node.rank); } };
  return svg("g", {
    class: classes.join(" "), tabindex: 0, role: "button", "data-key": node.rank, "aria-pressed": node.rank === chosen,
    "aria-label": `rank ${node.rank}, ${node.address}: ${node.state}`,
    onclick: () => choose(node.rank), onkeydown: press,
  }, svg("title", {}, `rank ${node.rank}, ${node.address}: ${node.state}`),
  svg("circle", { cx: x, cy: y, r: size }), svg("text", { x, y }, String(node.rank)));
}

function drawRing(nodes, self, choose) {
  const size = nodes.length <= 24 ? 17 : nodes.length <= 40 ? 13 : nodes.length <= 72 ? 10.5 : 7;
  const radius = MIDDLE - size - 4;
  const at = nodes.map((_, rank) => place(rank, nodes.length, radius));
  const label = `${nodes.length} daemons; choose one for its links`;
  return svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": label },
    linkPaths(nodes, at), nodes.map((node, i) => nodeShape(node, at[i], size, self, choose)));
}

function slowestLink(node) {
  let slowest = -1;
  node.round_trip_us.forEach((us, rank) => { if (us > 0 && (slowest < 0 || us > node.round_trip_us[slowest])) slowest = rank; });
  return slowest < 0 ? "" : `; slowest link to rank ${slowest}, ${time(node.round_trip_us[slowest])} there and back`;
}

function drawNode(node, nodes, self) {
  if (!node) return html("p", {}, "Choose a daemon to see its links.");
  const head = [html("b", {}, `rank ${node.rank}`), node.address, node.rank === self ? " (this one) " : " ",
    html("span", { class: `state ${look(node.state)}` }, node.state)];
  if (!node.links) return [html("div", {}, head), html("p", {}, "It has said nothing about itself.")];
  const known = node.round_trip_us.filter((us) => us > 0).sort((a, b) => a - b);
  const median = known.length ? `, median round trip ${time(known[known.length >> 1])}` : "";
  return [html("div", {}, head),
    html("p", {}, `version ${node.version}, connected to ${node.connected} of ${nodes.length - 1}${median}${slowestLink(node)}; ` +
      `${many(node.clients, "client")}, ${many(node.groups, "group")}, ${many(node.resends, "frame")} sent again`)];
}

export function showCluster(cluster, self) {
  const { nodes } = cluster;
  const choose = (rank) => { chosen = chosen === rank ? null : rank; showCluster(cluster, self); };
  const answering = nodes.filter((node) => node.links).length;
  let broken = 0, links = 0;
  for (let a = 0; a < nodes.length; a++)
    for (let b = a + 1; b < nodes.length; b++) { links++; broken += linkOf(nodes, a, b) === "ok" ? 0 : 1; }
  byId("cluster-sum").textContent = `${answering} of ${nodes.length} daemons answer, ` +
    (broken ? `${links - broken} of ${links} links are good` : `all ${links} links are good`);
  show(byId("ring"), [nodes.map((node) => [node.state, node.links]), chosen, self], () => drawRing(nodes, self, choose));
  show(byId("node"), [nodes[chosen], self], () => drawNode(nodes[chosen], nodes, self));
}
