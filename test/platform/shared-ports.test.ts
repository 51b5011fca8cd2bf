// The ports of an environment are built once, and all objects of the isolate use them.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type Bindings, portsOf } from "../../src/platform/bindings.ts";
import { Isolate } from "../../src/platform/isolate.ts";
import { userHash } from "../../src/domain/ids.ts";
import { newUser } from "../call.ts";

const envOf = async (user: string): Promise<Bindings> =>
  runInDurableObject(
    env.USER_MEMORY.getByName(await userHash(user)),
    (object) => (object as unknown as { env: Bindings }).env,
  );

it("objects that wake take the ports that another one has built", async () => {
  const isolate = new Isolate();
  const [first, second] = [await envOf(newUser()), await envOf(newUser())];
  expect(portsOf(second, isolate)).toBe(portsOf(first, isolate));
});

it("another environment, and another isolate, has ports of its own", () => {
  const [isolate, bound] = [new Isolate(), env as Bindings];
  const ports = portsOf(bound, isolate);
  expect(portsOf({ ...bound }, isolate)).not.toBe(ports);
  expect(portsOf(bound, new Isolate())).not.toBe(ports);
});

it("an object signs a receipt with the key that another one derived", async () => {
  const ports = portsOf(env, new Isolate());
  const kid = async (user: string) =>
    runInDurableObject(
      env.USER_MEMORY.getByName(await userHash(user)),
      async () => (await ports.receipts.publicKey()).kid,
    );
  expect(await kid(newUser())).toBe(await kid(newUser()));
});
