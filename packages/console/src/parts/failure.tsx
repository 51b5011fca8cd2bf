import { CairnError } from "edgecairn";

/** Why something failed: the server's code, message, fields and request id. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  if (error === null || error === undefined) return null;
  const known = error instanceof CairnError ? error : null;
  const said = error instanceof Error ? error.message : "It failed, and said nothing.";
  // The message of the client's error begins with the code.
  const message = known === null ? said : said.replace(`${known.code}: `, "");
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{known?.code ?? "error"}</strong> {known?.code === "network" ? <Unanswered /> : message}
      </p>
      {known !== null && known.details.length > 0 && (
        <ul>
          {known.details.map(({ path, message: what }) => (
            <li key={path}>
              <code>{path}</code> {what}
            </li>
          ))}
        </ul>
      )}
      {known?.requestId !== undefined && (
        <p class="quiet">
          Request <code>{known.requestId}</code>
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

const isLocal = (): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** The browser says no more than that a request failed. */
const Unanswered = () => (
  <>
    Nothing answers at {location.origin}.{" "}
    {isLocal() ? (
      <>
        Is <code>npm start</code> running?
      </>
    ) : (
      "Are you online, and is the Worker deployed?"
    )}
  </>
);
