/** One row of D1: all of it is set at once. */
export class D1TenantSettings<Settings extends object> {
  readonly #db: D1Database;
  readonly #name: string;

  constructor(db: D1Database, name: "extraction" | "retention") {
    this.#db = db;
    this.#name = name;
  }

  /** As they were set last. */
  async get(): Promise<Settings> {
    const row = await this.#db
      .prepare("SELECT settings FROM tenant_settings WHERE name = ?")
      .bind(this.#name)
      .first<{ settings: string }>();
    // Stored as its schema took it, and all of its fields are optional.
    return JSON.parse(row?.settings ?? "{}") as Settings;
  }

  async put(settings: Settings): Promise<void> {
    await this.#db
      .prepare(
        "INSERT INTO tenant_settings (name, settings) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET settings = excluded.settings",
      )
      .bind(this.#name, JSON.stringify(settings))
      .run();
  }
}

/** The tenant's own rules of one kind; an empty object before they are set. Every method rejects when D1 does not answer. */
export type TenantSettings<Settings extends object> = Pick<
  D1TenantSettings<Settings>,
  keyof D1TenantSettings<Settings>
>;
