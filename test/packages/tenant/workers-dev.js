// Loaded before a command: the addresses of workers.dev are the stand-in's, which has the deployed Worker in workerd.
const real = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (!url.hostname.endsWith(".workers.dev")) return real(input, init);
  const there = await (await real(process.env.CAIRN_TEST_WORKERS_DEV)).text();
  return real(new URL(url.pathname + url.search, there), init);
};
