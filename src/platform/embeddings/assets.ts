/** The binding of the static assets, which hold the models. */
export type Assets = { fetch: (url: string, init?: RequestInit) => Promise<Response> };

/** Rejects with the file's name and the hint if it is missing. `path`: in the folder `model`. */
export async function fetchAsset(
  assets: Assets,
  path: string,
  { method = "GET", hint }: { method?: "GET" | "HEAD"; hint?: string } = {},
): Promise<Response> {
  const response = await assets.fetch(`https://assets/model/${path}`, { method });
  if (response.ok) return response;
  const problem = `the embedded model's ${path} is not among the assets (${response.status})`;
  throw new Error(hint === undefined ? problem : `${problem}: ${hint}`);
}
