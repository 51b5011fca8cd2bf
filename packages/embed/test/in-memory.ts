// Stands for `cloudflare:workers` where tests of the API run over the Cairn for tests: the built one, as it is published.
import type { TestCairn, TestCairnOptions } from "../testing/test-cairn.ts";
import { clock } from "../../../test/doubles/control.ts";

const CAIRN_SECRET = "a secret of the tests, of 32 bytes or more";
const built = new URL("../dist/testing.js", import.meta.url).href;

// What the package's own declarations say of it.
const { testCairn } = (await import(built)) as {
  testCairn: (options: TestCairnOptions) => Promise<TestCairn>;
};
const server = await testCairn({ secret: CAIRN_SECRET, now: clock });

export const env = { CAIRN_SECRET };
export const exports = {
  default: {
    fetch: (url: string, init?: RequestInit): Promise<Response> => server.fetch(new Request(url, init)),
  },
};
