// Keys that are legal and odd: one character to 1,024 bytes, dots, slashes, escapes, any Unicode, a property of every object.
export const ODD_KEYS = [
  ".",
  "..",
  "/",
  "a/../b",
  " ",
  "%2F",
  "\u0000",
  "😀".repeat(256),
  "k".repeat(1024),
  "__proto__",
];
