import { useState } from "preact/hooks";
import { type Example, fillDemo } from "../demo/demo-state.ts";
import { Failure } from "../parts/failure.tsx";
import { useAction } from "../parts/load.ts";
import { may, useSession } from "../shell/session.ts";

/** Fills an empty user with an example conversation, so that there is something to look at. */
export function FillDemo({ user, done }: { user: string; done: () => void }) {
  const session = useSession();
  const action = useAction();
  const [what, setWhat] = useState("");
  if (!may(session, "write")) return null;
  const fill = async () => {
    const filled = await action.run(async () => {
      const { default: file } = await import("../../../../examples/support-case.json");
      const [example] = file.conversations as Example[];
      if (example !== undefined) await fillDemo(session.memory, user, example, setWhat);
    });
    if (filled) done();
  };
  return (
    <p>
      <button type="button" onClick={() => void fill()} disabled={action.busy}>
        {action.busy ? `Filling in ${what} …` : "Fill in an example conversation"}
      </button>
      <Failure error={action.error} />
    </p>
  );
}
