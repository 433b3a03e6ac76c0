// One group: its tree, how long its operations take and should take, who comes last.
import { byId, bytes, count, html, many, show, svg, time } from "./dom.js";
import { depthOf, drawTree, leavesOf } from "./tree.js";

let chosenGroup = null, chosenPhase = null, shownTree = null;

const MOST_LEAVES_BESIDE = 26;  // a tree of more has the page's whole width

const SIZES = { "1k": "up to 1 KiB", "64k": "up to 64 KiB", large: "above 64 KiB" };
const PHASES = { reduction: "up: reduction", distribution: "down: distribution" };

function spark(values, predicted) {
  const width = 120, height = 26, most = Math.max(...values, predicted ?? 0) || 1;
  const y = (value) => (height - 2 - (value / most) * (height - 5)).toFixed(1);
  const step = width / Math.max(values.length - 1, 1);
  const d = values.map((value, i) => `${i ? "L" : "M"}${(i * step).toFixed(1)} ${y(value)}`).join("");
  return svg("svg", { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `last ${values.length}: ${time(Math.min(...values))} to ${time(Math.max(...values))}` },
  predicted ? svg("line", { x1: 0, x2: width, y1: y(predicted), y2: y(predicted) }) : null,
  svg("path", { d: values.length > 1 ? d : `${d}h${width}` }));
}

// Measured beside predicted on a logarithmic scale from a quarter to four times.
function error(measured, predicted) {
  if (!predicted || !measured) return html("span", { class: "empty" }, "nothing to compare");
  const ratio = measured / predicted, half = 40;
  const end = half + Math.max(-1, Math.min(1, Math.log2(ratio) / 2)) * half;
  const text = ratio >= 2 ? `${ratio.toFixed(1)} times` : `${ratio >= 1 ? "+" : "-"}${Math.abs(Math.round((ratio - 1) * 100))} %`;
  const far = ratio > 1.5 || ratio < 1 / 1.5;
  return html("div", { class: far ? "error far" : "error" },
    svg("svg", { width: 2 * half, height: 12, viewBox: `0 0 ${2 * half} 12`, "aria-hidden": "true" },
      svg("path", { class: "track", d: `M0 6H${2 * half}` }), svg("path", { class: "bar", d: `M${half} 6H${end.toFixed(1)}` }),
      svg("path", { class: "middle", d: `M${half} 0V12` })),
    html("span", {}, text));
}

const known = (us) => us ? time(us) : "unknown";

function operationRow(row) {
  const number = (text) => html("td", { class: "number" }, text);
  return html("tr", {}, html("td", {}, row.operation), html("td", {}, row.algorithm),
    html("td", {}, row.operation === "barrier" ? "none" : `${bytes(row.bytes)} (${SIZES[row.size]})`), number(count(row.count)),
    html("td", {}, row.recent_us.length ? spark(row.recent_us, row.predicted_us) : null), number(known(row.recent_median_us)), number(known(row.p50_us)),
    number(known(row.p99_us)), number(time(row.predicted_us)), html("td", {}, error(row.recent_median_us, row.predicted_us)));
}

function drawOperations(rows) {
  const head = ["operation", "algorithm", "data", "#count", "last calls", "#recent", "#p50", "#p99", "#predicted", "recent against predicted"];
  const cells = head.map((name) => html("th", { scope: "col", class: name.startsWith("#") ? "number" : "" }, name.replace("#", "")));
  const none = html("tr", {}, html("td", { colspan: head.length, class: "empty" }, "No application at this node has called this group since the daemon was started."));
  return [html("thead", {}, html("tr", {}, cells)), html("tbody", {}, rows.length ? rows.map(operationRow) : none)];
}

function drawSlow(rows) {
  if (rows.length === 0) return html("p", { class: "empty" }, "Nobody yet: no barrier of this group has ended here.");
  const most = rows[0].total_us || 1;
  const head = ["rank", "", "#times", "#in all", "#at most"].map((name) =>
    html("b", { class: name.startsWith("#") ? "number" : "" }, name.replace("#", "")));
  return html("div", { class: "bars" }, head, rows.slice(0, 10).flatMap((row) => [
    html("span", {}, String(row.rank)),
    svg("svg", { preserveAspectRatio: "none", viewBox: "0 0 100 10", "aria-hidden": "true" },
      svg("rect", { class: "rail", width: 100, height: 10, rx: 1 }), svg("rect", { width: Math.max(0.5, (row.total_us / most) * 100), height: 10, rx: 1 })),
    ...[count(row.times), time(row.total_us), time(row.largest_us)].map((text) => html("span", { class: "number" }, text))]));
}

