import type { SignInCode } from "edgecairn";
import { useState } from "preact/hooks";
import { Copy } from "../parts/copy.tsx";
import { Failure } from "../parts/failure.tsx";
import { useAction, useLoad } from "../parts/load.ts";
import { Shown } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/times.tsx";
import { may, useSession } from "../shell/session.ts";

/** The apps that the user signed in with for MCP, each to be ended, and a code for another one. */
export function Apps({ user }: { user: string }) {
  const session = useSession();
  const { memory, signIn } = session;
  const apps = useLoad((signal) => memory.signIns.list(user, { signal }), [user], { keep: true });
  const { busy, error, run } = useAction();
  const end = (id: string) => void run(() => memory.signIns.revoke(user, id)).then(apps.reload);
  // Without a sign-in there is nothing to see, but what was signed in before.
  if (signIn === undefined && apps.value?.length === 0) return null;
  return (
    <section class="card" aria-label="Apps">
      <h2>Apps</h2>
      <Shown of={apps}>
        {(items) =>
          items.length === 0 ? (
            <p class="empty">No app is signed in.</p>
          ) : (
            <Table columns={["App", "May", "Since", "Until", "End it"]}>
              {items.map(({ id, app, scopes, createdAt, expiresAt }) => (
                <tr key={id}>
                  <td>
                    {app.name} <span class="quiet">{app.domain ?? app.redirectHost}</span>
                  </td>
                  <td>{scopes.join(", ")}</td>
                  <td>
                    <Time at={createdAt} />
                  </td>
                  <td>
                    <Time at={expiresAt} />
                  </td>
                  <td>
                    {may(session, "write") && (
                      <button type="button" class="danger" disabled={busy} onClick={() => end(id)}>
                        End
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
      <Failure error={error} />
      {signIn === "codes" && may(session, "admin") && <OneTimeCode user={user} />}
    </section>
  );
}

/** Creates a code, which the person enters where an app asks for it. */
function OneTimeCode({ user }: { user: string }) {
  const { memory } = useSession();
  const { busy, error, run } = useAction();
  const [code, setCode] = useState<SignInCode | null>(null);
  const create = () => void run(async () => setCode(await memory.signIns.createCode(user)));
  return (
    <>
      <p>
        Give an app the address <code>…/mcp</code>. It opens a page that asks for a code, which works once.
      </p>
      <button type="button" disabled={busy} onClick={create}>
        Create a one-time code
      </button>
      {code !== null && (
        <>
          <Copy label="The code, for this user only" text={code.code} />
          <p class="quiet">
            It ends <Time at={code.expiresAt} />.
          </p>
        </>
      )}
      <Failure error={error} />
    </>
  );
}
