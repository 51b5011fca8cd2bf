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
  const takeValue = (): Next | null => {
    if (takeOne("{")) {
      open.push("}");
      return "name or end";
    }
    if (takeOne("[")) {
      open.push("]");
      return "value or end";
    }
    return take(STRING) || take(OTHER) ? after() : null;
  };
  const takeName = (): Next | null => {
    if (!take(STRING)) return null;
    take(BLANKS);
    return takeOne(":") ? "value" : null;
  };
  for (;;) {
    take(BLANKS);
    if (next === "end of text") return at === text.length ? null : at;
    const end = open.at(-1);
    let then: Next | null;
    if ((next === "separator" || next.endsWith("or end")) && end !== undefined && takeOne(end)) {
      open.pop();
      then = after();
    } else if (next === "separator") then = takeOne(",") ? (end === "}" ? "name" : "value") : null;
    else then = next.startsWith("name") ? takeName() : takeValue();
    if (then === null) return at;
    next = then;
  }
}
