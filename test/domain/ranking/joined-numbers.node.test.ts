// The numbers that a text writes in groups, and the work of looking for them.
import { expect, it } from "vitest";
import { joinedNumbers } from "../../../src/domain/ranking/joined-numbers.ts";
import { ratioOfWork } from "../../node/least-work.ts";

it.each([
  ["07700 900123", ["07700900123"]],
  ["call +49 (30) 5550-170 or 5 to 6", ["49305550170"]],
  ["2019-2020, 2026-11-27, 27.11.2026 and 12 34", []],
])("joins those of %j", (text, numbers) => {
  expect(joinedNumbers(text)).toEqual(numbers);
});

it.each(["1", "1 ", "1(", "1  x"])(
  "costs at most twelve times as much for eight times the text: %j",
  (unit) => {
    const [short, long] = [unit.repeat(4_096), unit.repeat(33 * 1_024)];
    const ratio = ratioOfWork(
      12,
      () => void joinedNumbers(short),
      () => void joinedNumbers(long),
    );
    expect(ratio).toBeLessThan(12);
  },
);
