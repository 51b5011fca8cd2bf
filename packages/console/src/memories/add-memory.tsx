import { useState } from "preact/hooks";
import { fieldOf } from "../parts/form.ts";
import { Failure } from "../parts/failure.tsx";
import { useAction } from "../parts/load.ts";
import { useSession } from "../shell/session.ts";

/** Adds a memory by hand: a sentence, or a fact of three parts. */
export function AddMemory({ user, done }: { user: string; done: () => void }) {
  const { memory } = useSession();
  const action = useAction();
  const [fact, setFact] = useState(false);
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = event.currentTarget;
    const field = (name: string) => fieldOf(form, name).trim();
    const body = fact
      ? { subject: field("subject"), predicate: field("predicate"), object: field("object") }
      : { text: field("text") };
    if (await action.run(() => memory.memories.remember(user, body))) done();
  };
  return (
    <form class="card" onSubmit={(event) => void submit(event)}>
      <fieldset class="choice">
        <legend>Add</legend>
        <label>
          <input type="radio" name="as" checked={!fact} onChange={() => setFact(false)} /> a sentence
        </label>
        <label>
          <input type="radio" name="as" checked={fact} onChange={() => setFact(true)} /> a fact, which ends
          the one before
        </label>
      </fieldset>
      {fact ? (
        <div class="row">
          <label>
            Subject <input name="subject" required defaultValue="user" />
          </label>
          <label>
            Predicate <input name="predicate" required placeholder="lives in" />
          </label>
          <label>
            Object <input name="object" required />
          </label>
        </div>
      ) : (
        <label>
          Sentence <textarea name="text" required rows={2} />
        </label>
      )}
      <button type="submit" class="main" disabled={action.busy}>
        Remember
      </button>
      <Failure error={action.error} />
    </form>
  );
}
