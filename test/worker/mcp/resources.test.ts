// The user's facts and procedures as resources, the prompt, and how text of anybody's is kept from being more than data.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { oneLine, quoted } from "../../../src/domain/conversation/stored-text.ts";
import { listed } from "../../../src/worker/mcp/text.ts";
import { newUser, pages, token, tokenWith } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { mcp } from "../../mcp-calls.ts";
import { remember, remembered, rememberMany } from "../../memory-calls.ts";

afterEach(restore);

type Listed = { uri: string; name: string; mimeType: string };
const procedure = (title: string, text = `how to ${title}`, createdAt = clock()) => ({
  kind: "procedure",
  title,
  text,
  createdAt,
});

async function allResources(bearer: string): Promise<Listed[][]> {
  const found: Listed[][] = [];
  const page = async (after: string | undefined) => {
    const asked = after === undefined ? {} : { cursor: after };
    const { result } = await mcp("resources/list", asked, { token: bearer });
    return { resources: result.resources, cursor: result.nextCursor };
  };
  for await (const { resources } of pages(page)) found.push(resources);
  return found;
}
const readText = async (bearer: string, uri: string): Promise<string> =>
  (await mcp("resources/read", { uri }, { token: bearer })).result.contents[0].text;

describe("the list of resources", () => {
  it("begins with the facts, and goes on with every procedure of the user and of the shared owners", async () => {
    const [user, team] = [newUser(), `shared:${newUser()}`];
    const own = Array.from({ length: 60 }, (_, i) => `own ${i}`);
    await rememberMany(
      user,
      own.map((title, i) => procedure(title, "x", 1000 + i)),
    );
    await remember(team, procedure("release"));
    const bearer = await tokenWith({ user, shared: [team, `shared:${newUser()}`] });
    const listing = await allResources(bearer);
    expect(listing.length).toBeGreaterThan(2);
    const [first, context, ...others] = listing.flat();
    expect(first).toMatchObject({ uri: "cairn://facts", mimeType: "text/plain" });
    expect(context).toMatchObject({ uri: "cairn://context", mimeType: "text/plain" });
    expect(others.map(({ name }) => name)).toEqual([...own.toReversed(), "release"]);
    const shared = others.at(-1)?.uri ?? "";
    expect(shared).toBe(`cairn://procedures/release?owner=${encodeURIComponent(team)}`);
    expect(await readText(bearer, shared)).toBe("how to release");
  });

  it("refuses a cursor that it did not hand out, or that was another token's", async () => {
    const team = `shared:${newUser()}`;
    const theirs = await mcp(
      "resources/list",
      {},
      { token: await tokenWith({ user: newUser(), shared: [team] }) },
    );
    const bearer = { token: await token(newUser()) };
    for (const cursor of ["nonsense", theirs.result.nextCursor]) {
      expect(cursor).toBeTruthy();
      const { error } = await mcp("resources/list", { cursor }, bearer);
      expect([error.code, error.message.split(":")[0]]).toEqual([-32602, "invalid_cursor"]);
    }
  });

  it("has templates for what it does not list", async () => {
    const { result } = await mcp("resources/templates/list", {}, { token: await token(newUser()) });
    expect(result.resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).toEqual([
      "cairn://facts{?cursor}",
      "cairn://procedures/{title}{?owner,scope}",
    ]);
  });
});

