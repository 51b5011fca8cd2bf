// Word pieces of very many documents are counted in some of them.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { PieceCounts } from "../../../../durable-objects/user-memory/search-index/piece-counts.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { evict } from "../../../evict.ts";
import { remember } from "../../../memory-calls.ts";

it("counts the blocks up to a number of documents, and then leaves changes alone", () => {
  const counts = new PieceCounts(2);
  expect(counts.addBlock(2, Uint16Array.of(1, 2, 1))).toBe(true);
  counts.documentCame(Uint16Array.of(2));
  counts.documentsWent(1, [Uint16Array.of(1)]);
  expect([counts.isWhole, counts.documents, counts.holding(1), counts.holding(2)]).toEqual([true, 2, 1, 2]);
  expect(counts.addBlock(2, Uint16Array.of(1))).toBe(false);
  counts.documentCame(Uint16Array.of(2));
  counts.documentsWent(1, [Uint16Array.of(1)]);
  counts.piecesCame(Uint16Array.of(1));
  expect([counts.isWhole, counts.documents, counts.holding(1), counts.holding(2)]).toEqual([false, 2, 1, 2]);
});

it("tells the number of all documents, and finds one among 60,000", async () => {
  const user = newUser();
  await remember(user, { text: "The ferry to Lisbon leaves at ten." });
  await runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, { storage: { sql } }) => {
    const numbers = "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 60999)";
    sql.exec(`${numbers} INSERT INTO words (rowid, text) SELECT i, 'cheese number ' || i FROM n`);
    sql.exec(
      `${numbers} INSERT INTO vectors (n, model, vector, pieces)
       SELECT i, model, zeroblob(LENGTH(vector)), x'0100' FROM n CROSS JOIN (SELECT model, vector FROM vectors)`,
    );
  });
  await evict(user);
  const found = await call(`/v1/users/${user}/recall`, { json: { query: "When does the ferry leave?" } });
  expect(found.body.freshness).toMatchObject({ indexed: 60_001, pending: 0 });
  expect(found.body.hits).toMatchObject([{ text: "The ferry to Lisbon leaves at ten." }]);
});
