// Erasures, as the client asks for them.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { cairn } from "../../src/index.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { newUser, token } from "../../../../test/call.ts";
import { create } from "../../../../test/thread-calls.ts";

it("is asked for by the client", async () => {
  const user = newUser();
  const { id } = await create(user);
  const client = cairn({
    url: "https://cairn.test",
    token: await token("*"),
    fetch: (request) => exports.default.fetch(request),
  });
  await client.memories.remember(user, { text: "x", scope: "home" });
  for (const one of [
    await client.erasures.thread(user, id),
    await client.erasures.scope(user, "home"),
    await client.erasures.user(user),
  ])
    expect(await client.erasures.get(one.id)).toMatchObject({ id: one.id, of: one.of });
  expect(
    await client.erasures.get(`${await userHash(user)}.019a0000-0000-7000-8000-000000000000`),
  ).toBeNull();
});
