import { expect, it } from "vitest";
import { inOrderOfWorth, worthShowing } from "../../../src/domain/context/worth-showing.ts";

const hits = (...scores: number[]) => scores.map((score) => ({ score }));

it("asks more of the lines of a small store, and of those beside a sure hit", () => {
  const sure = hits(0.9, 0.4, 0.3, 0.1, 0.05);
  const shown = (documents: number) => worthShowing(sure, { confidence: 0.9, documents }).length;
  expect(shown(20)).toBe(2);
  expect(shown(200)).toBe(3);
  expect(shown(1000)).toBe(4);
});

it("shows five lines where nothing stands out in a store that is not large", () => {
  const flat = hits(...Array.from({ length: 20 }, () => 0.2));
  expect(worthShowing(flat, { confidence: 0.2, documents: 20 })).toHaveLength(5);
  expect(worthShowing(flat, { confidence: 0.2, documents: 1000 })).toHaveLength(20);
  expect(worthShowing(hits(0.2, 0.05), { confidence: 0.2, documents: 20 })).toHaveLength(1);
  expect(worthShowing([], { confidence: 0, documents: 20 })).toEqual([]);
});

it("takes the best five lines first, then those that are worth most for their tokens", () => {
  const scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2];
  expect(inOrderOfWorth(scores, [9, 900, 9, 9, 9, 100, 20, 20])).toEqual([0, 1, 2, 3, 4, 6, 7, 5]);
  expect(inOrderOfWorth([0.2, 0.1], [100, 10])).toEqual([0, 1]);
});
