// What a page of another origin can try against the workbench, knowing its secret path and revision.
async ({ home, revision, start }) => {
  const answers = {};
  const first = (...promises) => Promise.race([...promises, new Promise((end) => setTimeout(end, 2000, "silence"))]);
  const change = (step) => new URLSearchParams({ revision, step, encoding: "canary-7Q", table: "data.csv" });
  const reading = (name, path, options) =>
    fetch(home + path, options)
      .then((answer) => answer.text())
      .catch(() => "")
      .then((text) => { answers[name] = text; });
  const plain = { "content-type": "text/plain" };
  const sending = { method: "POST", credentials: "include" };
  const bare = { ...sending, mode: "no-cors" };
  await Promise.all([
    reading("read", "session", { credentials: "include" }),
    reading("read without rules", "session", { mode: "no-cors", credentials: "include" }),
    reading("send", "load", { ...sending, body: change("load") }),
    ...["load", "undo", "cancel", "upload"].map((path) => reading(`send to ${path}`, path, { ...bare, body: change("load") })),
    reading("send text", "load", { ...bare, headers: plain, body: `revision=${revision}` }),
    reading("send JSON", "load", { ...sending, headers: { "content-type": "application/json" }, body: "{}" }),
    reading("send a file", "upload", { ...bare, body: new FormData() }),
  ]);
  answers.beacon = navigator.sendBeacon(`${home}undo`, change("load")) ? "" : "not sent";
  const element = (name, tag, attributes) => {
    const made = Object.assign(document.createElement(tag), attributes);
    const loaded = new Promise((end) => { made.onload = () => end("loaded"); made.onerror = () => end(""); });
    document.body.append(made);
    return first(loaded).then((event) => { answers[name] = event; return made; });
  };
  const shared = "static/workbench";
  await Promise.all([
    element("image", "img", { src: `${home}load` }),
    element("script", "script", { src: `${home}${shared}.js` }),
    element("script with rules", "script", { src: `${home}${shared}.js`, crossOrigin: "use-credentials" }),
    element("style", "link", { rel: "stylesheet", href: `${home}${shared}.css` }),
    element("prefetch", "link", { rel: "prefetch", href: `${home}assess` }),
    element("object", "object", { data: `${home}load` }),
  ]);
  const inside = (frame) => { try { return frame.contentDocument?.body?.innerText ?? ""; } catch { return ""; } };
  const frame = await element("frame", "iframe", { src: `${home}load` });
  answers.frame = inside(frame) + "".padEnd(frame.contentWindow.length, "x");
  const posted = await element("form", "iframe", { name: "target" });
  const form = Object.assign(document.createElement("form"), { method: "post", action: `${home}load`, target: "target" });
  for (const [name, value] of change("load")) form.append(Object.assign(document.createElement("input"), { name, value }));
  document.body.append(form);
  const arrived = new Promise((end) => { posted.onload = end; });
  form.submit();
  await first(arrived);
  answers.form = inside(posted);
  const socket = new WebSocket(`${home.replace("http", "ws")}load`);
  answers.socket = await first(new Promise((end) => { socket.onopen = () => end("open"); socket.onerror = () => end(""); }));
  const heard = [];
  addEventListener("message", (event) => heard.push(event.data));
  for (const [name, path] of [["window", `${home}load`], ["used token", start]]) {
    const opened = open(path);
    opened.postMessage("hello", "*");
    for (let turn = 0; turn < 40 && !opened.closed; turn++) await new Promise((end) => setTimeout(end, 50));
    try { answers[name] = opened.closed ? "" : opened.document.body.innerText; } catch { answers[name] = "reachable"; }
  }
  answers.heard = heard.join();
  return answers;
};
