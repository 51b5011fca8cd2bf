// The secret that a tenant's tokens are signed with: made once, set once, and shown to nobody.
import type { Tenant } from "./config.ts";
import { ONE } from "./names.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, type Desk } from "./tenants.ts";
import { SECRET_BYTES, isSecret, mintToken, scopes } from "#domain/token.ts";

/** Refuses a secret that the caller brings, or that the file has, and the Worker would not take. */
export function requireSecret({ secret, files }: Desk, name: string): void {
  const kept = files.readSecret(name);
  if (secret === undefined && kept !== null && !isSecret(kept))
    throw new Stopped(
      `${files.secretPathOf(name)} is shorter than ${SECRET_BYTES} bytes. Put the secret back into it, or remove it.`,
    );
  if (secret !== undefined && !isSecret(secret))
    throw new Stopped(`CAIRN_SECRET is shorter than ${SECRET_BYTES} bytes.`);
}

/** `secret` is what is known here of the Worker's; `old`: the Worker had one, which nobody is told. */
type Secret = { secret: string | null; old: boolean };

/** The secret that goes along with the Worker, unless that has one. */
export async function secretOf(desk: Desk, { name, worker }: Tenant): Promise<Secret> {
  const { files, say } = desk;
  const known = desk.secret ?? files.readSecret(name);
  // To replace it would end every token that is out.
  if ((await accountOf(desk, name).hasSecret(worker)) === true) return { secret: known, old: true };
  if (known !== null) return { secret: known, old: false };
  // Nobody would know it after the run: the Worker waits for one, and refuses every call until then.
  if (desk.passing) return { secret: null, old: false };
  // In its file before it is in the Worker: else a run that stops between would leave a secret that nobody knows.
  const secret = files.makeSecret(name);
  say(`secret made; it is in ${files.secretPathOf(name)}`);
  return { secret, old: false };
}

/**
 * Prints a first token, and how to make more. A later run prints one where it is `asked` to: it opens everything, and what
 * a terminal shows is kept by many.
 */
export async function tellToken(
  { files, say, passing }: Desk,
  { name, worker }: Pick<Tenant, "name" | "worker">,
  { secret, old, asked }: Secret & { asked: boolean },
): Promise<void> {
  if (secret === null) {
    say(
      old
        ? "Its secret is not known here: CAIRN_SECRET=… npm run token -- --user '*' makes a token."
        : "It has no secret yet, and refuses every call until it has one. A secret that is made on this machine would end with the run. " +
            `Make one on yours, and keep its file: openssl rand -base64 48 > ${worker}.secret && npx wrangler secret put CAIRN_SECRET ` +
            `--name ${worker} < ${worker}.secret`,
    );
    return;
  }
  // A dry run makes none, and what a machine of CI prints is kept by others.
  if (secret === "" || passing) return;
  if (old && !asked) {
    say(
      `Its secret and its tokens are as they were. ${name === ONE ? "npm run deploy --" : `npm run tenant -- create ${name}`} --token prints a token.`,
    );
    return;
  }
  const kept = files.readSecret(name) === secret;
  // It holds for an hour, as tokens do unless they are asked for longer.
  const token = await mintToken(secret, { user: "*", scope: scopes }, Date.now());
  say(`
A token of all users, for an hour:

export CAIRN_TOKEN=${token}

More: CAIRN_SECRET=${kept ? `$(cat ${files.secretPathOf(name)})` : "…"} npm run --silent token -- --user alice --scope read,write --ttl 1h
Whoever has the secret can read and write everything of this tenant: keep it where you keep such things.`);
  if (old)
    say(
      "The Worker had its secret before. If it refuses this token, the secret that is known here is another.",
    );
}
