const COOKIE = "visitor";
const YEAR_SECONDS = 365 * 24 * 60 * 60;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type Visitor = {
  /** Whose memory it is, for Cairn. */
  user: string;
};

/**
 * Who asks. There is no login here: a random cookie is the visitor, and whoever has it. Put yours in its place; all that the
 * rest needs is an id of the user that no request can choose.
 */
export async function visitorOf(request: Request): Promise<Visitor | null> {
  const secret = cookiesOf(request).get(COOKIE);
  return secret !== undefined && UUID.test(secret) ? { user: await userOf(secret) } : null;
}

/** The cookie of a visitor who has none yet, or whose last one was forgotten. */
export function newVisitor(request: Request): string {
  // Browsers keep no Secure cookie of a plain http page; only a laptop has one.
  const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
  return `${COOKIE}=${crypto.randomUUID()}; Path=/; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Strict${secure}`;
}

/** Not the cookie itself: ids of users are in logs and exports, and the cookie opens the memory. */
async function userOf(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  const hex = [...new Uint8Array(digest, 0, 16)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `visitor-${hex.join("")}`;
}

const cookiesOf = (request: Request): Map<string, string> =>
  new Map(
    (request.headers.get("Cookie") ?? "").split(";").map((pair) => {
      const [name = "", value = ""] = pair.trim().split("=", 2);
      return [name, value];
    }),
  );
