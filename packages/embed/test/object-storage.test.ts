import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { ObjectStorage } from "../testing/object-storage.ts";
import { Sql } from "../testing/sql.ts";

it("counts the pages in use of an object of the Cairn for tests, as quotas and the limit of an object ask", () => {
  const { sql } = new ObjectStorage(new Sql(new DatabaseSync(":memory:")), () => {});
  sql.exec("CREATE TABLE t (x)");
  const empty = sql.databaseSize;
  sql.exec("INSERT INTO t VALUES (zeroblob(1000000))");
  expect(sql.databaseSize - empty).toBeGreaterThan(900_000);
  sql.exec("DELETE FROM t");
  expect(sql.databaseSize).toBe(empty);
});

it("takes back the values of a transaction that fails, and empties them with the rest", async () => {
  const storage = new ObjectStorage(new Sql(new DatabaseSync(":memory:")), () => {});
  storage.kv.put("a", 1);
  const fails = () => {
    storage.kv.put("a", 2);
    storage.kv.delete("a");
    throw new Error("the disk failed");
  };
  expect(() => storage.transactionSync(fails)).toThrow("the disk failed");
  expect(storage.kv.get("a")).toBe(1);
  await storage.deleteAll();
  expect(storage.kv.get("a")).toBeUndefined();
});
