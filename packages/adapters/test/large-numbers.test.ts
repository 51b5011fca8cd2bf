// Numbers that JavaScript rounds, written by a program that does not, and read by the client.
import { expect, inject, it } from "vitest";
import { clientOf, newUser, tokenOf } from "./cairn.ts";

const ID = "9007199254740993";
const ROUNDED = 9_007_199_254_740_992;

async function written() {
  const user = newUser();
  const token = await tokenOf(user);
  const send = async (method: string, path: string, body: string) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(`${inject("cairn").url}/v1/${path}`, { method, headers, body });
    expect(answer.ok).toBe(true);
  };
  const rounding = await clientOf(user);
  const { id: thread } = await rounding.threads.create(user);
  await send("PUT", `users/${user}/kv/order`, `{"id":${ID},"n":1.5}`);
  await send("PUT", `cache/${user}`, `{"id":${ID}}`);
  await send(
    "POST",
    `threads/${thread}/messages`,
    `{"messages":[{"role":"user","content":"hi","order":${ID}}]}`,
  );
  return { user, thread, rounding, exact: await clientOf(user, { largeNumbers: "text" }) };
}

it("are rounded by the client, though the server keeps their digits", async () => {
  const { user, thread, rounding } = await written();
  expect(await rounding.kv.get(user, "order")).toEqual({ id: ROUNDED, n: 1.5 });
  expect((await rounding.threads.read(thread)).items[0]?.message).toMatchObject({ order: ROUNDED });
});

it("are texts of their digits with `largeNumbers`, in every value that the client reads", async () => {
  const { user, thread, exact } = await written();
  expect(await exact.kv.get(user, "order")).toEqual({ id: ID, n: 1.5 });
  expect(await exact.within(60_000).kv.get(user, "order")).toEqual({ id: ID, n: 1.5 });
  expect((await exact.kv.list(user, { values: true })).items[0]?.value).toEqual({ id: ID, n: 1.5 });
  expect(await exact.cache.get(user)).toEqual({ id: ID });
  expect((await exact.threads.read(thread)).items[0]).toMatchObject({ seq: 1, message: { order: ID } });
  for await (const { seq, message } of exact.threads.stream(thread))
    expect([seq, message["order"]]).toEqual([1, ID]);
});
