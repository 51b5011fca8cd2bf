// Each field of the table, from the first write to an import elsewhere.
import { expect, it } from "vitest";
import { entryOf, type FieldName, fieldNames, isFixed } from "../../../src/domain/schema/memory-fields.ts";
import { newUser } from "../../call.ts";
import { forgetWhere, get, list, listed, patch, remembered } from "../../memory-calls.ts";
import { exportOf, importTo, linesOf } from "../../transfer-calls.ts";

/** One value for each field. The type asks for the value of a new field. */
const samples: Record<FieldName, unknown> = {
  title: "Deploy",
  subject: "Ann",
  predicate: "lives in",
  object: "Porto",
  cardinality: "many",
  key: "Home Town",
  scope: "/project",
  externalId: "mine-1",
  score: 0.25,
  importance: 0.5,
  source: { thread: "t", message: 3, extractor: "m" },
  sourceEntity: "bob",
  context: "at the harbour",
  type: "joy",
  intensity: 0.75,
  appraisal: { urgency: 0.5, agency: -1 },
  emotion: { valence: 0.5, arousal: 0, dominance: -1 },
  trigger: "a quarrel",
  validTo: 4_000_000_000_000,
  expiresAt: 4_000_000_000_000,
};
/** Remembers a memory with the field and one without, and answers the first. */
async function withField(field: FieldName) {
  const user = newUser();
  const [kind = "fact"] = entryOf(field).kinds ?? [];
  const titled = kind === "procedure" ? { title: "Other" } : {};
  const pair = field === "object" || field === "cardinality" ? { subject: "Bo", predicate: "owns" } : {};
  await remembered(user, { kind, text: "without", ...titled });
  const memory = { kind, text: "with", ...titled, ...pair, [field]: samples[field] };
  const { id, ...answer } = await remembered(user, memory);
  return { user, id, answer, sample: { [field]: samples[field] } };
}

it.each(fieldNames)("answers, lists and exports %s", async (field) => {
  const { user, id, answer, sample } = await withField(field);
  expect(answer).toMatchObject(sample);
  expect((await get(user, id)).body).toMatchObject(sample);
  expect(await list(user)).toContainEqual(expect.objectContaining({ id, ...sample }));
  const text = await exportOf(user);
  const name = field === "type" ? "episodeType" : field;
  expect(linesOf(text)).toContainEqual(expect.objectContaining({ text: "with", [name]: samples[field] }));
  const other = newUser();
  expect((await importTo(other, text)).status).toBe(200);
  expect(await list(other)).toContainEqual(expect.objectContaining({ text: "with", ...sample }));
});

it.each(fieldNames.filter((field) => entryOf(field).filter !== undefined))(
  "finds a memory by %s, in D1 and in the object",
  async (field) => {
    const { user, id } = await withField(field);
    const { filter } = entryOf(field);
    const value = String(samples[field]);
    const wanted = filter === "normalised" ? value.toUpperCase() : value;
    const inBody =
      filter === "range"
        ? { [`${field}Min`]: samples[field], [`${field}Max`]: samples[field] }
        : { [field]: filter === "any" ? [wanted] : wanted };
    const inQuery =
      filter === "range" ? { [`${field}Min`]: value, [`${field}Max`]: value } : { [field]: wanted };
    const query = new URLSearchParams(inQuery).toString();
    expect((await listed(user, query)).body.items).toMatchObject([{ id }]);
    expect((await forgetWhere(user, inBody, { dryRun: true })).body).toEqual({ count: 1, ids: [id] });
  },
);

it.each(fieldNames.filter((field) => !isFixed(field)))("removes %s and sets it again", async (field) => {
  const { user, id, sample } = await withField(field);
  const { body } = await patch(user, id, { [field]: null });
  expect(body).toMatchObject({ id, text: "with" });
  expect(body).not.toHaveProperty(field);
  expect((await get(user, id)).body).not.toHaveProperty(field);
  expect((await patch(user, id, sample)).body).toMatchObject(sample);
});

it.each(fieldNames.filter(isFixed))("refuses a change of %s", async (field) => {
  const { user, id, sample } = await withField(field);
  expect((await patch(user, id, sample)).status).toBe(400);
});
