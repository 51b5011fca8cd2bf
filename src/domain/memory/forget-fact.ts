import { oneLine } from "../conversation/stored-text.ts";
import { normalise } from "./normalise.ts";

// The rules and the words of the tool memory_forget_fact, for MCP and for the adapters.

/** A fact of one subject and predicate, as a list has it. */
type ListedFact = { id: string; text: string; object?: string | undefined; status: string };

/** The object that the model names, or its word that all objects are to be forgotten. */
export type ForgetChoice = { object?: string | undefined; all?: boolean | undefined };

/**
 * The facts to forget. `objects`: those of live facts, one line each, also if several scopes have it. `isAmbiguous`: there are several,
 * and the model has chosen none, so nothing may be deleted.
 */
export type ForgetPlan = { ids: string[]; objects: string[]; live: number; isAmbiguous: boolean };

export function planForget(facts: readonly ListedFact[], { object, all = false }: ForgetChoice): ForgetPlan {
  const chosen = facts.filter(
    (fact) => object === undefined || normalise(shownObject(fact)) === normalise(oneLine(object)),
  );
  const live = chosen.filter(({ status }) => status === "active");
  const objects = [
    ...new Map(live.map((fact) => [normalise(shownObject(fact)), `- ${shownObject(fact)}`])).values(),
  ];
  return {
    ids: chosen.map(({ id }) => id),
    objects,
    live: live.length,
    isAmbiguous: object === undefined && !all && objects.length > 1,
  };
}

/** The object as a line shows it, so that a model can name it. */
const shownObject = ({ object, text }: ListedFact): string => oneLine(object ?? text);

export const severalObjects = ({ objects }: ForgetPlan): string =>
  `Nothing was deleted: this subject and predicate have ${objects.length} objects. Call again with the object to forget, or with all set to true if the user wants every one forgotten.`;

export const noSuchFact = ({ object }: ForgetChoice): string =>
  `There is no fact of this subject${object === undefined ? " and predicate" : ", predicate and object"}, so nothing changed. memory_list shows how facts are worded.`;

/** The words before and after the objects of the deleted facts. */
export function forgottenFacts(
  count: number,
  { objects, live }: ForgetPlan,
): { heading: string; after: string[] } {
  const unused = count - live;
  return {
    heading: `Forgotten, with their history: ${count}.${objects.length === 0 ? "" : " Their objects:"}`,
    after: unused > 0 ? [`${unused} of these were not in use: for review, or for a later time.`] : [],
  };
}
