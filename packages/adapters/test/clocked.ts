// A Cairn whose clock a test puts forward, instead of waiting: the built Cairn for tests, in the process of the test.
import { afterAll } from "vitest";
import type { CairnOptions } from "../../client/src/index.ts";
import type { TestCairn } from "../../embed/testing/test-cairn.ts";

const built = new URL("../../embed/dist/testing.js", import.meta.url).href;
// What the package's own declarations say of it.
const { testCairn } = (await import(built)) as { testCairn: () => Promise<TestCairn> };
const local = await testCairn();
afterAll(() => local.close());

/** For `clientOf`: a client of this user over that Cairn. */
export const clocked = async (user: string): Promise<Partial<CairnOptions>> => ({
  fetch: local.fetch,
  token: await local.token(user),
});

/** Lets so many milliseconds pass there. */
export const pass = (ms: number): Promise<void> => local.advance(ms);
