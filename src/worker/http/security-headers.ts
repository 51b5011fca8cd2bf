/** For answers that are data. Leaves out headers that protect documents only: a small answer pays for each. */
const ofData: readonly (readonly [name: string, value: string])[] = [
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Referrer-Policy", "no-referrer"],
  ["Strict-Transport-Security", "max-age=15552000; includeSubDomains"],
  ["X-Content-Type-Options", "nosniff"],
];

/** For a page that loads its own files only. `styles`: where its styles may come from. */
const ofPage = (styles: string): typeof ofData => [
  ...ofData,
  [
    "Content-Security-Policy",
    `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  ],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Origin-Agent-Cluster", "?1"],
  ["X-DNS-Prefetch-Control", "off"],
  ["X-Download-Options", "noopen"],
  ["X-Frame-Options", "SAMEORIGIN"],
  ["X-Permitted-Cross-Domain-Policies", "none"],
  ["X-XSS-Protection", "0"],
];

/** For a page of the sign-in, which loads nothing. No frame may hold it: another site could have a click land on it. */
const ofSignIn: typeof ofData = [
  ...ofData,
  [
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  ],
  ["X-Frame-Options", "DENY"],
];

const pages: Readonly<Record<string, typeof ofData>> = {
  // Swagger UI sets inline styles.
  "/docs": ofPage("'self' 'unsafe-inline'"),
  "/console": ofPage("'self'"),
  "/oauth/authorize": ofSignIn,
  "/oauth/callback": ofSignIn,
};

/** Nothing may be loaded from an answer of the API. */
export function setSecurityHeaders(headers: Headers, path: string): void {
  for (const [name, value] of pages[path] ?? ofData) headers.set(name, value);
}
