// Servers that fail, between a client and the Cairn that the tests run against.
import type { Fetch } from "../../src/index.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";

/** Answers with this failure, every call or as often as said, and then lets calls through. */
export function failing(
  status: number,
  { code = "storage_unavailable", times = Infinity }: { code?: ErrorCode; times?: number } = {},
): Fetch {
  let left = times;
  return (request) => {
    if (left-- <= 0) return fetch(request);
    return Response.json({ error: { code, message: "as the test wants it", requestId: "r" } }, { status });
  };
}

/** Never answers; a signal ends it. */
export const silent: Fetch = ({ signal }) =>
  new Promise((_, reject) =>
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- as `fetch` does.
    signal.addEventListener("abort", () => reject(signal.reason)),
  );

/** Does what it is asked and loses the answer of the first call that this means; a client that sends it again gets one. */
export function losing(means: (request: Request) => boolean): Fetch {
  let lost = false;
  return async (request) => {
    const due = !lost && means(request);
    const response = await fetch(request);
    if (!due) return response;
    lost = true;
    throw new TypeError("the answer is lost");
  };
}

/** Lets calls through, and counts them. */
export function counting(): { fetch: Fetch; calls: string[] } {
  const calls: string[] = [];
  const counted: Fetch = (request) => {
    calls.push(`${request.method} ${new URL(request.url).pathname}`);
    return fetch(request);
  };
  return { fetch: counted, calls };
}
