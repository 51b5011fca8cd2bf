// Every command of Anthropic's memory tool, beside the SDK's own over a folder: they tell the model the same.
import { mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, win32 } from "node:path";
import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cairnMemoryFiles, type CairnMemoryFilesOptions } from "../src/anthropic.ts";
import { normalPath } from "../src/anthropic/paths.ts";
import { CairnError } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import { fromNow } from "../../../test/from-now.ts";
import { anyCharacter } from "../../../test/any-character.ts";

type Command = Parameters<MemoryToolHandlers[keyof MemoryToolHandlers]>[0];

/** What the model is told: as the tool runner has it, with `Error: ` before what was thrown. */
async function told(handlers: MemoryToolHandlers, command: Command): Promise<string> {
  const handler = handlers[command.command] as (given: Command) => Promise<string>; // each takes the command of its own name
  try {
    return await handler.call(handlers, command);
  } catch (error) {
    return `Error: ${(error as Error).message}`;
  }
}

const view = (path: string, view_range?: number[]): Command => ({
  command: "view",
  path,
  ...(view_range && { view_range }),
});
const create = (path: string, file_text = "a\nb\n"): Command => ({ command: "create", path, file_text });
const replace = (path: string, old_str: string, new_str: string): Command => ({
  command: "str_replace",
  path,
  old_str,
  new_str,
});
const insert = (path: string, insert_line: number, insert_text: string): Command => ({
  command: "insert",
  path,
  insert_line,
  insert_text,
});
const remove = (path: string): Command => ({ command: "delete", path });
const rename = (old_path: string, new_path: string): Command => ({ command: "rename", old_path, new_path });

async function files(more: Partial<CairnMemoryFilesOptions> = {}) {
  const user = newUser();
  const memory = await clientOf(user);
  const handlers = cairnMemoryFiles({ memory, user, ...more });
  return { user, memory, handlers, tell: (command: Command) => told(handlers, command) };
}

describe("view", () => {
  it("shows a file with its lines numbered, six wide", async () => {
    const { tell } = await files();
    await tell(create("/memories/notes.txt", "Hello World\nThis is line two"));
    expect(await tell(view("/memories/notes.txt"))).toBe(
      "Here's the content of /memories/notes.txt with line numbers:\n     1\tHello World\n     2\tThis is line two",
    );
    expect(await tell(view("/memories/notes.txt", [2, -1]))).toBe(
      "Here's the content of /memories/notes.txt with line numbers:\n     2\tThis is line two",
    );
  });

  it("lists two levels, with sizes of files and of what directories hold, without what is hidden", async () => {
    const { tell } = await files();
    await tell(create("/memories/b.txt", "x".repeat(5632)));
    await tell(create("/memories/.hidden", "12345"));
    await tell(create("/memories/node_modules/m.js", "1"));
    await tell(create("/memories/a/deep/er/file", "1234"));
    await tell(create("/memories/a/.git/config", "12"));
    await tell(create("/memories/a-b", ""));
    expect(await tell(view("/memories"))).toBe(
      `Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:
5.5K\t/memories
6B\t/memories/a/
4B\t/memories/a/deep/
0B\t/memories/a-b
5.5K\t/memories/b.txt`,
    );
    expect(await tell(view("/memories/a/deep"))).toBe(
      `Here're the files and directories up to 2 levels deep in /memories/a/deep, excluding hidden items and node_modules:
4B\t/memories/a/deep
4B\t/memories/a/deep/er/
4B\t/memories/a/deep/er/file`,
    );
  });

  it("shows /memories of a user who has none", async () => {
    const { tell } = await files();
    expect(await tell(view("/memories"))).toBe(
      "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories",
    );
  });
});

/** Without the sizes of directories, which file systems count in their own way. */
function comparable(text: string): string {
  const [heading = "", ...lines] = text.split("\n");
  if (!heading.startsWith("Here're the files")) return text;
  const own = lines.map((line, i) => (i === 0 || line.endsWith("/") ? line.replace(/^\S+/, "-") : line));
  return [heading, ...own].join("\n");
}

/** Removes what only a file system knows: directories that hold no file. */
function prune(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) continue;
    prune(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}

const paths = fc
  .array(fc.constantFrom("a", "b.txt", ".c", "node_modules", "é ü"), { maxLength: 3 })
  .map((segments) => ["/memories", ...segments].join("/"));
