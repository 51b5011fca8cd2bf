import { Recent } from "../recent.ts";
import { type Caller, verifyToken, type Verdict } from "./token.ts";

/** How long a signature that was checked is believed, in milliseconds. */
const BELIEVED_MS = 30_000;

type Checked = { caller: Caller; expiresAt: number; secret: string; from: number; until: number };

/**
 * Tokens that passed, of this isolate: an agent sends the same one with every call, and to check its signature again
 * is the dearest step of a small call. Only what passed is kept, so nobody fills it with forgeries.
 */
const checked = new Recent<Checked>(1000);

/** As `verifyToken`, with the verdict on a good token remembered: never past its expiry, nor for another secret. */
export async function verify(token: string, secret: string, now: number): Promise<Verdict> {
  const known = checked.get(token);
  // A clock that was put back asks again, as the token may have a time from which it holds.
  if (known?.secret === secret && known.from <= now && now < known.until)
    return { ok: true, caller: known.caller, expiresAt: known.expiresAt };
  const verdict = await verifyToken(token, secret, now);
  if (verdict.ok) {
    const { caller, expiresAt } = verdict;
    const until = Math.min(now + BELIEVED_MS, expiresAt);
    checked.set(token, { caller, expiresAt, secret, from: now, until });
  }
  return verdict;
}
