import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { newUser, token } from "../../call.ts";
import { exportOf } from "../../transfer-calls.ts";
import { call } from "../../call.ts";
import { realPorts } from "../../doubles/ports.ts";

const utf8 = new TextEncoder();
/** A body whose connection goes away behind these bytes. */
const broken = (text: string) => {
  const chunks = [utf8.encode(text)];
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk === undefined)
        controller.error(Object.assign(new Error("Network connection lost."), { retryable: true }));
      else controller.enqueue(chunk);
    },
  });
};

async function send(path: string, method: string, headers: Record<string, string>, body: ReadableStream) {
  const bearer = { Authorization: `Bearer ${await token("*")}`, "Content-Type": "application/json" };
  // Straight to the app: between two Workers of one process a broken body would seem to have ended.
  const request = { method, headers: { ...bearer, ...headers }, body };
  const response = await createApp(realPorts).request(path, request, env);
  return { status: response.status, body: await response.json<{ error: { code: string } }>() };
}

it.each([
  ["of a known length", { "Content-Length": "100" }],
  ["in chunks", {}],
])("answers 400 to a body %s that breaks off, and stores nothing", async (_, headers) => {
  const user = newUser();
  const entry = `/v1/users/${user}/kv/key`;
  for (const [path, method] of [
    [entry, "PUT"],
    [`/v1/users/${user}/memories`, "POST"],
    ["/mcp", "POST"],
  ] as const)
    expect(await send(path, method, headers, broken('"half'))).toMatchObject({
      status: 400,
      body: { error: { code: "body_incomplete" } },
    });
  expect((await call(entry)).status).toBe(404);
});

it("answers 400 to an import that breaks off, in the line that did not come", async () => {
  const user = newUser();
  await call(`/v1/users/${user}/kv/key`, { method: "PUT", json: 1 });
  const [header = "", entry = ""] = (await exportOf(user)).split("\n");
  const other = newUser();
  const headers = { "Content-Type": "application/x-ndjson" };
  const answer = await send(`/v1/users/${other}/import`, "POST", headers, broken(`${header}\n${entry}\n{`));
  expect(answer).toMatchObject({
    status: 400,
    body: { error: { code: "body_incomplete", details: [{ path: "line[3]" }] } },
  });
  // The whole lines are there: the same file, sent again, goes on behind it.
  expect((await call(`/v1/users/${other}/kv/key`)).body).toBe(1);
});
