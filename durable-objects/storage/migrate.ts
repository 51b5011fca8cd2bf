/** One step of an object's schema. Append-only: a step that has been deployed is never changed. */
export type Migration = { id: number; description: string; sql: string };

/** Applies the missing steps, each in a transaction. Returns true if the object had none. */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[]): boolean {
  // A table, since objects refuse PRAGMA user_version.
  storage.sql.exec("CREATE TABLE IF NOT EXISTS applied_migrations (id INTEGER PRIMARY KEY)");
  const { applied } = storage.sql
    .exec<{ applied: number }>("SELECT COALESCE(MAX(id), 0) AS applied FROM applied_migrations")
    .one();
  for (const { id, sql } of migrations) {
    if (id <= applied) continue;
    storage.transactionSync(() => {
      storage.sql.exec(sql);
      storage.sql.exec("INSERT INTO applied_migrations (id) VALUES (?)", id);
    });
  }
  return applied === 0;
}
