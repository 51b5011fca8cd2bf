/** The jurisdictions that both Durable Objects and D1 know. */
export const jurisdictions = ["eu", "fedramp", "us"] as const;
export type Jurisdiction = (typeof jurisdictions)[number];

export const isJurisdiction = (name: string): name is Jurisdiction =>
  (jurisdictions as readonly string[]).includes(name);
