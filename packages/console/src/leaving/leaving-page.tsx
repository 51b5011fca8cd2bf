import { may, useSession } from "../shell/session.ts";
import { Apps } from "./apps.tsx";
import { Erase } from "./erase.tsx";
import { Export } from "./export.tsx";
import { Holds } from "./holds.tsx";
import { Import } from "./import.tsx";

/** Counts of the stored data, its export and import, and its erasure. */
export function LeavingPage({ user }: { user: string }) {
  const session = useSession();
  return (
    <div class="stack">
      <Holds />
      <Apps user={user} />
      <Export user={user} />
      {may(session, "write") && <Import user={user} />}
      {may(session, "write") && <Erase user={user} />}
    </div>
  );
}
