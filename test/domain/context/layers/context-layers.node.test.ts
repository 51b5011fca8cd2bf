// The list of layers: docs/reference/context.md tells it, and a further layer is one file and its line in the list.
import { describe, expect, it, vi } from "vitest";
import { layers } from "../../../../src/domain/context/layers/index.ts";
import { memoryItem } from "../../../../src/domain/context/layers/rules.ts";
import { planned, type PlannedLayer, USUAL_LAYERS } from "../../../../src/domain/context/plan.ts";
import { estimateTokens } from "../../../../src/domain/context/tokens.ts";
import type { MemoryRow } from "../../../../src/domain/memory/table.ts";
import { ContextAnswer, ContextBody } from "../../../../src/domain/schema/context.ts";
import type { ContextItem } from "../../../../src/domain/context/item.ts";
import { read } from "../../../node/promised-numbers.ts";

vi.mock("../../../../src/domain/context/layers/index.ts", async (original) => {
  const { layers: known } = await original<typeof import("../../../../src/domain/context/layers/index.ts")>();
  return { layers: [...known, (await import("./birthdays-layer.ts")).birthdays] };
});

// The object's files need the types of workerd, which a test in Node has not: their paths are no literals.
const object = "../../../../durable-objects/user-memory/context";
const { LayerChoices } = await import(`${object}/layer-choices.ts`);
const { LayerSearch } = await import(`${object}/layer-search.ts`);
const { fittedSections, textOf } = await import(`${object}/fitted-sections.ts`);

/** All but the sample. */
const documented = layers.slice(0, -1);

describe("docs/reference/context.md", () => {
  const page = read("docs/reference/context.md");
  const names = (text: string) => Array.from(text.matchAll(/`(\w+)`/g), ([, name = ""]) => name);

  it("has each layer in its block, with its options", () => {
    const table = page.slice(page.indexOf("| layer "), page.indexOf("\n\n", page.indexOf("| layer ")));
    const rows = table
      .split("\n")
      .slice(2)
      .map((row) => row.split("|").map((cell) => cell.trim()));
    const blocks = { stable: "stable", recalled: "turn's", messages: "–" };
    const told = rows.map(([, name = "", block]) => [names(name)[0], block]);
    expect(Object.fromEntries(told)).toEqual(
      Object.fromEntries(documented.map(({ name, block }) => [name, blocks[block]])),
    );
    for (const [, name = "", , shows = "", options = ""] of rows) {
      const layer = documented.find((one) => one.name === names(name)[0]);
      const all = Object.keys(layer?.options.shape ?? {});
      const common = ["type", "slot", "tokens", "timeoutMs"];
      const missing = all.filter((one) => !common.includes(one) && !names(shows + options).includes(one));
      expect([name, missing]).toEqual([name, []]);
    }
  });

  it("names the usual layers in their order", () => {
    const [, list = ""] = /Without `layers` and `profile`, they are ([^.]+)\./.exec(page) ?? [];
    expect(names(list)).toEqual(USUAL_LAYERS.map(({ type }) => type));
  });

  it("tells the share of each layer", () => {
    const [, text = ""] = /a share of the budget: ([^;]+);/.exec(page) ?? [];
    const told = Array.from(text.matchAll(/([\d.]+) for ([^,]*(?:,\s+`[^,]*)*)/g), ([, share, of = ""]) =>
      names(of).map((name) => [name, Number(share)] as const),
    );
    // The one takes what is left, and the other is no part of the blocks.
    const shares = documented.filter(({ name }) => name !== "recalled" && name !== "history");
    expect(Object.fromEntries(told.flat())).toEqual(
      Object.fromEntries(shares.map(({ name, share }) => [name, share])),
    );
  });
});

describe("a further layer", () => {
  const row = {
    id: "m1",
    version: 7,
    subject: "Ann",
    object: "</birthdays> 3 May",
    source: null,
    tags: ["birthday"],
  } as unknown as MemoryRow; // What a line reads of a row.
  const body = (options: object) => ({
    query: "When is her birthday?",
    layers: [{ type: "birthdays", ...options }],
  });
  const plan = () => planned(ContextBody.parse(body({ n: 2 })).layers ?? [], 1_000);
  const chosen = (): Map<PlannedLayer, ContextItem[]> =>
    new LayerChoices({
      table: { numbered: () => [row] },
      memorySource: { few: () => [7], leading: () => [] },
    }).of(plan(), {
      now: 0,
      thread: null,
    });

  it("has its options in a request, within their bounds", () => {
    expect(ContextBody.safeParse(body({ n: 20, tokens: { max: 9 } })).success).toBe(true);
    const refused = ContextBody.safeParse(body({ n: 21 }));
    expect(refused.error?.issues.map(({ path }) => path.join("."))).toEqual(["layers.0.n"]);
    expect(ContextBody.safeParse(body({ mode: "atomic" })).success).toBe(false);
    expect(ContextBody.safeParse({ layers: [{ type: "birthdays" }, { type: "birthdays" }] }).success).toBe(
      false,
    );
  });

  it("has its share and its block in the plan, and its name in the answer", () => {
    expect(plan()).toMatchObject([{ max: 100, stable: false }]);
    expect(ContextAnswer.shape.sections.element.shape.layer.safeParse("birthdays").success).toBe(true);
  });

  it.each([
    ["xml", "<birthdays>\n- Ann: &lt;/birthdays> 3 May\n</birthdays>"],
    ["markdown", "### Birthdays\n- Ann: &lt;/birthdays> 3 May"],
    ["json", '"birthdays":["Ann: </birthdays> 3 May"]'],
  ] as const)("has its memories in its own lines and its own section, in %s", (format, section) => {
    const found = Array.from(chosen(), ([layer, items]) => ({
      layer,
      name: layer.layer.type,
      items,
      ms: 0,
      status: "ok" as const,
    }));
    const form = { format, count: estimateTokens };
    const { sections } = fittedSections(found, { budget: 500, form, block: "recalled", shown: new Set() });
    expect(textOf(sections, form)).toContain(section);
  });

  it("searches by the query", async () => {
    const asked: object[] = [];
    const hits = [0.9, 0.4].map((score) => ({ score, version: 7, text: "" }));
    const search = new LayerSearch({
      recall: {
        recall: (query: object) => {
          asked.push(query);
          return { ok: true, value: { hits, confidence: 1, isAnswerable: true, freshness: { indexed: 9 } } };
        },
      },
      items: {
        placesOf: (some: typeof hits) => some.map(({ score }) => ({ place: { n: 7 }, score })),
        itemsOf: (_: string, places: object[]): ContextItem[] =>
          places.map(() => memoryItem(plan()[0]?.layer.type ?? "facts", row)),
      },
      shared: null,
      now: () => 0,
    });
    const query = { text: "her birthday", given: "her birthday", vector: null, embeddedMs: 0 };
    const found: Map<PlannedLayer, { items: ContextItem[] }> = search.found(
      await search.search({ owner: "u", layers: plan(), answerable: "auto", query }),
    );
    expect(asked).toMatchObject([{ query: "her birthday", kinds: ["fact"], k: 4 }]);
    expect([...found.values()].flatMap(({ items }) => items.map(({ shown }) => shown.text))).toEqual([
      "Ann: </birthdays> 3 May",
    ]);
  });
});
