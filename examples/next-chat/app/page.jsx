"use client";

import { useChat } from "@ai-sdk/react";
import { useState } from "react";

export default function Page() {
  const [text, setText] = useState("");
  const { messages, sendMessage, setMessages, status, error } = useChat();
  const isBusy = status === "submitted" || status === "streaming";

  function send(event) {
    event.preventDefault();
    if (text.trim() === "") return;
    void sendMessage({ text });
    setText("");
  }

  async function forget() {
    await fetch("/api/chat", { method: "DELETE" });
    setMessages([]);
  }

  return (
    <main>
      <h1>Next chat</h1>
      <p>Say “I live in Lisbon”, reload the page for a new conversation, and ask “Where do I live?”.</p>
      <ol aria-live="polite">
        {messages.map(({ id, role, parts }) => (
          <li key={id} style={{ whiteSpace: "pre-wrap" }}>
            <b>{role === "user" ? "You" : "Chat"}:</b> {parts.map((part) => part.text ?? "").join("")}
          </li>
        ))}
      </ol>
      {error && <p role="alert">The chat does not answer: {error.message}</p>}
      <form onSubmit={send}>
        <label>
          Your message <input value={text} onChange={(event) => setText(event.target.value)} autoFocus />
        </label>{" "}
        <button disabled={isBusy}>Send</button>{" "}
        <button type="button" disabled={isBusy} onClick={() => void forget()}>
          Forget me
        </button>
      </form>
    </main>
  );
}
