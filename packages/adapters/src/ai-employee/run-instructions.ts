import {
  type Instructions,
  messagesOf,
  type StepStart,
  type SystemMessage,
  withoutStart,
} from "./instructions.ts";

/** The `system` that each function of a composed step returned, in their order. */
type Said = readonly (Instructions | undefined)[];

/** The instructions of a run's steps: those of step 0 hold until the same function returns others. */
export class RunInstructions {
  // The AI SDK gives each step of a run the same list of steps.
  readonly #begun = new WeakMap<object, { said: Said; own: readonly SystemMessage[] }>();

  /** The instructions for a step; undefined leaves them to the AI SDK. */
  at(step: Partial<StepStart>, said: Said): Instructions | undefined {
    const { stepNumber, steps, instructions } = step;
    const given = messagesOf(instructions);
    if (stepNumber === 0 && steps !== undefined) this.#begun.set(steps, { said, own: given });
    const begun = stepNumber === 0 || steps === undefined ? undefined : this.#begun.get(steps);
    if (begun === undefined || isCarriedOn(step, said)) return together(step, said, given);
    const all = begun.said.map((first, i) => said[i] ?? first);
    return together(step, all, begun.own);
  }
}

/** True if the step has the instructions of step 0 already: version 7 of the AI SDK carries them on. */
function isCarriedOn(step: Partial<StepStart>, said: Said): boolean {
  if (!("instructions" in step)) return false;
  const now = said.map(messagesOf);
  const given = messagesOf(step.instructions);
  return (
    now.every((messages) => messages.length === 0) ||
    now.some((messages) => withoutStart(messages, given).length < messages.length)
  );
}

/** Joins instructions: one is unchanged; several become a list, with the run's own at most once. */
function together(
  step: Partial<StepStart>,
  said: Said,
  own: readonly SystemMessage[],
): Instructions | undefined {
  const all = said.filter((one) => one !== undefined);
  if (all.length <= 1) return all[0];
  // Version 5 takes no list.
  if (!("instructions" in step) && all.every((one) => typeof one === "string")) return all.join("\n\n");
  const messages: SystemMessage[] = [];
  let begun = false;
  for (const one of all) {
    const its = messagesOf(one);
    const more = withoutStart(its, own);
    messages.push(...(begun ? more : its));
    begun ||= more.length < its.length;
  }
  return messages;
}
