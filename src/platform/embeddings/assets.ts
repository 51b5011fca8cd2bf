/** The binding of the static assets, which hold the models. */
export type Assets = { fetch: (url: string) => Promise<Response> };

/** Rejects with the file's name if it is missing. `path`: in the folder `model`. */
export async function fetchAsset(assets: Assets, path: string): Promise<Response> {
  const response = await assets.fetch(`https://assets/model/${path}`);
  if (response.ok) return response;
  throw new Error(`the embedded model's ${path} is not among the assets (${response.status})`);
}
