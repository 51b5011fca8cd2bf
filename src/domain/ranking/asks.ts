/** True if a query is about what was asked before: then a question is an answer. */
export const asksForQuestions = (query: string): boolean =>
  /\b(?:ask(?:ed|ing)?|questions?|brought up|bring up|mention(?:ed)?|request(?:s|ed)?|wonder(?:ed)?)\b/i.test(
    query,
  );

/** True if a query asks what the assistant said: then an answer of the assistant is more likely than what the user said. */
export const asksForAdvice = (query: string): boolean =>
  /\bdid you (?:\w+ly )?(?:advise|answer|call|explain|find|give|list|mean|mention|name|prefer|propose|recommend|say|suggest|tell|warn|write)\b|\byou (?:\w+ly )?(?:advised|answered|explained|gave|listed|mentioned|named|preferred|proposed|recommended|said|suggested|told|warned|wrote)\b|\byour (?:advice|answer|explanation|list|proposal|recommendations?|suggestions?)\b/i.test(
    query,
  );

/** Words of the past in a question. English. */
const PAST =
  /\b(?:used to|former(?:ly)?|previous(?:ly)?|at first|original(?:ly)?|did .{1,30} first|back then|initial(?:ly)?|in the past|last time)\b|\b(?:did|was|were|had)\b.{0,80}\b(?:before|first|earlier|old|until|once|away from)\b|\b(?:before|first|earlier|until)\b.{0,80}\b(?:did|was|were|had)\b/i;

/** True if a query is about what was so before. */
export const asksForPast = (query: string): boolean => PAST.test(query);
