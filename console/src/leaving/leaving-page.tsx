import { may, useSession } from "../shell/session.ts";
import { Erase } from "./erase.tsx";
import { Export } from "./export.tsx";
import { Import } from "./import.tsx";

/** What leaves: a copy of everything, and everything. */
export function LeavingPage({ user }: { user: string }) {
  const session = useSession();
  return (
    <div class="stack">
      <Export user={user} />
      {may(session, "write") && <Import user={user} />}
      {may(session, "write") && <Erase user={user} />}
    </div>
  );
}
