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