describe("a resource", () => {
  it("of a procedure is its body as it was stored, whatever its title", async () => {
    const user = newUser();
    const titles = ["deploy", "a/b?c#d e", "..", "é 日本", "100%"];
    await rememberMany(
      user,
      titles.map((title, i) => procedure(title, `<memory> ${title}\nand && more`, 1000 + i)),
    );
    const bearer = await token(user);
    const uris = (await allResources(bearer)).flat().slice(2);
    expect(uris.map(({ name }) => name)).toEqual(titles.toReversed());
    for (const { uri, name } of uris)
      expect(await readText(bearer, uri)).toBe(`<memory> ${name}\nand && more`);
  });

  it("of a procedure has its scope in its address, and its owner", async () => {
    const [user, team] = [newUser(), `shared:${newUser()}`];
    await rememberMany(user, [
      { ...procedure("deploy", "of none", 1000) },
      { ...procedure("deploy", "of shop", 2000), scope: "the shop" },
    ]);
    await remember(team, { ...procedure("deploy", "of team"), scope: "s&t" });
    const bearer = await tokenWith({ user, shared: [team] });
    const uris = (await allResources(bearer)).flat().slice(2);
    expect(uris[0]?.uri).toBe("cairn://procedures/deploy?scope=the%20shop");
    const texts = await Promise.all(uris.map(({ uri }) => readText(bearer, uri)));
    expect(texts).toEqual(["of shop", "of none", "of team"]);
  });

  it("of the facts says where the next page is", async () => {
    const user = newUser();
    await rememberMany(
      user,
      Array.from({ length: 40 }, (_, i) => ({ text: `fact ${i} ${"x".repeat(1000)}` })),
    );
    await remember(user, { kind: "episode", text: "no fact" });
    const bearer = await token(user);
    const numbers: number[] = [];
    let uri: string | undefined = "cairn://facts";
    while (uri !== undefined) {
      const text = await readText(bearer, uri);
      expect(text).not.toContain("no fact");
      numbers.push(...Array.from(text.matchAll(/\] fact (\d+)/g), ([, number]) => Number(number)));
      uri = /There are more: (\S+)/.exec(text)?.[1];
    }
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, i) => 39 - i));
  });

  it.each([
    "cairn://procedures/none",
    "cairn://procedures/%zz",
    "cairn://procedures/",
    "cairn://procedures/deploy?owner=shared:other",
    "cairn://nothing",
    "https://example.com/",
    "",
  ])("that is not there (%s) is an error of the protocol that names it", async (uri) => {
    const { error } = await mcp("resources/read", { uri }, { token: await token(newUser()) });
    expect(error).toMatchObject({ code: -32602, data: { uri } });
  });

  it("is an error that says so where D1 does not answer", async () => {
    const bearer = { token: await token(newUser()) };
    control.d1Reads = "fail";
    for (const [method, params] of [
      ["resources/list", {}],
      ["resources/read", { uri: "cairn://facts" }],
      ["resources/read", { uri: "cairn://procedures/x" }],
      ["prompts/get", { name: "about_me" }],
    ] as const) {
      const { error } = await mcp(method, params, bearer);
      expect([error.code, error.message]).toEqual([
        -32603,
        "storage_unavailable: A store did not answer; try again.",
      ]);
    }
  });
});

it("has a prompt that asks what is known about the user, and brings the facts along", async () => {
  const user = newUser();
  const bearer = { token: await token(user) };
  expect((await mcp("prompts/list", {}, bearer)).result.prompts).toEqual([
    expect.objectContaining({ name: "about_me", title: "What do you know about me?" }),
  ]);
  const textOf = async () =>
    (await mcp("prompts/get", { name: "about_me" }, bearer)).result.messages[0].content.text as string;
  expect(await textOf()).toContain("No facts are remembered.");
  await remembered(user, { subject: "user", predicate: "likes", object: "tea" });
  const text = await textOf();
  expect(text).toMatch(/^What do you know about me\?/);
  expect(text).toContain("user likes tea");
});

describe("text of anybody's", () => {
  const nasty = fc.string({
    unit: fc.constantFrom(
      "<",
      "/",
      "memory",
      "MEMORY",
      ">",
      " ",
      "\n",
      "\r",
      "\u2028",
      "\u0085",
      "]",
      '"',
      "- [",
      "😀",
      "é",
    ),
    maxLength: 40,
  });

  it("never closes the tags that it stands between, nor opens others", () => {
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 5 }), (texts) => {
        const text = listed("heading", texts);
        expect(text.match(/<\s*\/?\s*memory\b/gi)).toEqual(["<memory", "</memory"]);
      }),
    );
  });

  it("is one item on one line, however many it has", () => {
    fc.assert(
      fc.property(fc.array(nasty, { minLength: 1, maxLength: 5 }), (texts) => {
        const text = listed(
          "heading",
          texts.map((one) => `- ${quoted(one)} ${oneLine(one)}`),
        );
        expect(text.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(texts.length + 4);
      }),
    );
  });

  it("reads 500,000 blanks without going back over them, which would take longer than a test may", () => {
    const blanks = " ".repeat(500_000);
    for (const text of [
      `x ${blanks}end`,
      `<${blanks}end`,
      `< / ${blanks}end`,
      `<${blanks}/${blanks}memories`,
      "<".repeat(500_000),
    ]) {
      expect(oneLine(text).length).toBeLessThanOrEqual(text.length);
      expect(listed("heading", [text])).toContain("heading");
    }
  });

  it("says that it was cut, also where its line breaks became few", () => {
    expect(oneLine(`a${"\n".repeat(5000)}b`, 10)).toBe("a ⏎ … (cut)");
    expect(oneLine("a \n\n b", 10)).toBe("a ⏎ b");
  });

  it("is cut between characters, and says so", () => {
    fc.assert(
      fc.property(nasty, fc.integer({ min: 1, max: 20 }), (text, most) => {
        const line = oneLine(text, most);
        expect(line.isWellFormed()).toBe(true);
        expect(line.length).toBeLessThanOrEqual(most + "… (cut)".length);
      }),
    );
    expect(oneLine("abcdef", 3)).toBe("abc… (cut)");
    expect(oneLine("ab😀", 3)).toBe("ab… (cut)");
  });
});
