import { Field } from "../parts/field.tsx";
import { count, dollars } from "../parts/numbers.ts";
import { Table } from "../parts/table.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { costsOf, type Month, sumOf } from "./prices.ts";

const NAMES: Readonly<Record<keyof Month, string>> = {
  users: "Users, stored",
  memories: "Memories, written and stored for a month",
  threads: "Threads, begun",
  recalls: "Recalls, each among 2,000 documents",
  messages: "Messages, appended by two",
};

/** The messages of a month, as the address has them. */
export function useMessages(): number {
  const { query } = useRoute();
  return Math.max(0, Number(query.get("messages")) || 0);
}

/** The cost of a month by its parts. */
export function Costs({ month }: { month: Month }) {
  const costs = costsOf(month);
  return (
    <details class="costs">
      <summary>How the cost comes about</summary>
      <label>
        Messages that your app appends a month
        <Field
          type="number"
          min={0}
          value={month.messages || ""}
          placeholder="Cairn does not count them"
          change={(field) => setQuery({ messages: field.valueAsNumber || undefined })}
        />
      </label>
      <Table
        columns={["Of a month", "Count", "Cost"]}
        numbers={["Count", "Cost"]}
        caption="By the measured rows of each call and Cloudflare’s prices. The $5 that an account pays a month are a part of it. A model’s provider sends a bill of its own."
      >
        {(Object.keys(NAMES) as (keyof Month)[]).map((part) => (
          <tr key={part}>
            <td>{NAMES[part]}</td>
            <td class="number">
              {part === "messages" && month.messages === 0 ? "not known" : count(Math.round(month[part]))}
            </td>
            <td class="number">{dollars(costs[part])}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">Together</th>
          <td />
          <td class="number">
            <strong>{dollars(sumOf(costs))}</strong>
          </td>
        </tr>
      </Table>
    </details>
  );
}
