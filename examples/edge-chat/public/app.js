// The page. What anyone has said goes into it as text (`textContent`), never as markup.

const byId = (id) => document.getElementById(id);
const [messages, text, status] = [byId("messages"), byId("text"), byId("status")];
/** The conversation that is shown; undefined for a new one. */
let thread;

const itemOf = (content, className = "") =>
  Object.assign(document.createElement("li"), { className, textContent: content });

function addMessage(role, content = "") {
  const item = itemOf(content, role);
  messages.append(item);
  item.scrollIntoView({ block: "end" });
  return item;
}

/** Calls the Worker; what it refuses is an error that says why. */
async function call(path, options = {}) {
  const response = await fetch(`/api/${path}`, options);
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error ?? `The chat does not answer (${response.status}).`);
}

let last = Promise.resolve();
/** One thing after another: Enter submits the form while the list still loads, too. */
const busy = (work) => (last = last.then(() => run(work)));

/** Does it, with what went wrong in the status line. */
async function run(work) {
  const controls = document.querySelectorAll("nav button, #say button");
  for (const control of controls) control.disabled = true;
  messages.ariaBusy = "true";
  status.textContent = "…";
  try {
    await work();
    status.textContent = "";
  } catch (error) {
    status.textContent = error.message;
  } finally {
    for (const control of document.querySelectorAll("button")) control.disabled = false;
    messages.ariaBusy = "false";
    text.focus();
  }
}

async function showThreads() {
  const { threads } = await (await call("threads")).json();
  byId("threads").replaceChildren(
    ...threads.map(({ id, title }) => {
      const button = Object.assign(document.createElement("button"), { textContent: title, type: "button" });
      button.ariaCurrent = String(id === thread);
      button.addEventListener("click", () => void busy(() => open(id)));
      const item = itemOf("");
      item.append(button);
      return item;
    }),
  );
}

async function open(id) {
  const { messages: past } = id === undefined ? { messages: [] } : await (await call(`threads/${id}`)).json();
  thread = id;
  messages.replaceChildren();
  for (const { role, content } of past) addMessage(role, content);
  await showThreads();
}

async function say() {
  const words = text.value.trim();
  if (words === "") return;
  const mine = addMessage("user", words);
  text.value = "";
  const headers = { "Content-Type": "application/json" };
  const path = thread === undefined ? "chat" : `chat/${thread}`;
  let answer;
  try {
    const response = await call(path, { method: "POST", headers, body: JSON.stringify({ text: words }) });
    thread = response.headers.get("Thread");
    answer = addMessage("assistant");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      answer.textContent += piece.value;
  } catch (error) {
    // Nothing of the turn is stored, and nothing that was typed is lost.
    mine.remove();
    answer?.remove();
    text.value = words;
    throw error;
  }
  await showThreads();
}

byId("say").addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(say);
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("say").requestSubmit();
});
byId("new").addEventListener("click", () => void busy(() => open()));
byId("known").addEventListener("click", () => {
  void busy(async () => {
    const { facts } = await (await call("facts")).json();
    const lines = facts.length === 0 ? ["Nothing yet."] : facts;
    byId("list").replaceChildren(...lines.map((fact) => itemOf(fact)));
    byId("facts").showModal();
  });
});
byId("forget").addEventListener("click", () => byId("sure").showModal());
byId("sure").addEventListener("close", ({ target }) => {
  if (target.returnValue !== "yes") return;
  target.returnValue = "";
  void busy(async () => {
    await call("me", { method: "DELETE" });
    await open();
  });
});

await busy(() => open());
