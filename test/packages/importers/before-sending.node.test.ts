// The command before it sends anything: no server is there.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, folder, written } from "./command.ts";
import * as exports from "./exports/index.ts";

/** Nobody listens here: a request would be an error. */
const nowhere = { CAIRN_URL: "http://127.0.0.1:9", CAIRN_TOKEN: "t" };

describe("before anything is sent", () => {
  it("a dry run counts, and needs no server", async () => {
    const { code, stdout, stderr } = await command(
      ["--from", "zep", written(exports.zep.graph), "--user", "u", "--dry-run"],
      {},
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      [
        "Found for 1 user: 5 memories (3 facts, 1 reflection, 1 episode), 0 threads, 0 messages.",
        "Skipped:",
        "  1 × facts that end before they begin (e4)",
        "  1 × episodes that are messages: import the threads (p1)",
        "Nothing was sent: this was a dry run.",
        "",
      ].join("\n"),
    );
  });

  it("a folder is read for the files that count", async () => {
    const exported = join(folder, "claude");
    mkdirSync(join(exported, "projects"), { recursive: true });
    const put = (name: string, content: unknown) =>
      writeFileSync(join(exported, name), JSON.stringify(content));
    put("conversations.json", exports.claude.conversations);
    put("memories.json", exports.claude.memories);
    put("users.json", [{ uuid: "acct", full_name: "A" }]);
    for (const project of exports.claude.projects) put(`projects/${project.uuid}.json`, project);
    const { stdout } = await command(["--from", "claude", exported, "--user", "u", "--dry-run"], {});
    expect(stdout).toContain("6 memories (3 reflections, 2 facts, 1 procedure), 1 thread, 3 messages.");
    expect(
      (await command(["--from", "chatgpt", join(exported, "projects"), "--dry-run"], {})).stderr,
    ).toContain("holds no file of such an export");
  });

  it("a wrong file is refused", async () => {
    const { code, stderr } = await command(
      ["--from", "mem0", written([{ id: "a", memory: "b" }]), written([{ id: "c" }]), "--user", "u"],
      nowhere,
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/\.json: \[0\]\.memory: is required: a string\.\n$/);
    expect(
      (await command(["--from", "mem0", join(folder, "none.json"), "--user", "u"], nowhere)).stderr,
    ).toContain("none.json cannot be read");
  });

  it("options are refused that lack something, or say nothing", async () => {
    const file = written(exports.chatgpt);
    const refused: [string[], string][] = [
      [["--from", "letta", file], "--from: 'letta' is none of mem0, zep"],
      [["--from", "mem0"], "Name a file of the export"],
      [["--from", "chatgpt", file], "The export names no users: name one with --user."],
      [["--from", "chatgpt", file, "--user", "*"], "--user is reserved"],
      [["--from", "chatgpt", file, "--user", "u", "--user-field", "x"], "exclude each other"],
      [
        ["--from", "zep", file, "--url", "http://127.0.0.1:9", "--token", "t", "--location", "mars"],
        "none of wnam",
      ],
      [["--from", "chatgpt", file, "--users", "u"], "Unknown option '--users'"],
    ];
    for (const [args, message] of refused)
      expect(await command(args, nowhere)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
    const unset = await command(["--from", "chatgpt", file, "--user", "u"]);
    expect(unset).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--url, or CAIRN_URL, is required"),
    });
    expect(await command(["--from", "zep", "--help"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("--dry-run"),
    });
  });
});
