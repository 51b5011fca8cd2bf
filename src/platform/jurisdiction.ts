/** Where Durable Objects and D1 can be held to: what both of them know. */
export const jurisdictions = ["eu", "fedramp", "us"] as const;
export type Jurisdiction = (typeof jurisdictions)[number];

export const isJurisdiction = (name: string): name is Jurisdiction =>
  (jurisdictions as readonly string[]).includes(name);
