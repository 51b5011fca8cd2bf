const BLANKS = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- a string of JSON contains none
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const OTHER = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

type Next = "value" | "value or end" | "name" | "name or end" | "separator" | "end of text";

/** The place at which a text stops being JSON, in characters from 0; null if it is JSON. Engines name it in some messages only. */
export function jsonFaultAt(text: string): number | null {
  const open: ("}" | "]")[] = [];
  let [at, next]: [number, Next] = [0, "value"];
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const takeOne = (character: string): boolean => {
    if (text[at] !== character) return false;
    at++;
    return true;
  };
  const after = (): Next => (open.length === 0 ? "end of text" : "separator");
  for (;;) {
    take(BLANKS);
    if (next === "end of text") return at === text.length ? null : at;
    const end = open.at(-1);
    if ((next === "separator" || next.endsWith("or end")) && end !== undefined && takeOne(end)) {
      open.pop();
      next = after();
    } else if (next === "separator") {
      if (!takeOne(",")) return at;
      next = end === "}" ? "name" : "value";
    } else if (next.startsWith("name")) {
      if (!take(STRING)) return at;
      take(BLANKS);
      if (!takeOne(":")) return at;
      next = "value";
    } else if (takeOne("{")) {
      open.push("}");
      next = "name or end";
    } else if (takeOne("[")) {
      open.push("]");
      next = "value or end";
    } else if (take(STRING) || take(OTHER)) next = after();
    else return at;
  }
}
