import { D1Store } from "./d1-store.ts";

const GET = "SELECT settings FROM tenant_settings WHERE name = ?";
const PUT = `INSERT INTO tenant_settings (name, settings) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET settings = excluded.settings`;

/** One row of D1: all of it is set at once. */
export class D1TenantSettings<Settings extends object> extends D1Store {
  readonly #name: string;

  constructor(database: D1Database, name: "extraction" | "retention") {
    super(database);
    this.#name = name;
  }

  /** As they were set last. */
  async get(): Promise<Settings> {
    const row = await this.row<{ settings: string }>(GET, this.#name);
    // Stored as its schema took it, and all of its fields are optional.
    return JSON.parse(row?.settings ?? "{}") as Settings;
  }

  async put(settings: Settings): Promise<void> {
    await this.run(PUT, this.#name, JSON.stringify(settings));
  }
}

/** The tenant's own rules of one kind; an empty object before they are set. Every method rejects when D1 does not answer. */
export type TenantSettings<Settings extends object> = Pick<
  D1TenantSettings<Settings>,
  keyof D1TenantSettings<Settings>
>;
