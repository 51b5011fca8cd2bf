import type { PoolMember } from "./pool.ts";
import type { Statements } from "./statements.ts";

/**
 * The weights of what candidates are to the question and to each other. `echo`: asks, and adds at most one word to the question.
 * `asks`: asks, and adds two or three. `lacks`: has no answer of the type that is asked for. `whose`: is of the person in question,
 * and its opposite for somebody else. `later`: of a later statement on the same matter, by how close the two are. `change`: if it
 * names a change; `gap`: and the share of what it lacks to the earlier one.
 */
export const statementWeights = ["echo", "asks", "lacks", "whose", "later", "change", "gap"] as const;
export type StatementWeights = Record<(typeof statementWeights)[number], number>;

/** A candidate that the second stage compares with the question and with others: what it states, and the findings about it. */
export type Reading = Statements & {
  /** Its place in the pool. */
  i: number;
  one: PoolMember;
  /** Its own words. */
  text: string;
  /** The number of telling words that the question has not. Who says it is one, if the question asks for that. */
  news: number;
  /** It has no answer of the type that the question asks for. */
  lacksType: boolean;
  /** Its sum of the first stage, and the number that the second one adds to it. */
  sum: number;
  added: number;
  /** It asks what the question asks, or says no more than it. */
  isEcho: boolean;
  /** It is about somebody else than the question. */
  isOfOther: boolean;
  /** The reason for which its sum changes. */
  reason?: "echo" | "request" | "later" | "earlier";
  /** The time of a statement that replaces this one. */
  replacedAt?: number;
};
