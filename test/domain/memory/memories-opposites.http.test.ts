import { afterAll, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";

type Fact = readonly [predicate: string, object: string, more?: object];

const remember = (user: string, [predicate, object, more]: Fact, headers = {}) =>
  call(`/v1/users/${user}/memories`, { json: { subject: "user", predicate, object, ...more }, headers });
const texts = async (user: string, query = ""): Promise<string[]> =>
  (await call(`/v1/users/${user}/memories?order=asc${query}`)).body.items.map(({ text }: { text: string }) =>
    text.replace(/^user /u, ""),
  );
async function leftOf(...facts: readonly Fact[]): Promise<string[]> {
  const user = newUser();
  for (const fact of facts) expect((await remember(user, fact)).status).toBe(201);
  return texts(user);
}

it.each<[Fact, Fact]>([
  [
    ["likes", "olives"],
    ["dislikes", "olives"],
  ],
  [
    ["loves", "Olives"],
    ["hates", "olives"],
  ],
  [
    ["eats", "meat"],
    ["avoids", "meat"],
  ],
  [
    ["trusts", "Bo"],
    ["distrusts", "Bo"],
  ],
  [
    ["is", "vegetarian"],
    ["is not", "vegetarian"],
  ],
  [
    ["is", "a nurse"],
    ["is", "not a nurse"],
  ],
  [
    ["is", "vegetarian"],
    ["is no longer", "vegetarian"],
  ],
  [
    ["is a member of", "the choir"],
    ["isn’t a member of", "the choir"],
  ],
  [
    ["started", "smoking"],
    ["stopped", "smoking"],
  ],
  [
    ["started", "judo"],
    ["quit", "judo"],
  ],
  [
    ["uses", "Vim"],
    ["no longer uses", "Vim"],
  ],
  [
    ["plays", "the oboe"],
    ["no longer plays", "the oboe"],
  ],
  [
    ["plays", "the oboe"],
    ["stopped playing", "oboe"],
  ],
  [
    ["plays", "tennis"],
    ["does not play", "tennis"],
  ],
  [
    ["likes", "olives"],
    ["doesn't like", "olives"],
  ],
  [
    ["works at", "Acme"],
    ["no longer works at", "Acme"],
  ],
  [
    ["Likes", "Olives"],
    ["DISLIKES", "OLIVES"],
  ],
  [
    ["is", "vegan"],
    ["isNot", "vegan"],
  ],
  [
    ["likes", "capers"],
    ["doesNotLike", "capers"],
  ],
  [
    ["studies", "law"],
    ["is not studying", "law"],
  ],
  [
    ["uses", "Vim"],
    ["stopped using", "Vim"],
  ],
  [
    ["starts to work at", "Acme"],
    ["stops to work at", "Acme"],
  ],
  [
    ["is fond of", "olives"],
    ["hates", "olives"],
  ],
])("a fact ends its opposite, either way: %j, %j", async (one, other) => {
  const text = (fact: Fact) => `${fact[0]} ${fact[1]}`;
  expect(await leftOf(one, other)).toEqual([text(other)]);
  expect(await leftOf(other, one)).toEqual([text(one)]);
});

it.each<Fact[]>([
  [
    ["likes", "olives"],
    ["dislikes", "capers"],
  ],
  [
    ["likes", "olives"],
    ["loves", "olives"],
  ],
  [
    ["played", "the oboe"],
    ["no longer plays", "the oboe"],
  ],
  [
    ["dislikes", "olives"],
    ["no longer likes", "olives"],
  ],
  [
    ["does not love", "olives"],
    ["likes", "olives"],
  ],
  [
    ["is used to", "noise"],
    ["is", "noise"],
  ],
  [
    ["trusts", "his manager"],
    ["distrusts", "her manager"],
  ],
  [
    ["starts on", "Monday"],
    ["stops on", "Monday"],
  ],
  [
    ["joins on", "Monday"],
    ["leaves on", "Monday"],
  ],
  [
    ["likes", "Ana"],
    ["is not like", "Ana"],
  ],
  [
    ["manager", "Ana"],
    ["no longer manages", "Ana"],
  ],
  [
    ["follower", "Ana"],
    ["unfollows", "Ana"],
  ],
  [
    ["eats", "meat"],
    ["did not eat", "meat"],
  ],
  [
    ["mag", "Oliven"],
    ["mag nicht", "Oliven"],
  ],
  [
    ["aime", "les olives"],
    ["n'aime pas", "les olives"],
  ],
  [
    ["likes", "olives"],
    ["hasst", "olives"],
  ],
])("nothing ends where nothing is opposite, nor in another language: %j", async (...facts) => {
  expect(await leftOf(...facts)).toEqual(facts.map(([predicate, object]) => `${predicate} ${object}`));
});

it("is found among many other predicates of the subject, whatever their capitals", async () => {
  const others = ["Aims at", "bakes", "LIVES IN", "visited"].map((name): Fact => [name, "olives"]);
  const left = await leftOf(...others, ["Likes", "olives"], ["dislikes", "olives"]);
  expect(left).toEqual([
    "Aims at olives",
    "bakes olives",
    "LIVES IN olives",
    "visited olives",
    "dislikes olives",
  ]);
});

it("is another matter of another subject, and in another scope", async () => {
  const user = newUser();
  await remember(user, ["likes", "olives", { subject: "Bo" }]);
  await remember(user, ["likes", "olives", { scope: "work" }]);
  await remember(user, ["dislikes", "olives"]);
  expect(await texts(user)).toEqual(["Bo likes olives", "likes olives", "dislikes olives"]);
});

it("stays true until then in the history, and begins again when it is stated again", async () => {
  const user = newUser();
  const { body: liked } = await remember(user, ["likes", "olives", { validFrom: 1000 }]);
  await remember(user, ["dislikes", "olives", { validFrom: 2000 }]);
  await remember(user, ["likes", "olives", { validFrom: 3000 }]);
  expect(await texts(user, "&validAt=1500")).toEqual(["likes olives"]);
  expect(await texts(user, "&validAt=2500")).toEqual(["dislikes olives"]);
  expect(await texts(user)).toEqual(["likes olives"]);
  const { body } = await call(`/v1/users/${user}/memories/${liked.id}/history`);
  expect(body.items.some(({ validTo }: { validTo?: number }) => validTo === 2000)).toBe(true);
});

it("comes in its place where it is written late: it ends what began before, and ends where the next begins", async () => {
  const user = newUser();
  await remember(user, ["likes", "olives", { validFrom: 1000 }]);
  await remember(user, ["likes", "olives", { validFrom: 5000, dedupe: "none" }]);
  const { body } = await remember(user, ["dislikes", "olives", { validFrom: 2000 }]);
  expect(body.validTo).toBe(5000);
  expect(await texts(user, "&validAt=1500")).toEqual(["likes olives"]);
  expect(await texts(user, "&validAt=3000")).toEqual(["dislikes olives"]);
  expect(await texts(user)).toEqual(["likes olives"]);
});

it("ends in the same batch: the last one holds", async () => {
  const user = newUser();
  const memories = ["likes", "dislikes", "loves"].map((predicate) => ({
    subject: "user",
    predicate,
    object: "olives",
  }));
  expect((await call(`/v1/users/${user}/memories/batch`, { json: { memories } })).status).toBe(200);
  expect(await texts(user)).toEqual(["loves olives"]);
});

it("waits in quarantine where the opposite has a higher trust, and ends it when it is released", async () => {
  const user = newUser();
  const { body: liked } = await remember(user, ["likes", "olives"]);
  const { body: waiting } = await remember(user, ["dislikes", "olives"], { "Cairn-Trust": "model" });
  expect(waiting).toMatchObject({
    status: "quarantined",
    reasons: ["conflicts_with_higher_trust"],
    conflictsWith: liked.id,
  });
  expect(await texts(user)).toEqual(["likes olives"]);
  const path = `/v1/users/${user}/memories/${waiting.id}/release`;
  expect((await call(path, { json: {} })).status).toBe(200);
  expect(await texts(user)).toEqual(["dislikes olives"]);
});

it("ends where a later opposite begins, also when it is released", async () => {
  const user = newUser();
  await remember(user, ["dislikes", "olives", { validFrom: 5000 }]);
  const { body: waiting } = await remember(user, [
    "likes",
    "olives",
    { validFrom: 1000, status: "quarantined" },
  ]);
  const { body } = await call(`/v1/users/${user}/memories/${waiting.id}/release`, { json: {} });
  expect(body.validTo).toBe(5000);
  expect(await texts(user)).toEqual(["dislikes olives"]);
});

it("is named in the answer of a release, also when the request is repeated", async () => {
  const user = newUser();
  const { body: liked } = await remember(user, ["likes", "olives"]);
  const { body: waiting } = await remember(user, ["dislikes", "olives", { status: "quarantined" }]);
  const release = () =>
    call(`/v1/users/${user}/memories/${waiting.id}/release`, {
      json: {},
      headers: { "Idempotency-Key": "release" },
    });
  const superseded = [{ id: liked.id, text: "user likes olives" }];
  expect((await release()).body).toMatchObject({ status: "active", superseded });
  expect((await release()).body).toMatchObject({ status: "active", superseded });
});

const set: string[] = [];
afterAll(async () => {
  for (const predicate of set)
    await call(`/v1/predicates/${encodeURIComponent(predicate)}`, { method: "DELETE" });
});
const setRule = async (predicate: string, json: object) => {
  set.push(predicate);
  const { status, body } = await call(`/v1/predicates/${encodeURIComponent(predicate)}`, {
    method: "PUT",
    json,
  });
  expect(status).toBe(200);
  return body;
};

it("is also what the tenant calls one, whichever of the two has the rule", async () => {
  const [mag, hasst] = [`mag ${crypto.randomUUID()}`, `hasst ${crypto.randomUUID()}`];
  expect(await setRule(mag, { opposites: [` ${hasst.toUpperCase()} `] })).toEqual({
    predicate: mag,
    cardinality: "many",
    policy: "highestTrust",
    opposites: [hasst],
  });
  expect((await call("/v1/predicates")).body.items).toContainEqual(
    expect.objectContaining({ predicate: mag, opposites: [hasst] }),
  );
  expect(await leftOf([mag, "Oliven"], [hasst, "Oliven"])).toEqual([`${hasst} Oliven`]);
  expect(await leftOf([hasst, "Oliven"], [mag, "Oliven"], [mag, "Kapern"])).toEqual([
    `${mag} Oliven`,
    `${mag} Kapern`,
  ]);
});

it("is also what the tenant calls one when a fact is released", async () => {
  const [mag, hasst] = [`mag ${crypto.randomUUID()}`, `hasst ${crypto.randomUUID()}`];
  await setRule(mag, { opposites: [hasst] });
  const user = newUser();
  await remember(user, [mag, "Oliven"]);
  const { body: waiting } = await remember(user, [hasst, "Oliven", { status: "quarantined" }]);
  await call(`/v1/users/${user}/memories/${waiting.id}/release`, { json: {} });
  expect(await texts(user)).toEqual([`${hasst} Oliven`]);
});

it("refuses a release by the policy reject", async () => {
  const name = `wears ${crypto.randomUUID()}`;
  await setRule(name, { policy: "reject" });
  const user = newUser();
  const { body: stored } = await remember(user, [`no longer ${name}`, "a hat"]);
  const { body: waiting } = await remember(user, [name, "a hat", { status: "quarantined" }]);
  const { status, body } = await call(`/v1/users/${user}/memories/${waiting.id}/release`, { json: {} });
  expect([status, body.error.code]).toEqual([409, "fact_conflict"]);
  expect(body.error.details[0].message).toContain(stored.id);
});

it("cannot be the predicate itself", async () => {
  const name = `mag ${crypto.randomUUID()}`;
  const { status, body } = await call(`/v1/predicates/${encodeURIComponent(name)}`, {
    method: "PUT",
    json: { opposites: ["hasst", ` ${name.toUpperCase()}`] },
  });
  expect([status, body.error.details[0].path]).toEqual([400, "body.opposites[1]"]);
});

it("is refused by the policy reject, and kept beside by keepAll", async () => {
  const name = crypto.randomUUID();
  await setRule(`wears ${name}`, { policy: "reject", cardinality: "many" });
  const user = newUser();
  const { body: stored } = await remember(user, [`no longer wears ${name}`, "a hat"]);
  const { status, body } = await remember(user, [`wears ${name}`, "a hat"]);
  expect([status, body.error.code]).toEqual([409, "fact_conflict"]);
  expect(body.error.details[0].message).toContain(stored.id);
  await setRule(`wears ${name}`, { policy: "keepAll" });
  expect((await remember(user, [`wears ${name}`, "a hat"])).status).toBe(201);
  expect(await texts(user)).toHaveLength(2);
});

it("takes 100 KiB of named opposites in all, and replaces those of a rule at that size", async () => {
  const names = (i: number) => Array.from({ length: 16 }, (_, at) => `${i} ${at} ${"x".repeat(1000)}`);
  const rules = Array.from({ length: 6 }, (_, i) => `long ${i} ${crypto.randomUUID()}`);
  for (const [i, rule] of rules.entries()) await setRule(rule, { opposites: names(i) });
  const one = `long ${crypto.randomUUID()}`;
  const put = (json: object) => call(`/v1/predicates/${encodeURIComponent(one)}`, { method: "PUT", json });
  const { status, body } = await put({ opposites: names(6) });
  expect([status, body.error.code, body.error.details[0].path]).toEqual([
    400,
    "invalid_request",
    "body.opposites",
  ]);
  const { body: all } = await call("/v1/predicates");
  expect(all.items.map(({ predicate }: { predicate: string }) => predicate)).not.toContain(one);
  await setRule(rules[0] ?? "", { opposites: names(0) });
  await setRule(one, { policy: "reject" });
});

it("takes up to 16 named opposites", async () => {
  const path = `/v1/predicates/${crypto.randomUUID()}`;
  for (const [opposites, field] of [
    [Array.from({ length: 17 }, (_, i) => `p${i}`), "body.opposites"],
    [[""], "body.opposites[0]"],
    ["hasst", "body.opposites"],
  ] as const) {
    const { status, body } = await call(path, { method: "PUT", json: { opposites } });
    expect([status, body.error.details[0].path]).toEqual([400, field]);
  }
});
