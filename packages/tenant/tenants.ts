import { readFileSync } from "node:fs";
import { Account } from "./account.ts";
import { additionsTo, isAsBase, readTenant, renderTenant, type Tenant, variablesOver } from "./config.ts";
import type { TenantFiles } from "./files.ts";
import { LAST, ONE } from "./names.ts";
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
  new Account(wrangler, configOf(files, name));

/** The configuration that wrangler reads. Before anything is stored, there is but the base. */
export function configOf(files: TenantFiles, name: string): string {
  const stored = [name, ...(name === ONE ? [LAST] : [])].find((file) => files.read(file) !== null);
  return stored === undefined ? "wrangler.toml" : files.pathOf(stored);
}

/** The tenant whose file is here, or null. The one deployment needs none. */
export function storedTenant({ files, base }: Desk, name: string): Tenant | null {
  const text = files.read(name);
  if (text === null) return name === ONE ? lastOf(files, base) : null;
  return readTenant(name, { text, base, path: files.pathOf(name) });
}

/** The one deployment as wrangler.toml says it, with the ids of the last run where that says none. */
function lastOf(files: TenantFiles, base: string): Tenant {
  const tenant = readTenant(ONE, { text: base, base, path: "wrangler.toml" });
  const last = files.read(LAST);
  if (last === null || tenant.databases.size > 0) return tenant;
  const { databases } = readTenant(ONE, { text: last, base, path: files.pathOf(LAST) });
  return { ...tenant, databases };
}

export function requireTenant(desk: Desk, name: string): Tenant {
  const tenant = storedTenant(desk, name);
  if (tenant !== null) return tenant;
  const names = desk.files.names();
  throw new Stopped(
    `There is no ${desk.files.pathOf(name)}. ${names.length === 0 ? "There are no tenants here." : `Here are: ${names.join(", ")}.`}`,
  );
}

/** Says what of the tenant's file a change of wrangler.toml does not reach. */
export function tellKept({ files, base, say }: Desk, tenant: Tenant): void {
  if (files.read(tenant.name) === null) return;
  const path = files.pathOf(tenant.name);
  const added = additionsTo(tenant, base);
  // The base may have had it once: then it is for the reader to take it away.
  if (added.length > 0) say(`${path} keeps beside the base: ${added.join(", ")}`);
  const variables = variablesOver(tenant, base);
  if (variables.length > 0)
    say(`${path} sets variables otherwise than wrangler.toml: ${variables.join(", ")}`);
}

/** Notes the tenant in its file, unless that says so already. */
export function storeTenant({ files, base, say }: Desk, tenant: Tenant): void {
  const text = renderTenant(tenant, base);
  if (isAsBase(tenant, base) && files.read(tenant.name) === null) {
    if (tenant.databases.size > 0 && files.read(LAST) !== text) files.write(LAST, text);
    return;
  }
  if (files.read(tenant.name) === text) return;
  files.write(tenant.name, text);
  say(`${files.pathOf(tenant.name)} written`);
}
