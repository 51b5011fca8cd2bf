// A receiver over HTTP that verifies with the library of Standard Webhooks, against the real server.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../../packages/dev/local-server.ts";
import type { ChangesDelivery } from "../../../src/domain/schema/changes.ts";

const SECRET = `whsec_${Buffer.from("the receiver's secret, 32 bytes!").toString("base64")}`;
const state = mkdtempSync(join(tmpdir(), "cairn-webhook-"));
let server: LocalServer;
let receiver: Server;
/** The messages that were acknowledged, and the failures that come first. */
const received: { id: unknown; delivery: ChangesDelivery }[] = [];
const refused: unknown[] = [];
let failures = 1;
let told: () => void = () => {};

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = request.headers as Record<string, string>;
  const delivery = new Webhook(SECRET).verify(await text(request), headers) as ChangesDelivery;
  const id = headers["webhook-id"];
  const fails = failures-- > 0;
  if (fails) refused.push(id);
  else received.push({ id, delivery });
  response.writeHead(fails ? 503 : 204).end();
  told();
}

beforeAll(async () => {
  receiver = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  server = await startLocalServer({
    port: await freePort(),
    state,
    vars: { WEBHOOK_URL: `http://127.0.0.1:${port}/cairn`, WEBHOOK_SECRET: SECRET },
  });
});
afterAll(async () => {
  await server.stop();
  receiver.close();
  rmSync(state, { recursive: true, force: true });
});

async function until(enough: () => boolean): Promise<void> {
  while (!enough()) await new Promise<void>((resolve) => void (told = resolve));
}

it("gets each change of a user by a signed message, again after a failure", async () => {
  const user = "alice";
  const headers = {
    Authorization: `Bearer ${await developmentToken(user)}`,
    "Content-Type": "application/json",
  };
  const remember = async (said: string): Promise<string> => {
    const answer = await fetch(`${server.url}/v1/users/${user}/memories`, {
      method: "POST",
      headers,
      body: JSON.stringify({ text: said }),
    });
    return ((await answer.json()) as { id: string }).id;
  };
  const ids = () =>
    received.flatMap(({ delivery }) =>
      delivery.data.changes.items.map((item) => ("id" in item ? item.id : item.type)),
    );
  const tea = await remember("I like tea");
  await until(() => received.length === 1);
  expect(refused).toEqual([received[0]?.id]);
  expect(received[0]?.delivery).toMatchObject({
    type: "user.changed",
    data: { user, changes: { reset: true } },
  });
  expect(ids()).toEqual([tea]);
  const coffee = await remember("I like coffee");
  await until(() => received.length === 2);
  expect(ids()).toEqual([tea, coffee]);
});