function showPhases(trees, redraw) {
  show(byId("phase"), [trees.map((tree) => tree.phase), chosenPhase], () => trees.map((tree) =>
    html("button", { type: "button", "data-key": tree.phase, "aria-pressed": String(tree.phase === chosenPhase),
      onclick: () => { chosenPhase = tree.phase; redraw(); } }, PHASES[tree.phase])));
}

// A tree that is wider than its place is shown from its root on.
function showRoot(place) {
  const root = place.querySelector(".root circle");
  if (root) place.scrollLeft = Number(root.getAttribute("cx")) - place.clientWidth / 2;
}

function showTree(group, status, redraw) {
  const trees = group.plan?.trees ?? [];
  if (!trees.some((tree) => tree.phase === chosenPhase)) chosenPhase = trees.at(-1)?.phase ?? null;
  showPhases(trees, redraw);
  const tree = trees.find((one) => one.phase === chosenPhase), place = byId("tree");
  byId("main").classList.toggle("has-wide-tree", trees.some((one) => leavesOf(one.children) > MOST_LEAVES_BESIDE));
  const times = group.slowest.reduce((sum, row) => sum + row.times, 0) || 1;
  const shares = new Map(group.slowest.map((row) => [row.rank, row.times / times]));
  const lost = new Set(status.peers.filter((peer) => peer.state !== "connected").map((peer) => group.members.indexOf(peer.rank)));
  const about = { here: group.rank, share: (rank) => shares.get(rank) ?? 0, isLost: (rank) => lost.has(rank), room: place.clientWidth };
  const rounded = [...shares].map(([rank, share]) => [rank, share.toFixed(1)]);
  show(place, [tree, rounded, [...lost], group.rank, about.room], () => tree ? drawTree(tree.children, about)
    : html("p", { class: "empty" }, group.plan ? "No small operation of this group goes along a tree." : "Trees of the first groups only are shown."));
  if (shownTree !== `${group.name}/${chosenPhase}`) showRoot(place);
  shownTree = `${group.name}/${chosenPhase}`;
  byId("tree-note").textContent = tree
    ? `${tree.tree}, for ${tree.operation}; ${many(depthOf(tree.children), "message")} deep. Children from left to right in ` +
      (chosenPhase === "reduction" ? "the order in which their parent takes what they send." : "send order.") +
      " Filled: who came last to barriers." + (group.plan.shrunk ? " Ranks count those who are left." : "")
    : "";
}

function showChoice(groups, redraw) {
  const names = groups.map((group) => group.name), select = byId("group");
  if (!names.includes(chosenGroup)) chosenGroup = names[0] ?? null;
  show(select, names, () => names.map((name) => html("option", { value: name }, name)));
  select.value = chosenGroup ?? "";
  select.onchange = () => { chosenGroup = select.value; redraw(); };
}

// The busiest group first.
function byUse(groups) {
  const calls = (group) => group.operations.reduce((sum, row) => sum + row.count, 0);
  return [...groups].sort((a, b) => calls(b) - calls(a) || a.name.localeCompare(b.name));
}

export function showGroups(status) {
  const redraw = () => showGroups(status);
  showChoice(byUse(status.groups), redraw);
  const group = status.groups.find((one) => one.name === chosenGroup);
  byId("group-panel").classList.toggle("is-empty", !group);
  if (!group) byId("group-sum").textContent = "No group yet: the first barrier makes one.";
  else byId("group-sum").textContent = `${group.live || group.members.length} of ${group.members.length} members, policy ${group.policy}, ` +
    `epoch ${group.epoch}, ${count(group.generations)} generations; this daemon is rank ${group.rank}${group.outside ? ", cut off" : ""}`;
  if (group) showTree(group, status, redraw);
  show(byId("operations"), group?.operations ?? [], () => drawOperations(group?.operations ?? []));
  const slowest = [...(group?.slowest ?? [])].sort((a, b) => b.total_us - a.total_us);
  show(byId("slow"), slowest, () => drawSlow(slowest));
}
