import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";

/** The files of the tenants: `NAME.toml`, and `NAME.secret` while it is kept here. */
export interface TenantFiles {
  /** As it is shown, and as wrangler is told it. */
  pathOf(name: string): string;
  secretPathOf(name: string): string;
  names(): string[];
  read(name: string): string | null;
  /** The whole file or the one before: never a part. */
  write(name: string, text: string): void;
  readSecret(name: string): string | null;
  /** Makes a secret, for its owner's eyes only, and answers it: that of another run, if one made it meanwhile. */
  makeSecret(name: string): string;
  remove(name: string): void;
}

const OWNER_ONLY = 0o600;
/** Twice what the tokens' signature asks for. */
const SECRET_BYTES = 48;

export class RealFiles implements TenantFiles {
  readonly #root: string;
  readonly #directory: string;

  /** Paths are shown relative to `root`, which is where wrangler runs. */
  constructor(root: string, directory: string) {
    this.#root = root;
    this.#directory = directory;
  }

  pathOf(name: string): string {
    return relative(this.#root, join(this.#directory, `${name}.toml`));
  }

  secretPathOf(name: string): string {
    return relative(this.#root, join(this.#directory, `${name}.secret`));
  }

  names(): string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory)
      .filter((file) => file.endsWith(".toml"))
      .map((file) => file.slice(0, -".toml".length))
      .toSorted();
  }

  read(name: string): string | null {
    return textOf(join(this.#directory, `${name}.toml`));
  }

  write(name: string, text: string): void {
    mkdirSync(this.#directory, { recursive: true });
    const path = join(this.#directory, `${name}.toml`);
    writeFileSync(`${path}.new`, text, { flush: true });
    renameSync(`${path}.new`, path);
  }

  readSecret(name: string): string | null {
    return textOf(join(this.#directory, `${name}.secret`))?.trim() ?? null;
  }

  makeSecret(name: string): string {
    mkdirSync(this.#directory, { recursive: true });
    const path = join(this.#directory, `${name}.secret`);
    const fresh = `${path}.${process.pid}.new`;
    writeFileSync(fresh, `${randomBytes(SECRET_BYTES).toString("base64url")}\n`, {
      mode: OWNER_ONLY,
      flush: true,
    });
    try {
      // Whole, and never in the place of another one.
      linkSync(fresh, path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    } finally {
      rmSync(fresh);
    }
    return this.readSecret(name) ?? "";
  }

  remove(name: string): void {
    rmSync(join(this.#directory, `${name}.secret`), { force: true });
    // Last: it is what a delete that was stopped goes on by.
    rmSync(join(this.#directory, `${name}.toml`), { force: true });
  }
}

/** Writes nothing, and remembers it for the rest of the run. */
export class DryFiles implements TenantFiles {
  readonly #real: TenantFiles;
  readonly #written = new Map<string, string>();

  constructor(real: TenantFiles) {
    this.#real = real;
  }

  pathOf(name: string): string {
    return this.#real.pathOf(name);
  }

  secretPathOf(name: string): string {
    return this.#real.secretPathOf(name);
  }

  names(): string[] {
    return this.#real.names();
  }

  read(name: string): string | null {
    return this.#written.get(name) ?? this.#real.read(name);
  }

  write(name: string, text: string): void {
    this.#written.set(name, text);
  }

  readSecret(name: string): string | null {
    return this.#real.readSecret(name);
  }

  makeSecret(): string {
    return "";
  }

  remove(): void {}
}

const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, "utf8") : null);
