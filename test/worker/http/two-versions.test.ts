// During a deployment, objects of another version answer, with codes that this one does not know.
import { afterEach, expect, it, vi } from "vitest";
import { UserMemory } from "../../../durable-objects/user-memory.ts";
import { call, newUser, token } from "../../call.ts";
import { mcp } from "../../mcp-calls.ts";

afterEach(() => void vi.restoreAllMocks());

const answers = (code: string) =>
  // A code of another version has no type here.
  vi.spyOn(UserMemory.prototype, "context").mockResolvedValue({ ok: false, code: code as "internal" });
const context = (user: string) => call(`/v1/users/${user}/context`, { json: { query: "tea" } });

it("answers a code that it does not know as internal, with the request's id, and logs it", async () => {
  answers("of_tomorrow");
  const logged = vi.spyOn(console, "error");
  const { status, body } = await context(newUser());
  expect([status, body.error.code]).toEqual([500, "internal"]);
  expect(logged).toHaveBeenCalledWith(
    expect.objectContaining({
      requestId: body.error.requestId,
      error: expect.stringContaining("of_tomorrow"),
    }),
  );
});

it("tells a client of MCP the same", async () => {
  answers("of_tomorrow");
  const { error } = await mcp(
    "resources/read",
    { uri: "cairn://context" },
    { token: await token(newUser()) },
  );
  expect(error.message).toContain("internal: Something went wrong");
});
