/** Cloudflare's hints for where an object is created. It is made near its first call unless one is given, and never moves. */
export const locations = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
export type Location = (typeof locations)[number];

export const isLocation = (text: unknown): text is Location => locations.some((one) => one === text);
