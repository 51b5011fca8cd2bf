import { readFileSync } from "node:fs";
import { Account } from "./account.ts";
import { isAsBase, readTenant, renderTenant, type Tenant } from "./config.ts";
import type { TenantFiles } from "./files.ts";
import { ONE } from "./names.ts";
import { Stopped } from "./stopped.ts";
import type { Wrangler } from "./wrangler.ts";

/** The services that the commands use. */
export type Desk = {
  files: TenantFiles;
  wrangler: Wrangler;
  /** The text of the base `wrangler.toml`. */
  base: string;
  say: (line: string) => void;
  wait: (ms: number) => Promise<void>;
  /** Asks a deployment for its health. Rejects if nothing answers. */
  health: (url: string) => Promise<{ status: number; body: string }>;
  /** False if a deployment refuses the token. */
  accepts: (url: string, token: string) => Promise<boolean>;
  /** The secret, where the caller brings it. */
  secret: string | undefined;
  /** A file that is made here ends with the run: a machine of CI. */
  passing: boolean;
};

export const baseOf = (path: string): string => readFileSync(path, "utf8");

export const accountOf = ({ wrangler, files }: Desk, name: string): Account =>
  // Without a file of its own, there is but the base.
  new Account(wrangler, files.read(name) === null ? "wrangler.toml" : files.pathOf(name));

/** The tenant whose file is here, or null. The one deployment needs none. */
export function storedTenant({ files, base }: Desk, name: string): Tenant | null {
  const text = files.read(name);
  if (text === null)
    return name === ONE ? readTenant(name, { text: base, base, path: "wrangler.toml" }) : null;
  return readTenant(name, { text, base, path: files.pathOf(name) });
}

export function requireTenant(desk: Desk, name: string): Tenant {
  const tenant = storedTenant(desk, name);
  if (tenant !== null) return tenant;
  const names = desk.files.names();
  throw new Stopped(
    `There is no ${desk.files.pathOf(name)}. ${names.length === 0 ? "There are no tenants here." : `Here are: ${names.join(", ")}.`}`,
  );
}

/** Notes the tenant in its file, unless that says so already. */
export function storeTenant({ files, base, say }: Desk, tenant: Tenant): void {
  if (isAsBase(tenant, base) && files.read(tenant.name) === null) return;
  const text = renderTenant(tenant, base);
  if (files.read(tenant.name) === text) return;
  files.write(tenant.name, text);
  say(`${files.pathOf(tenant.name)} written`);
}
