// The page. What anyone has said goes into it as text (`textContent`), never as markup.

const byId = (id) => document.getElementById(id);
const turns = byId("turns");
const text = byId("text");
const status = byId("status");

/** Adds a turn, and gives what its words go into. */
function addTurn(role, content = "") {
  const item = document.createElement("li");
  item.className = role === "user" ? "user" : "assistant";
  const who = document.createElement("span");
  who.className = "who";
  who.textContent = role === "user" ? "You: " : "Chat: ";
  const words = document.createElement("span");
  words.textContent = content;
  item.append(who, words);
  turns.append(item);
  item.scrollIntoView({ block: "end" });
  return words;
}

/** Calls the Worker; what it refuses is an error that says why. */
async function call(path, options = {}) {
  const response = await fetch(path, options);
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error ?? `The chat does not answer (${response.status}).`);
}

/** One thing at a time, with what went wrong in the status line. */
async function busy(work, saying = "") {
  // Enter submits the form though its button is disabled.
  if (turns.ariaBusy === "true") return;
  const controls = document.querySelectorAll("nav button, #say button");
  for (const control of controls) control.disabled = true;
  turns.ariaBusy = "true";
  status.textContent = saying;
  try {
    status.textContent = (await work()) ?? "";
  } catch (error) {
    status.textContent = error.message;
  } finally {
    for (const control of controls) control.disabled = false;
    turns.ariaBusy = "false";
  }
}

async function say() {
  const said = text.value.trim();
  if (said === "") return;
  addTurn("user", said);
  text.value = "";
  try {
    const response = await call("/api/chat", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text: said }),
    });
    const words = addTurn("assistant");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      words.textContent += piece.value;
      words.scrollIntoView({ block: "end" });
    }
  } catch (error) {
    // Nothing that was typed is lost.
    if (text.value === "") text.value = said;
    throw error;
  } finally {
    text.focus();
  }
}

async function showMemories() {
  const { memories } = await (await call("/api/memories")).json();
  byId("facts").replaceChildren(
    ...memories.map(({ text: fact, createdAt }) => {
      const item = document.createElement("li");
      const time = document.createElement("time");
      const date = new Date(createdAt);
      time.dateTime = date.toISOString();
      time.textContent = ` (${date.toLocaleDateString()})`;
      item.append(fact, time);
      return item;
    }),
  );
  byId("memories").showModal();
}

async function forget() {
  const { erasure } = await (await call("/api/me", { method: "DELETE" })).json();
  turns.replaceChildren();
  return erasure === null ? "I knew nothing." : `Forgotten. The erasure is ${erasure.id}.`;
}

byId("say").addEventListener("submit", (event) => {
  event.preventDefault();
  void busy(say, "…");
});

text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("say").requestSubmit();
});

byId("new").addEventListener("click", () => {
  void busy(async () => {
    await call("/api/conversations", { method: "POST" });
    turns.replaceChildren();
    text.focus();
    return "A new conversation. I remember what you told me before.";
  });
});

byId("known").addEventListener("click", () => void busy(showMemories));

byId("forget").addEventListener("click", () => byId("sure").showModal());
byId("sure").addEventListener("close", ({ target }) => {
  if (target.returnValue === "yes") void busy(forget, "Forgetting …");
  target.returnValue = "";
});

await busy(async () => {
  const { turns: past } = await (await call("/api/conversation")).json();
  for (const { role, content } of past) addTurn(role, content);
});
