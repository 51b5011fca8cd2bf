import type { SourceMessage } from "./proposal.ts";
export function sessionsOf(
  messages: readonly SourceMessage[],
  { gapMs }: { gapMs: number },
): { from: number; to: number; text: string }[] {
  const [first] = messages;
  if (first === undefined) return [];
  const end = messages.findIndex((m, i) => i > 0 && m.at - (messages[i - 1]?.at ?? 0) > gapMs);
  const said = end < 0 ? messages : messages.slice(0, end);
  return [
    {
      from: first.seq,
      to: said.at(-1)?.seq ?? first.seq,
      text: said
        .filter((m) => m.role === "user")
        .map((m) => m.text)
        .join(" "),
    },
  ];
}
