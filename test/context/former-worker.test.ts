// In the minutes of a deployment, the Worker of the version before calls the object of this one.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, onTestFinished, vi } from "vitest";
import type { UserMemory } from "../../durable-objects/user-memory.ts";
import type { ContextRequest } from "../../src/contract/user-memory.ts";
import { userHash } from "../../src/domain/ids.ts";
import { newUser } from "../call.ts";
import { create } from "../thread-calls.ts";
import { context, lives } from "./calls.ts";

it("sends the layers of messages too, which are in no block", async () => {
  const user = newUser();
  await lives(user, "Braga");
  const { id: threadId } = await create(user);
  const history = { type: "history", n: 4, tokens: { min: 2_000 } } as const;
  await runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (instance) => {
    // The class of the object is that of its instance.
    const proto = Object.getPrototypeOf(instance) as UserMemory;
    const real = instance.context.bind(instance);
    const spy = vi.spyOn(proto, "context").mockImplementationOnce((request: ContextRequest) =>
      real({
        ...request,
        layers: [...request.layers, { layer: history, slot: 2, min: 2_000, max: 2_000, stable: false }],
      }),
    );
    onTestFinished(() => spy.mockRestore());
  });
  const layers = [{ type: "profile" }, { type: "recalled" }, history];
  const answer = await context(user, { query: "Where does Ann live?", threadId, layers, format: "messages" });
  expect(answer.sections.map(({ layer }: { layer: string }) => layer)).not.toContain("history");
  expect(answer.stable.text).toContain("Ann: lives in Braga");
});
