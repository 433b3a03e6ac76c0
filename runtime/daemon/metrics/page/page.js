// Asks the daemon every two seconds and shows what it says; says so when it does not answer.
import { showCluster } from "./cluster.js";
import { byId, bytes, count, duration, html, look, show, time } from "./dom.js";
import { showGroups } from "./groups.js";

const EVERY_MS = 2000, PATIENCE_MS = 5000;
let before = null, answeredAt = null, timer = null, status = null, asking = false;

async function ask(path) {
  const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

const sum = (object) => Object.values(object).reduce((a, b) => a + b, 0);

// What has gone on since the last answer, for each second.
function rates(now, last) {
  const seconds = last && now.pid === last.pid ? (now.asked - last.asked) / 1000 : 0;
  if (seconds <= 0) return null;
  return { operations: (sum(now.ended) - sum(last.ended)) / seconds,
    processor: (now.process.cpu_us - last.process.cpu_us) / 1e4 / seconds,
    wakeups: (now.process.wakeups - last.process.wakeups) / seconds };
}

function tiles(now, rate) {
  const failed = sum(now.ended) - (now.ended.ok ?? 0), counters = now.counters;
  const dropped = counters.transport_kernel_drops + counters.transport_queue_drops;
  return [
    ["daemons connected", `${now.connected + 1} of ${now.size}`, now.connected + 1 < now.size],
    ["operations here", count(sum(now.ended)), false],
    ["operations per second", rate ? count(rate.operations) : "...", false],
    ["not ended well", count(failed), failed > 0],
    ["sent again", count(counters.channel_resends), false],
    ["dropped", count(dropped), dropped > 0],
    ["payload memory", `${bytes(now.payload.used)}`, now.payload.used > 0.9 * now.payload.limit],
    ["clients", count(now.clients), false],
    ["processor", rate ? `${rate.processor.toFixed(1)} %` : "...", false],
    ["wake-ups per second", rate ? count(Math.round(rate.wakeups)) : "...", false],
  ];
}

function showTiles(now) {
  const all = tiles(now, rates(now, before));
  show(byId("tiles"), all, () => all.map(([name, value, warns]) =>
    html("div", { class: warns ? "warn" : "" }, html("dt", {}, name), html("dd", {}, value))));
}

function showHead(now) {
  byId("title").textContent = `${now.cluster}, rank ${now.rank}`;
  document.title = `${now.cluster}, rank ${now.rank} of ${now.size}`;
  byId("self").textContent = `${now.address} over ${now.transport}${now.emulated ? ", emulated network card" : ""}; ${now.security}; ` +
    `fibocastd ${now.version}, process ${now.pid}, up ${duration(now.time - now.started_at)}`;
}

function drawLinks(peers) {
  const head = ["rank", "address", "state", "#round trip", "#sent", "#received", "#again", "#twice"];
  const number = (text) => html("td", { class: "number" }, text);
  const row = (peer) => html("tr", {}, html("td", {}, String(peer.rank)), html("td", {}, peer.address),
    html("td", { class: `state ${peer.state === "connected" ? "ok" : look(peer.state)}` }, peer.state),
    number(peer.round_trip_us ? time(peer.round_trip_us) : ""), number(count(peer.sent)), number(count(peer.received)),
    number(count(peer.resends)), number(count(peer.duplicates)));
  const none = html("tr", {}, html("td", { colspan: head.length, class: "empty" }, "A cluster of one has no links."));
  return [html("thead", {}, html("tr", {}, head.map((name) =>
    html("th", { scope: "col", class: name.startsWith("#") ? "number" : "" }, name.replace("#", ""))))),
  html("tbody", {}, peers.length ? peers.map(row) : none)];
}

function showAll(now, cluster) {
  now.asked = performance.now();
  showHead(now);
  showTiles(now);
  showCluster(cluster, now.rank);
  showGroups(now);
  show(byId("links"), now.peers, () => drawLinks(now.peers));
  before = status = now;
  answeredAt = new Date();
  byId("main").setAttribute("aria-busy", "false");
}

function showLife(answers) {
  document.body.classList.toggle("is-silent", !answers);
  byId("live-text").textContent = answers ? "live" : "no answer";
  const since = answeredAt ? `; what is shown is of ${answeredAt.toLocaleTimeString()}` : "";
  const sentence = `This daemon does not answer${since}. It is asked again every 2 s.`;
  if (byId("silent").hidden !== answers || (!answers && byId("silent").textContent !== sentence)) byId("silent").textContent = sentence;
  byId("silent").hidden = answers;
}

async function update() {
  if (asking) return;
  asking = true;
  timer = null;
  let answers = null;
  try {
    answers = await Promise.all([ask("status.json"), ask("cluster.json")]);
  } catch {  // told below
  }
  if (answers) showAll(...answers);
  showLife(answers !== null);
  asking = false;
  if (!document.hidden && timer === null) timer = setTimeout(update, EVERY_MS);
}

// Nobody looks: nobody asks.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && timer === null) update();
  if (document.hidden && timer !== null) { clearTimeout(timer); timer = null; }
});
let resized = null;
window.addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => status && showGroups(status), 150); });
update();
