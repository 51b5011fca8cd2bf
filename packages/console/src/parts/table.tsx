import type { ComponentChildren } from "preact";

/** A table that scrolls by itself where it is wider than the window. `numbers`: the columns that hold numbers. */
export const Table = ({
  columns,
  numbers = [],
  caption,
  children,
}: {
  columns: readonly string[];
  numbers?: readonly string[];
  caption?: ComponentChildren;
  children: ComponentChildren;
}) => (
  <div class="wide">
    <table>
      {caption !== undefined && <caption>{caption}</caption>}
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col" class={numbers.includes(name) ? "number" : ""}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
