// Where an example keeps its Cairn's data.
import { expect, it } from "vitest";
import { stateFor } from "../../../packages/dev/example.ts";
import { stateIn } from "../../../packages/dev/server-address.ts";

it("has a folder of its own, beside that of `npm start` and of other examples", () => {
  const folders = [stateIn({}), stateFor("node-agent", {}), stateFor("next-chat", {})];
  expect(new Set(folders).size).toBe(3);
});

it("takes the folder that the caller names", () => {
  expect(stateFor("node-agent", { CAIRN_STATE: "/tmp/mine" })).toBe("/tmp/mine");
});
