export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Posts JSON in one attempt. Returns the answer, whose body is not read, or the problem, which names neither the address nor what a
 * header holds. Never rejects.
 */
export async function postOnce(
  { fetch, url }: { fetch: Fetch; url: URL },
  { headers, body, withinMs }: { headers: Readonly<Record<string, string>>; body: string; withinMs: number },
): Promise<Response | string> {
  try {
    const answer = await fetch(url.href, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json", "User-Agent": "cairn" },
      body,
      // A key is for this address alone, and a redirect could lead to a private one.
      redirect: "manual",
      signal: AbortSignal.timeout(withinMs),
    });
    // The status decides, also where the body breaks off.
    await answer.body?.cancel().catch(() => {});
    return answer;
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    return isLate ? `did not answer in ${withinMs / 1000} seconds` : "cannot be reached";
  }
}
