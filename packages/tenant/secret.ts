// The secret that a tenant's tokens are signed with: made once, set once, and shown to nobody.
import { workerOf } from "./names.ts";
import { Stopped } from "./stopped.ts";
import { accountOf, type Desk } from "./tenants.ts";
import { SECRET_BYTES, isSecret, mintToken, scopes } from "#domain/token.ts";

/** Refuses a secret that the caller brings and the Worker would not take. */
export function requireSecret({ secret }: Desk): void {
  if (secret !== undefined && !isSecret(secret))
    throw new Stopped(`CAIRN_SECRET is shorter than ${SECRET_BYTES} bytes.`);
}

/** `secret` is what is known here of the Worker's; `old`: the Worker had one, which nobody is told. */
type Secret = { secret: string | null; old: boolean };

/** Gives the Worker a secret unless it has one. */
export async function ensureSecret(desk: Desk, name: string): Promise<Secret> {
  const { files, say } = desk;
  const account = accountOf(desk, name);
  const known = desk.secret ?? files.readSecret(name);
  // To replace it would end every token that is out.
  if ((await account.hasSecret(workerOf(name))) === true) return { secret: known, old: true };
  // In its file before it is in the Worker: else a run that stops between would leave a secret that nobody knows.
  const secret = known ?? files.makeSecret(name);
  await account.putSecret(secret);
  say(desk.secret === undefined ? `secret set; it is in ${files.secretPathOf(name)}` : "secret set");
  return { secret, old: false };
}

/**
 * Prints a first token, and how to make more. A later run prints one where it is `asked` to: it opens everything, and what
 * a terminal shows is kept by many.
 */
export async function tellToken(
  { files, say }: Desk,
  name: string,
  { secret, old, asked }: Secret & { asked: boolean },
): Promise<void> {
  if (secret === null) {
    say("Its secret is not known here: CAIRN_SECRET=… npm run token -- --user '*' makes a token.");
    return;
  }
  if (secret === "") return;
  if (old && !asked) {
    say(
      `Its secret and its tokens are as they were. npm run tenant -- create ${name} --token prints a token.`,
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
