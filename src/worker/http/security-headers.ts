/** For answers that are data. Leaves out headers that protect documents only: a small answer pays for each. */
const ofData: readonly (readonly [name: string, value: string])[] = [
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Referrer-Policy", "no-referrer"],
  ["Strict-Transport-Security", "max-age=15552000; includeSubDomains"],
  ["X-Content-Type-Options", "nosniff"],
];

const ofPage: typeof ofData = [
  ...ofData,
  [
    "Content-Security-Policy",
    // Swagger UI sets inline styles.
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'",
  ],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Origin-Agent-Cluster", "?1"],
  ["X-DNS-Prefetch-Control", "off"],
  ["X-Download-Options", "noopen"],
  ["X-Frame-Options", "SAMEORIGIN"],
  ["X-Permitted-Cross-Domain-Policies", "none"],
  ["X-XSS-Protection", "0"],
];

/** Nothing may be loaded from an answer of the API; the reference page loads its own files only. */
export function setSecurityHeaders(headers: Headers, path: string): void {
  for (const [name, value] of path === "/docs" ? ofPage : ofData) headers.set(name, value);
}
