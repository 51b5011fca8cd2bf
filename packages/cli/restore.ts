// `npm run restore -- --user ID --at TIME --url URL --token TOKEN [--yes]`: sets users back to a time (docs/guides/backup.md).
import {
  allUsers,
  ask,
  type Cairn,
  CannotGoOn,
  cairnOf,
  connect,
  optionsOf,
  pastFailures,
  refuse,
  run,
  userPath,
} from "./transfer/cairn.ts";
import { calledAs } from "./transfer/called-as.ts";

const usage = `usage: ${calledAs("restore")} (--all | --user ID) --at TIME --url URL --token TOKEN [--yes]
  --at     a time of the last 30 days, such as 2026-11-20T10:00:00Z
  --all    every user of the tenant
  --user   one user; may be given several times
  --url    the address of Cairn; default: CAIRN_URL
  --token  of '*' with the scopes read and admin; default: CAIRN_TOKEN
  --yes    does it. Without it, the command only lists what is lost and what comes back

Stop the writes of these users first: what they write meanwhile is lost, too. A run that is repeated sets users
back again who were done.`;

type Counts = Record<string, number>;
type Restore = { status: "dryRun" | "running" | "done"; lost: Counts; back: Counts };

async function restore(cairn: Cairn, user: string, body: { at: number; dryRun: boolean }): Promise<Restore> {
  const answer = await ask(cairn, `${userPath(user)}/restore`, {
    method: "POST",
    type: "application/json",
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  return (await answer.json()) as Restore;
}

/** `2 threads, 3 messages`; `nothing` where all are 0. */
function listed(counts: Counts): string {
  const words: Record<string, string> = { memoryVersions: "versions of memories" };
  const some = Object.entries(counts).filter(([, n]) => n > 0);
  return some.length === 0 ? "nothing" : some.map(([what, n]) => `${n} ${words[what] ?? what}`).join(", ");
}

await run(async () => {
  const options = {
    all: { type: "boolean" },
    user: { type: "string", multiple: true },
    at: { type: "string" },
    yes: { type: "boolean" },
  } as const;
  const {
    all = false,
    user: named = [],
    at: time = "",
    yes = false,
    help = false,
    ...given
  } = optionsOf(options, usage);
  if (help) return console.log(usage);
  if (all === named.length > 0) refuse("Say either --all or --user.", usage);
  const at = Date.parse(time);
  if (Number.isNaN(at)) refuse(`--at: '${time}' is no time like 2026-11-20T10:00:00Z.`, usage);
  const cairn = cairnOf(given, usage);
  await connect(cairn);
  const users = all ? allUsers(cairn) : named.map((userId) => ({ userId }));
  let count = 0;
  const failed = await pastFailures(users, async ({ userId }) => {
    const { lost, back } = await restore(cairn, userId, { at, dryRun: true });
    console.log(`${userId}: loses ${listed(lost)}; gets back ${listed(back)}`);
    // A call takes 100 steps.
    if (yes) while ((await restore(cairn, userId, { at, dryRun: false })).status === "running");
    count++;
  });
  const some = count === 1 ? "1 user" : `${count} users`;
  console.log(
    yes
      ? `${some} set back to ${new Date(at).toISOString()}.`
      : `Nothing was changed. --yes sets ${some} back.`,
  );
  if (failed > 0) throw new CannotGoOn(`${failed} not set back: they are as they were, or are named above.`);
});