const texts = fc
  .array(fc.constantFrom("x", "y", "xy", "", "é", "zz"), { maxLength: 5 })
  .map((lines) => lines.join("\n"));
// Within a line, and once in it: what goes beyond that, the SDK's does not find.
const parts = fc.constantFrom("y", "é", "zz", "q");
const at = fc.integer({ min: -1, max: 6 });
const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(paths, texts).map(([path, text]) => create(path, text)) },
  { weight: 2, arbitrary: fc.tuple(paths, parts, texts).map(([path, old, by]) => replace(path, old, by)) },
  fc.tuple(paths, at, texts).map(([path, line, text]) => insert(path, line, text)),
  fc.tuple(paths, at, at).map(([path, from, to]) => view(path, [from, to])),
  { weight: 2, arbitrary: paths.map((path) => view(path)) },
  paths.map(remove),
  { weight: 2, arbitrary: fc.tuple(paths, paths).map(([from, to]) => rename(from, to)) },
);

describe("beside the SDK's own file system", () => {
  /** What the platform says for the SDK: a file where a directory would have to be, a directory moved into itself. */
  const platforms = /^Error: E[A-Z]+:/;

  it("tells the model the same of random commands", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(commands, { minLength: 1, maxLength: 15 }), async (all) => {
        const folder = mkdtempSync(join(tmpdir(), "cairn-memories-"));
        const reference = await BetaLocalFilesystemMemoryTool.init(folder);
        const handlers = cairnMemoryFiles({ memory, user, prefix: `${++run}:` });
        try {
          for (const command of [...all, view("/memories")]) {
            const [ours, theirs] = [await told(handlers, command), await told(reference, command)];
            prune(join(folder, "memories"));
            // What the platform says, ours says in words of its own.
            const [one, other] = platforms.test(theirs)
              ? [ours.slice(0, 6), "Error:"]
              : [comparable(ours), comparable(theirs)];
            expect(one).toBe(other);
          }
        } finally {
          rmSync(folder, { recursive: true });
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("the texts of errors", () => {
  const missing = "/memories/none.txt";
  it.each<[string, Command, string]>([
    ["view", view(missing), `Error: The path ${missing} does not exist. Please provide a valid path.`],
    ["create over a file", create("/memories/a.txt"), "Error: File /memories/a.txt already exists"],
    ["create over a directory", create("/memories/dir"), "Error: File /memories/dir already exists"],
    ["create over /memories", create("/memories"), "Error: File /memories already exists"],
    [
      "create in a file",
      create("/memories/a.txt/b/c"),
      "Error: The path /memories/a.txt is not a directory.",
    ],
    [
      "str_replace in nothing",
      replace(missing, "a", "b"),
      `Error: The path ${missing} does not exist. Please provide a valid path.`,
    ],
    [
      "str_replace in a directory",
      replace("/memories/dir", "a", "b"),
      "Error: The path /memories/dir is not a file.",
    ],
    [
      "str_replace of what is not there",
      replace("/memories/a.txt", "zebra", "b"),
      "Error: No replacement was performed, old_str `zebra` did not appear verbatim in /memories/a.txt.",
    ],
    [
      "str_replace of what is there often",
      replace("/memories/a.txt", "o", "b"),
      "Error: No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2, 3. Please ensure it is unique",
    ],
    [
      "insert behind the end",
      insert("/memories/a.txt", 9, "x"),
      "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 4]",
    ],
    [
      "insert between lines",
      insert("/memories/a.txt", 1.5, "x"),
      "Error: Invalid `insert_line` parameter: 1.5. It should be within the range of lines of the file: [0, 4]",
    ],
    [
      "insert into nothing",
      insert(missing, 0, "x"),
      `Error: The path ${missing} does not exist. Please provide a valid path.`,
    ],
    ["delete of nothing", remove(missing), `Error: The path ${missing} does not exist`],
    ["delete of /memories", remove("/memories/"), "Error: Cannot delete the /memories directory itself"],
    ["rename of nothing", rename(missing, "/memories/x"), `Error: The path ${missing} does not exist`],
    [
      "rename of /memories",
      rename("/memories", "/memories/x"),
      "Error: Cannot rename the /memories directory itself",
    ],
    [
      "rename to what is there",
      rename("/memories/dir/b.txt", "/memories/a.txt"),
      "Error: The destination /memories/a.txt already exists",
    ],
    [
      "rename of a directory into itself",
      rename("/memories/dir", "/memories/dir/sub"),
      "Error: Cannot move /memories/dir into itself: /memories/dir/sub",
    ],
    [
      "a call without its text",
      { command: "insert", path: "/memories/a.txt", insert_line: 0 } as unknown as Command,
      "Error: Invalid `insert_text` parameter: it should be a string",
    ],
  ])("%s", async (_, command, text) => {
    const { tell } = await files();
    await tell(create("/memories/a.txt", "one\ntwo\nfour\n"));
    await tell(create("/memories/dir/b.txt", "b"));
    expect(await tell(command)).toBe(text);
    expect(await tell(view("/memories/a.txt"))).toContain("     3\tfour");
  });
});

describe("the texts of success", () => {
  it("are those of the SDK", async () => {
    const { tell } = await files();
    expect(await tell(create("/memories/a.txt", "1\n2\n3\n4\n5\n6"))).toBe(
      "File created successfully at: /memories/a.txt",
    );
    expect(await tell(replace("/memories/a.txt", "4", "four"))).toBe(
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     2\t2\n     3\t3\n     4\tfour\n     5\t5\n     6\t6",
    );
    expect(await tell(insert("/memories/a.txt", 1, "one and a half\n"))).toBe(
      "The file /memories/a.txt has been edited.",
    );
    expect(await tell(view("/memories/a.txt", [1, 3]))).toContain("     2\tone and a half\n     3\t2");
    expect(await tell(rename("/memories/a.txt", "/memories/d/b.txt"))).toBe(
      "Successfully renamed /memories/a.txt to /memories/d/b.txt",
    );
    expect(await tell(remove("/memories/d"))).toBe("Successfully deleted /memories/d");
  });

  it("come for what the SDK does not find: text over several lines; and twice in a line is twice", async () => {
    const { tell } = await files();
    await tell(create("/memories/a.txt", "one\ntwo\nthree three"));
    expect(await tell(replace("/memories/a.txt", "one\ntwo", "1\n2"))).toContain("     1\t1\n     2\t2");
    expect(await tell(replace("/memories/a.txt", "three", "3"))).toContain("in lines: 3.");
    expect(await tell(replace("/memories/a.txt", "2\n", "$&$1"))).toContain("     2\t$&$1three three");
  });
});

describe("paths", () => {
  it.each([
    "/etc/passwd",
    "memories/a",
    "/memoriesX/a",
    "/memories2",
    "/Memories/a",
    "",
    " /memories/a",
    "file:///memories/a",
  ])("outside of /memories are refused: %j", async (path) => {
    const { tell } = await files();
    expect(await tell(view(path))).toBe(`Error: Path must start with /memories, got: ${path}`);
    expect(await tell(create(path))).toBe(`Error: Path must start with /memories, got: ${path}`);
  });

  it.each([
    "/memories/../etc/passwd",
    "/memories/a/../../b",
    "/memories/a/..",
    "/memories/..\\b",
    "/memories/\\..\\b",
    "/memories/%2e%2e/b",
    "/memories/%2E%2e%2Fb",
    "/memories/%252e%252e/b",
    "/memories/a%2fb",
    "/memories/a%5cb",
    "/memories/a%00",
    "/memories/a\0b",
  ])("that could lead out are refused: %j", async (path) => {
    const { tell } = await files();
    for (const command of [
      view(path),
      create(path),
      replace(path, "a", "b"),
      insert(path, 0, "a"),
      remove(path),
    ])
      expect(await tell(command)).toBe(`Error: Path ${path} would escape /memories directory`);
    await tell(create("/memories/a"));
    expect(await tell(rename(path, "/memories/x"))).toContain("would escape");
    expect(await tell(rename("/memories/a", path))).toContain("would escape");
  });

  it.each(["/memories/a\nb", "/memories/a\tb", "/memories/\u2028", "/memories/\ud800"])(
    "that would break a listing are refused: %j",
    async (path) => {
      const { tell } = await files();
      expect(await tell(create(path))).toContain("holds a character that no path may hold");
    },
  );

  it("that mean the same are the same", async () => {
    const { tell } = await files();
    await tell(create("/memories//a/./b.txt", "here"));
    expect(await tell(view("/memories/a/b.txt/"))).toContain("     1\there");
  });

  it("never reach an entry that is not under the prefix and /memories, whatever they are", () => {
    const pieces = fc.constantFrom(
      "..",
      ".",
      "/",
      "\\",
      "%2e",
      "%2f",
      "%5c",
      "%25",
      "a",
      "memories",
      "\0",
      "X",
      "~",
    );
    const anyPath = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(pieces).map((all) => all.join("")),
      fc.array(pieces).map((all) => `/memories${all.join("")}`),
      fc.array(pieces).map((all) => `/memories/${all.join("/")}`),
    );
    fc.assert(
      fc.property(anyPath, (path) => {
        const normal = attempt(() => normalPath(path));
        if (normal === undefined) return;
        expect(normal === "/memories" || normal.startsWith("/memories/")).toBe(true);
        expect(new URL(`http://h${normal}`).pathname.startsWith("/memories")).toBe(true);
        expect(posix.normalize(normal)).toBe(normal);
        expect(win32.normalize(normal)).toBe(normal.replaceAll("/", "\\"));
        expect(normalPath(normal)).toBe(normal);
        const twice = attempt(() => decodeURIComponent(decodeURIComponent(normal))) ?? normal;
        expect(posix.normalize(twice).startsWith("/memories")).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

const attempt = <T>(what: () => T): T | undefined => {
  try {
    return what();
  } catch {
    return undefined;
  }
};

describe("in Cairn", () => {
  it("a file is an entry of its text, which any client reads and writes", async () => {
    const { user, memory, tell } = await files({ prefix: "planner:" });
    await tell(create("/memories/plan.md", "# Plan"));
    expect(await memory.kv.get(user, "planner:/memories/plan.md")).toBe("# Plan");
    await memory.kv.set(user, "planner:/memories/plan.md", "# Another");
    expect(await tell(view("/memories/plan.md"))).toContain("     1\t# Another");
    const other = cairnMemoryFiles({ memory, user, prefix: "writer:" });
    expect(await told(other, view("/memories/plan.md"))).toContain("does not exist");
  });

  it("an entry that is no text is no file", async () => {
    const { user, memory, tell } = await files();
    await memory.kv.set(user, "/memories/data", { a: 1 });
    expect(await tell(view("/memories/data"))).toBe("Error: Unsupported file type for /memories/data");
    expect(await tell(create("/memories/data"))).toBe("Error: File /memories/data already exists");
    expect(await memory.kv.get(user, "/memories/data")).toEqual({ a: 1 });
  });

  it("a file may be bounded", async () => {
    const { tell } = await files({ maxFileBytes: 2048 });
    expect(await tell(create("/memories/a", "é".repeat(1500)))).toBe(
      "Error: File /memories/a is too large (2.9K). Maximum is 2K.",
    );
    await tell(create("/memories/a", "x".repeat(2048)));
    expect(await tell(insert("/memories/a", 0, "y"))).toBe(
      "Error: File /memories/a is too large (2.0K). Maximum is 2K.",
    );
  });

  it("a file is of 1 MiB as JSON at most, and its key of 1,024 bytes", async () => {
    const { tell } = await files();
    expect(await tell(create("/memories/a", "x".repeat(1024 * 1024)))).toContain("Error: value_too_large");
    expect(await tell(create(`/memories/${"a".repeat(1024)}`))).toContain("Error: limit_exceeded");
  });

  it("a file that nobody reads is gone when its time is over", async () => {
    const { user, memory, tell } = await files({ ttlMs: 3_600_000 });
    await tell(create("/memories/a", "x"));
    await tell(insert("/memories/a", 0, "y"));
    await tell(rename("/memories/a", "/memories/b"));
    const { items } = await memory.kv.list(user);
    expect(items[0]?.expiresAt).toBeGreaterThan(fromNow(1_800_000));
  });

  it("a directory moves in one step, and not at all where it is too large for that", async () => {
    const { user, memory, tell } = await files();
    const many = Array.from({ length: 501 }, (_, i) => ({
      op: "set" as const,
      key: `/memories/a/${i}`,
      value: "x",
    }));
    await memory.kv.batch(user, many);
    expect(await tell(rename("/memories/a", "/memories/b"))).toBe(
      "Error: The directory /memories/a holds too much to be renamed in one step. Please rename what is in it.",
    );
    expect((await memory.kv.list(user, { prefix: "/memories/b", count: true })).count).toBe(0);
    await tell(remove("/memories/a/500"));
    expect(await tell(rename("/memories/a", "/memories/b/c"))).toContain("Successfully renamed");
    expect((await memory.kv.list(user, { prefix: "/memories/b/c/", count: true })).count).toBe(500);
    expect(await tell(view("/memories/a"))).toContain("does not exist");
    await tell(remove("/memories/b"));
    expect((await memory.kv.list(user, { count: true })).count).toBe(0);
  });
});

describe("two agents at once", () => {
  it("lose no edit", async () => {
    const { tell, user } = await files();
    await tell(create("/memories/log", ""));
    const agents = await Promise.all(
      Array.from({ length: 12 }, async () => cairnMemoryFiles({ memory: await clientOf(user), user })),
    );
    await Promise.all(agents.map((agent, i) => told(agent, insert("/memories/log", 0, `line ${i}`))));
    const seen = await tell(view("/memories/log"));
    for (const i of agents.keys()) expect(seen).toMatch(new RegExp(`\\tline ${i}$`, "m"));
  });

  it("create a file once", async () => {
    const { tell } = await files();
    const answers = await Promise.all(["a", "b", "c", "d"].map((text) => tell(create("/memories/f", text))));
    expect(answers.filter((answer) => answer.startsWith("File created"))).toHaveLength(1);
    const kept = "abcd"[answers.findIndex((answer) => answer.startsWith("File created"))];
    expect(await tell(view("/memories/f"))).toContain(`     1\t${kept}`);
  });

  it("that rename and edit lose neither", async () => {
    const { tell } = await files();
    await tell(create("/memories/a/f", "old"));
    const [renamed, edited] = await Promise.all([
      tell(rename("/memories/a", "/memories/b")),
      tell(replace("/memories/a/f", "old", "new")),
    ]);
    expect(renamed).toContain("Successfully");
    const text = await tell(view("/memories/b/f"));
    // The edit came first, or found the file no more.
    expect(text).toContain(edited.startsWith("Error") ? "old" : "new");
  });
});

describe("failures", () => {
  it("are told to the model with Cairn's code, and nothing is lost", async () => {
    const { user, tell } = await files();
    await tell(create("/memories/a", "kept"));
    const down = await clientOf(user, { retry: false, fetch: () => new Response("down", { status: 503 }) });
    const handlers = cairnMemoryFiles({ memory: down, user });
    expect(await told(handlers, replace("/memories/a", "kept", "gone"))).toBe(
      "Error: no_envelope: HTTP 503: the answer does not come from Cairn",
    );
    await expect(
      Promise.resolve(handlers.view({ command: "view", path: "/memories" })),
    ).rejects.toBeInstanceOf(CairnError);
    expect(await tell(view("/memories/a"))).toContain("kept");
  });

  it("do not make an edit twice whose answer was lost", async () => {
    const { user, tell } = await files();
    await tell(create("/memories/a", ""));
    let lost = false;
    const flaky = await clientOf(user, {
      fetch: async (request) => {
        const answer = await fetch(request);
        if (lost || request.method !== "POST") return answer;
        lost = true;
        throw new TypeError("the connection broke");
      },
    });
    const handlers = cairnMemoryFiles({ memory: flaky, user });
    expect(await told(handlers, insert("/memories/a", 0, "once"))).toBe(
      "The file /memories/a has been edited.",
    );
    expect(lost).toBe(true);
    expect(await tell(view("/memories/a"))).toBe(
      "Here's the content of /memories/a with line numbers:\n     1\tonce\n     2\t",
    );
  });

  it("of a token of another user tell nothing of what is there", async () => {
    const { user, tell } = await files();
    await tell(create("/memories/a", "secret"));
    const stranger = cairnMemoryFiles({ memory: await clientOf(newUser()), user });
    for (const command of [
      view("/memories/a"),
      view("/memories"),
      create("/memories/b"),
      remove("/memories/a"),
    ])
      expect(await told(stranger, command)).toContain("Error: not_found");
    expect(await tell(view("/memories/a"))).toContain("secret");
  });

  it("end with the signal", async () => {
    const { user } = await files();
    const never = await clientOf(user, {
      fetch: (request) =>
        new Promise((_, reject) =>
          request.signal.addEventListener("abort", () => reject(new Error("aborted"))),
        ),
    });
    const signal = AbortSignal.timeout(50);
    const handlers = cairnMemoryFiles({ memory: never, user, signal });
    await expect(
      Promise.resolve(handlers.view({ command: "view", path: "/memories" })),
    ).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });
});
